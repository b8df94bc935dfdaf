// SPDX-License-Identifier: Apache-2.0
/// Text for the user: stderr, the library's log on it, and stdout.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <udtcat/result.hpp>

#include "lib/core/mutex.hpp"
#include "tool/cli/exit_status.hpp"
#include "tool/cli/log_line.hpp"

namespace udtcat::tool {

/// A stderr that is closed, full or not read by anybody never stops us: what cannot be written is dropped.
/// Threads: internally synchronised.
class Console {
 public:
  /// for_journal   lines begin with their level; the journal knows the program's name and the time
  explicit Console(int descriptor, bool for_journal = false) : descriptor_(descriptor), for_journal_(for_journal) {}
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  /// From now on lines are those of a log: they begin with the time, except at a terminal and in a journal.
  void date_lines();
  /// From now on lines begin with the time at a terminal, too.
  void date_lines_everywhere();
  /// From now on each line is of that format; as JSON there is no status.
  /// service   the name that lines have; empty: none
  void format_lines(LogFormat format, std::string_view service);
  /// From now on lines that begin with our name have `host` behind it: they are mixed with those of another host.
  void name_host(std::string_view host);
  /// Writes `text` as a line of its own, in the place of the status if there is one.
  void line(std::string_view text, Severity level = Severity::notice);
  /// Writes the event as a line.
  void event(const LogEvent& event);
  /// Writes an object, which is a line of JSON whatever the format.
  void object(std::string_view json, Severity level = Severity::notice);
  /// Shows `text`, made printable and cut to the window, in the place of the status before; not in a journal.
  void status(std::string_view text);
  /// Takes the status away.
  void clear_status();

  /// The window's width for a status, without the last column, behind which the cursor would go to the next line; none:
  /// it is no terminal.
  [[nodiscard]] std::optional<std::size_t> columns() const;
  [[nodiscard]] bool for_journal() const { return for_journal_; }
  [[nodiscard]] bool as_json() const;
  /// Whether the lines are for programs or for later: date_lines() where it dates them, JSON, a journal.
  [[nodiscard]] bool is_log() const;

 private:
  [[nodiscard]] std::string clearing() const UDTCAT_REQUIRES(mutex_);
  [[nodiscard]] std::string text_line(std::string_view text) const UDTCAT_REQUIRES(mutex_);
  void write_line(std::string_view text, Severity level) UDTCAT_REQUIRES(mutex_);
  void write(std::string_view text, std::chrono::milliseconds timeout) UDTCAT_REQUIRES(mutex_);

  const int descriptor_;
  const bool for_journal_;
  mutable core::Mutex mutex_;
  std::string name_ UDTCAT_GUARDED_BY(mutex_);     // in lines of text: the service's, or another host's; or empty
  std::string service_ UDTCAT_GUARDED_BY(mutex_);  // in JSON
  LogFormat format_ UDTCAT_GUARDED_BY(mutex_) = LogFormat::text;
  std::size_t status_columns_ UDTCAT_GUARDED_BY(mutex_) = 0;  // 0: no status is shown
  bool dated_ UDTCAT_GUARDED_BY(mutex_) = false;
  bool is_log_ UDTCAT_GUARDED_BY(mutex_) = false;
  bool stuck_ UDTCAT_GUARDED_BY(mutex_) = false;  // the last write had to be dropped
};

/// Gives the library's log and events a place on stderr. Events of level info count as notices where stderr is a
/// journal or JSON.
/// verbosity  -1: errors; 0: warnings; 1: info; 2: debug; 3 and more: trace
/// `console` must outlive every use of the log.
void install_stderr_log(Console& console, int verbosity);

/// Text on stdout: help, version, a new key.
/// errors: Errc::local_write_failed
[[nodiscard]] Status print(std::string_view text);
/// print() as a whole command, which a signal ends while the reader is slow.
[[nodiscard]] ExitStatus printed(std::string_view text, Console& console);

}  // namespace udtcat::tool
