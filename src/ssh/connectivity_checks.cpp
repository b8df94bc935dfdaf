// SPDX-License-Identifier: Apache-2.0
#include "ssh/connectivity_checks.hpp"

#include <algorithm>
#include <array>
#include <chrono>

#include <fmt/format.h>

#include "lib/core/text.hpp"
#include "ssh/candidates.hpp"

namespace udtcat::ssh {

namespace {

using namespace std::chrono_literals;

/// When a round is sent. guess: each wait twice as long as the one before (RFC 8445 §14.3), until UDP is given up
constexpr std::array<std::chrono::milliseconds, 5> kRounds{0ms, 300ms, 700ms, 1500ms, 2700ms};
constexpr std::size_t kFirstTranslated = 1;  // of the rounds. guess: a near end dials within 300 ms of CONNECT

}  // namespace

std::string to_text(const NearEnd& near) { return fmt::format("{} {}", near.port, to_text(near.addresses)); }

std::optional<NearEnd> parse_near_end(std::string_view text) {
  const auto space = text.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  const auto port = core::parse_number<std::uint16_t>(text.substr(0, space));
  if (!port || *port == 0) return std::nullopt;
  return NearEnd{*port, parse_candidates(text.substr(space + 1), *port)};
}

ConnectivityChecks::ConnectivityChecks(boost::asio::io_context& io, Listener& listener, const NearEnd& near,
                                       const std::optional<Endpoint>& seen)
    : listener_(listener), hosts_(near.addresses), timer_(io) {
  if (seen && std::ranges::find(hosts_, seen->with_port(near.port)) == hosts_.end())
    translated_.push_back(seen->with_port(near.port));
  send();
}

void ConnectivityChecks::send() {
  for (const Endpoint& each : hosts_) listener_.send_check(each);
  if (sent_ >= kFirstTranslated)
    for (const Endpoint& each : translated_) listener_.send_check(each);
  if (++sent_ == kRounds.size()) return;
  timer_.expires_at(began_ + kRounds.at(sent_));
  timer_.async_wait(lifetime_.guard([this](const boost::system::error_code&) { send(); }));
}

}  // namespace udtcat::ssh
