// SPDX-License-Identifier: Apache-2.0
#include "lib/meeting/candidate_gathering.hpp"

#include <gmock/gmock.h>

#include "lib/net/bind.hpp"
#include "lib/net/interface_addresses.hpp"
#include "support/run_until.hpp"

namespace udtcat::meeting {
namespace {

std::vector<Endpoint> gathered(std::vector<Endpoint> locals) {
  boost::asio::io_context io;
  BindingClient nobody(io, [](const Endpoint&, const std::vector<std::byte>&) {});
  CandidateGathering gathering(io, nobody, std::move(locals), {});
  std::optional<std::vector<Candidate>> candidates;
  gathering.gather(std::nullopt, [&](std::vector<Candidate> found) { candidates = std::move(found); });
  EXPECT_TRUE(test::run_until(io, [&] { return candidates.has_value(); }));
  return candidates ? addresses_of(*candidates) : std::vector<Endpoint>{};
}

/// Those of this host that others can use.
std::vector<Endpoint> usable_by_others(AddressFamily family) {
  std::vector<Endpoint> addresses;
  for (const Endpoint& each : net::interface_addresses())
    if (each.family() == family && net::is_global_unicast(each)) addresses.push_back(each.with_port(9000));
  return addresses;
}

TEST(HostCandidates, OfAWildcardAreAllAddressesOfItsFamily) {
  for (const auto family : {AddressFamily::ipv4, AddressFamily::ipv6})
    EXPECT_THAT(gathered({net::wildcard(family).with_port(9000)}), testing::IsSubsetOf(usable_by_others(family)));
  const auto ipv4 = usable_by_others(AddressFamily::ipv4);
  if (ipv4.size() <= Candidate::kMaxCount) {
    EXPECT_THAT(gathered({net::wildcard(AddressFamily::ipv4).with_port(9000)}), testing::ElementsAreArray(ipv4));
  }
}

TEST(HostCandidates, OfAPortAtOneAddressAreThatAlone) {
  EXPECT_THAT(gathered({net::loopback(AddressFamily::ipv4).with_port(9000)}), testing::IsEmpty());
  for (const Endpoint& each : usable_by_others(AddressFamily::ipv4))
    EXPECT_THAT(gathered({each}), testing::ElementsAre(each));
}

}  // namespace
}  // namespace udtcat::meeting
