// SPDX-License-Identifier: Apache-2.0
#include "lib/net/racing.hpp"

#include <algorithm>

namespace udtcat::net {

std::vector<Endpoint> in_racing_order(const std::vector<Endpoint>& addresses) {
  std::vector<Endpoint> order;
  const auto is_first_kind = [&](const Endpoint& each) { return each.family() == addresses.front().family(); };
  auto first = addresses.begin();
  auto other = addresses.begin();
  while ((first != addresses.end() || other != addresses.end()) && order.size() < kMaxRacedAddresses) {
    first = std::find_if(first, addresses.end(), is_first_kind);
    if (first != addresses.end()) order.push_back(*first++);
    other = std::find_if_not(other, addresses.end(), is_first_kind);
    if (other != addresses.end()) order.push_back(*other++);
  }
  return order;
}

}  // namespace udtcat::net
