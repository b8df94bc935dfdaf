// SPDX-License-Identifier: Apache-2.0
/// The paths that this user's transfers got to know, in his cache directory.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include <udtcat/known_paths.hpp>

namespace udtcat::tool {

/// A file of lines "HOST RATE RTT MEASURED COOKIE MET PACKET FOUND TRAINLESS": bits per second, microseconds,
/// hexadecimal, bytes, the others seconds since the epoch; earlier versions' end before PACKET. What is no such line,
/// or older than an hour, is passed over; so is a file that cannot be read or written: it only saves time. What other
/// processes have written meanwhile stays, but for the hosts that this one has met.
/// Threads: unsynchronised: the connections of a process have one thread.
class PathCache final : public KnownPaths {
 public:
  using Clock = std::chrono::system_clock;

  static constexpr std::chrono::minutes kLifetime{60};     // spec: docs/man/udtcat.1, FILES
  static constexpr std::size_t kMaxPaths = 256;            // guess: of the newest
  static constexpr std::size_t kMaxFileBytes = 64 * 1024;  // guess: more than so many lines

  /// Reads `file`.  now   the time, each time that it is called
  PathCache(std::filesystem::path file, std::function<Clock::time_point()> now);
  /// Writes it, if there is something new.
  ~PathCache() override;
  PathCache(const PathCache&) = delete;
  PathCache& operator=(const PathCache&) = delete;

  [[nodiscard]] std::optional<KnownPath> find(const Endpoint& peer) override;
  /// A path without a rate leaves the one that is known.
  void note(const Endpoint& peer, const KnownPath& path) override;

 private:
  struct Entry {
    KnownPath path;
    Clock::time_point measured_at;  // its rate and round trip
    Clock::time_point met_at;       // its cookie
    Clock::time_point packet_at{};  // its packet_bytes
    Clock::time_point trains_lost_at{};
    [[nodiscard]] Clock::time_point latest() const {
      return std::max({measured_at, met_at, packet_at, trains_lost_at});
    }
  };
  void read();
  void take_line(const std::string& line, Clock::time_point now);
  void forget_oldest();
  void save();

  const std::filesystem::path file_;
  const std::function<Clock::time_point()> now_;
  std::map<std::string, Entry, std::less<>> paths_;
  std::set<std::string, std::less<>> changed_;  // since the file was read
};

/// The cache of this process's user; none where he has no cache directory.
/// spec: XDG Base Directory Specification, XDG_CACHE_HOME
[[nodiscard]] std::shared_ptr<KnownPaths> users_path_cache();

}  // namespace udtcat::tool
