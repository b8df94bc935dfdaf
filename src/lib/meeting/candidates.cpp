// SPDX-License-Identifier: Apache-2.0
#include "lib/meeting/candidates.hpp"

#include <algorithm>
#include <iterator>

#include "lib/core/invariant.hpp"
#include "lib/net/address_bytes.hpp"
#include "lib/net/interface_addresses.hpp"

namespace udtcat::meeting {

namespace {

constexpr std::uint8_t kFamily4 = 4;  // spec: meet.md §3
constexpr std::uint8_t kFamily6 = 6;  // spec: meet.md §3

std::optional<Candidate> decode_candidate(core::ByteReader& reader) {
  const auto kind = reader.number<std::uint8_t>();
  const auto family = reader.number<std::uint8_t>();
  const auto port = reader.number<std::uint16_t>();
  if (kind != static_cast<std::uint8_t>(Candidate::Kind::host) &&
      kind != static_cast<std::uint8_t>(Candidate::Kind::server_reflexive))
    return std::nullopt;
  if (family != kFamily4 && family != kFamily6) return std::nullopt;
  const auto address = net::endpoint_of(reader.bytes(family == kFamily4 ? 4 : 16), port);
  if (!address) return std::nullopt;
  return Candidate{static_cast<Candidate::Kind>(kind), *address};
}

}  // namespace

void encode(core::ByteWriter& writer, const std::vector<Candidate>& candidates) {
  UDTCAT_INVARIANT(candidates.size() <= Candidate::kMaxCount, "the caller keeps the limits");
  writer.number(static_cast<std::uint8_t>(candidates.size()));
  for (const Candidate& each : candidates) {
    writer.number(static_cast<std::uint8_t>(each.kind));
    writer.number(each.address.family() == AddressFamily::ipv4 ? kFamily4 : kFamily6);
    writer.number(each.address.port());
    writer.bytes(net::address_bytes(each.address));
  }
}

std::optional<std::vector<Candidate>> decode_candidates(core::ByteReader& reader) {
  const std::size_t count = reader.number<std::uint8_t>();
  if (count > Candidate::kMaxCount) return std::nullopt;
  std::vector<Candidate> candidates;
  while (candidates.size() < count) {
    const auto candidate = decode_candidate(reader);
    if (!candidate) return std::nullopt;
    candidates.push_back(*candidate);
  }
  return candidates;
}

std::vector<Endpoint> addresses_of(const std::vector<Candidate>& candidates) {
  std::vector<Endpoint> addresses;
  std::ranges::transform(candidates, std::back_inserter(addresses), &Candidate::address);
  return addresses;
}

std::vector<Candidate> usable(const std::vector<Candidate>& candidates, const std::vector<Candidate>& own) {
  const bool on_this_host = std::ranges::any_of(own, [](const Candidate& each) { return each.address.is_loopback(); });
  std::vector<Candidate> kept;
  std::ranges::copy_if(candidates, std::back_inserter(kept), [&](const Candidate& each) {
    return each.address.port() != 0 &&
           (net::is_global_unicast(each.address) || (on_this_host && each.address.is_loopback()));
  });
  return kept;
}

}  // namespace udtcat::meeting
