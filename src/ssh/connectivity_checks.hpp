// SPDX-License-Identifier: Apache-2.0
/// Opens the firewall in front of a far end to the near end that is about to dial it. Text: docs/spec/rsh.md §1.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/peering.hpp>

#include "lib/core/lifetime.hpp"

namespace udtcat::ssh {

/// The near end, as it tells the far one in the environment.
struct NearEnd {
  static constexpr const char* kVariable = "UDTCAT_NEAR";  // spec: docs/spec/rsh.md §1

  std::uint16_t port = 0;           ///< all that it dials it dials from there
  std::vector<Endpoint> addresses;  ///< of its host, with `port`
};
/// "40123 192.0.2.1,2001:db8::1"
[[nodiscard]] std::string to_text(const NearEnd& near);
[[nodiscard]] std::optional<NearEnd> parse_near_end(std::string_view text);

/// Datagrams to the near end's candidates, some to each, the later the rarer. Those that are addresses of its host get
/// theirs from the start. Another one is a NAT's, where what comes before the near end's own packets may be taken for a
/// flow that has its port already: that is checked when the near end has begun to dial.
/// Threads: confined to the io_context thread.
class ConnectivityChecks {
 public:
  /// seen   the near end's address as this side's ssh server saw it
  /// `listener` outlives this.
  ConnectivityChecks(boost::asio::io_context& io, Listener& listener, const NearEnd& near,
                     const std::optional<Endpoint>& seen);
  /// No more of them.
  void stop() {
    lifetime_.end();
    timer_.cancel();
  }

 private:
  void send();

  Listener& listener_;
  std::vector<Endpoint> hosts_;
  std::vector<Endpoint> translated_;
  std::size_t sent_ = 0;  // rounds
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  boost::asio::steady_timer timer_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::ssh
