// SPDX-License-Identifier: Apache-2.0
/// Warnings beside errors and progress: missing protection, refused peers.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <udtcat/connection.hpp>
#include <udtcat/endpoint.hpp>
#include <udtcat/options.hpp>
#include <udtcat/result.hpp>

#include "lib/bridge/child_process.hpp"
#include "tool/cli/console.hpp"
#include "tool/run/event_log.hpp"
#include "tool/status/snapshot.hpp"

namespace udtcat::tool {

/// The risk that `protection` leaves open; none for `private`.
[[nodiscard]] std::optional<std::string> protection_warning(Protection protection);
/// Tells the user; of `clear` also one who wants to read errors only.
void warn_of_protection(Protection protection, Console& console);
/// The risk of --plain, which protects nothing.
[[nodiscard]] std::string plain_warning();

/// "alice (192.0.2.1:4711)"; the address alone where a peer has no key pair.
[[nodiscard]] std::string peer_text(const Connection& connection);

/// UDTCAT_PEER, for a command that serves the peer; without a value where it has no name.
[[nodiscard]] bridge::EnvironmentVariable peer_variable(const std::optional<PeerIdentity>& peer);

/// Warns of peers that were turned away, as of any error: of the first for each kind of reason at once, then by one
/// line an interval that counts.
/// Threads: confined to the io_context thread.
class RefusalLog {
 public:
  explicit RefusalLog(boost::asio::io_context& io);
  void add(const Endpoint& peer, const Error& why);
  /// Tells what is counted: the process is about to end.
  void flush() { log_.flush(); }
  /// How many there were of each kind, and when the last.
  [[nodiscard]] std::vector<RefusalSnapshot> snapshots() const;

 private:
  struct RefusalCount {
    std::uint64_t count = 0;
    std::chrono::steady_clock::time_point latest{};
    std::string last{};
  };
  std::map<std::string, RefusalCount> counts_;  // by kind, of which there are no more than codes
  EventLog log_;
};

}  // namespace udtcat::tool
