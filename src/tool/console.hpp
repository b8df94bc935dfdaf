/// The user's terminal or log, by way of stderr: whole lines, and one line that is rewritten.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>

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
  [[nodiscard]] std::string clearing() const;
  void write(std::string_view text, int patience_ms);

  const int descriptor_;
  std::mutex mutex_;
  std::size_t status_columns_ = 0;  // guarded by mutex_; 0: no status is shown
  bool stuck_ = false;              // guarded by mutex_; the last write had to be dropped
};

}  // namespace udtcat::tool
