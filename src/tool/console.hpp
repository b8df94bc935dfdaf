/// Text for the user: stderr, the library's log on it, and stdout.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include <udtcat/result.hpp>

#include "lib/core/mutex.hpp"
#include "tool/exit_status.hpp"

namespace udtcat::tool {

/// A stderr that is closed, full or not read by anybody never stops us: what cannot be written is dropped.
/// Threads: internally synchronised.
class Console {
 public:
  explicit Console(int descriptor) : descriptor_(descriptor) {}
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  /// Writes `text` as a line of its own, in the place of the status if there is one.
  void line(std::string_view text);
  /// Shows `text` in the place of the status before.
  void status(std::string_view text);
  /// Takes the status away.
  void clear_status();

 private:
  [[nodiscard]] std::string clearing() const UDTCAT_REQUIRES(mutex_);
  void write(std::string_view text, std::chrono::milliseconds patience) UDTCAT_REQUIRES(mutex_);

  const int descriptor_;
  core::Mutex mutex_;
  std::size_t status_columns_ UDTCAT_GUARDED_BY(mutex_) = 0;  // 0: no status is shown
  bool stuck_ UDTCAT_GUARDED_BY(mutex_) = false;              // the last write had to be dropped
};

/// Gives the library's log a place on stderr.
/// verbosity  -1: errors; 0: warnings; 1: info; 2: debug; 3 and more: trace
/// `console` must outlive every use of the log.
void install_stderr_log(Console& console, int verbosity);

/// Text on stdout: help, version, a new key.
/// errors: Errc::local_write_failed
[[nodiscard]] Status print(std::string_view text);
/// print() as a job of its own, which a signal may end while the reader is slow.
[[nodiscard]] ExitStatus printed(std::string_view text, Console& console);

}  // namespace udtcat::tool
