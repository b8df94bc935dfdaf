// SPDX-License-Identifier: Apache-2.0
/// Destinations whose commands go over ssh itself for an hour, in this user's cache directory.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace udtcat::ssh {

/// Why a command goes over ssh itself from the start.
enum class FallbackReason { udp_blocked, udp_slow, one_command };

/// "UDP did not get through", for the user.
[[nodiscard]] std::string_view to_text(FallbackReason reason);

/// A file of lines "DESTINATION REASON TIME", TIME in seconds since the epoch. Other lines, and those older than an
/// hour or of the future, are ignored, as is a file that cannot be read or written: it only saves time. Of two
/// processes that write at once the later one's file stays.
/// Threads: unsynchronised. Nothing is kept between two calls.
class FallbackCache {
 public:
  using Clock = std::chrono::system_clock;

  static constexpr std::chrono::minutes kLifetime{60};     // spec: docs/man/udtcat-rsh.1, FILES
  static constexpr std::size_t kMaxLines = 256;            // guess: of the newest
  static constexpr std::size_t kMaxFileBytes = 64 * 1024;  // guess: more than so many lines

  /// destination   a word, as destination_key() gives it
  /// now           the time, each time that it is called
  FallbackCache(std::filesystem::path file, std::string destination, std::function<Clock::time_point()> now);
  /// The cache of this user; none where he has no cache directory.
  [[nodiscard]] static std::optional<FallbackCache> of_user(std::string destination);

  [[nodiscard]] std::optional<FallbackReason> find() const;
  void note(FallbackReason reason) const;
  void forget() const;

 private:
  std::filesystem::path file_;
  std::string destination_;
  std::function<Clock::time_point()> now_;
};

}  // namespace udtcat::ssh
