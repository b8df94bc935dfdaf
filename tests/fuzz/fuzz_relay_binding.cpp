// SPDX-License-Identifier: Apache-2.0
// Any datagram at a relay's port, and at the place's own: an answer that is no longer than it, or none, and nobody is
// bound without a NONCE of this port's.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "lib/net/bind.hpp"
#include "meet/binding_service.hpp"
#include "meet/relay_binding.hpp"

namespace fuzz_relay_binding {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace udtcat;
  const auto datagram = std::as_bytes(std::span(data, size));
  const meet::RelayTokens tokens{meeting::Relay::Token{std::byte{1}}, meeting::Relay::Token{std::byte{2}}};
  auto binding = meet::RelayBinding::create(tokens);
  if (!binding) return 0;
  const Endpoint from = net::loopback(AddressFamily::ipv4).with_port(4711);
  const meet::RelayBinding::TimePoint now{std::chrono::hours(1)};
  const auto outcome = binding->handle(datagram, from, now);
  if (outcome && (outcome->role || outcome->answer.size() > size)) std::abort();
  // The same request with the NONCE binds its address, and no other.
  auto request = net::decode_stun(datagram);
  const auto stale = outcome ? net::decode_stun(outcome->answer) : std::nullopt;
  if (request && stale && stale->nonce) {
    request->nonce = stale->nonce;
    const auto bound = binding->handle(net::encode(*request, size), from, now);
    if (!bound || !bound->role) std::abort();
    const auto elsewhere = binding->handle(net::encode(*request, size), from.with_port(4712), now);
    if (elsewhere && elsewhere->role) std::abort();
  }
  meet::BindingService service;
  std::size_t sent = 0;
  constexpr std::size_t kTimes = 2 * meet::BindingService::kShortAnswersASecond;
  std::size_t longest = 0;
  for (std::size_t time = 0; time < kTimes; ++time) {
    const auto answer = service.answer(datagram, from, now);
    sent += answer.size();
    longest = std::max(longest, answer.size());
  }
  if (sent > kTimes * size + meet::BindingService::kShortAnswersASecond * longest) std::abort();
  return 0;
}

}  // namespace fuzz_relay_binding
