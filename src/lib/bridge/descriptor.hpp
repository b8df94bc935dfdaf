// SPDX-License-Identifier: Apache-2.0
/// Descriptors: their owner, their kind, and the few things that only the platform can say about them.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include <sys/types.h>

namespace udtcat::bridge {

/// A descriptor number that is ours to close. Threads: unsynchronised.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();

  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] bool is_open() const { return number_ >= 0; }
  /// Lets go of what the descriptor leads to and says what the system said, e.g. that a file on a server could not be
  /// stored. Nothing happens the second time.
  std::error_code close();
  /// Hands the number to another owner.
  [[nodiscard]] int release() { return std::exchange(number_, -1); }

 private:
  int number_ = -1;
};

enum class DescriptorKind { fifo, socket, terminal, file, other };  // file: also a disk
enum class Half { read, write };

/// Whether this end of it can be read, or written; true where the system does not say.
[[nodiscard]] bool is_open_for(int number, Half half);

/// The kind of file that `number` leads to; `other` also where it is not open, so that the first read or write tells
/// the error.
[[nodiscard]] DescriptorKind kind_of(int number);

/// The errno of the call that has just failed.
[[nodiscard]] std::error_code last_error();

/// A second description of the same pipe or terminal that never blocks. O_NONBLOCK belongs to a description, and the
/// one we were given is shared with others (the shell, the other end of a pipeline), so it is not ours to change.
/// returns  not open where that cannot be had: kind, access mode, permission
[[nodiscard]] Descriptor reopen_non_blocking(int number, DescriptorKind kind, Half half);

/// Every open descriptor above `number` ends with the next exec(). For use between fork() and exec(), too.
void close_on_exec_above(int number);

/// Returns when the names in a directory are on the disk, so that no power cut takes one back. Success, too, where
/// nothing can be waited for: its file system syncs none, or the directory may not be read, and files without names
/// cannot be made there.
/// directory   `path` is relative to it, as of openat(2)
[[nodiscard]] std::error_code sync_names(int directory, const char* path);

/// Lets a pipe hold more, if it holds less and the system agrees: fewer switches between its two ends.
void enlarge_pipe(int number);

/// read() and write() that say EAGAIN where they would wait, whatever the description's flags are; EOPNOTSUPP where
/// that cannot be had: the device.
[[nodiscard]] ssize_t read_without_waiting(int number, std::span<std::byte> into);
[[nodiscard]] ssize_t write_without_waiting(int number, std::span<const std::byte> from);

/// Whether the consumer behind a pipe or socket has taken all that was written.
/// returns  none: not yet; an error: it left bytes unread; no error: all taken, or this kind of descriptor cannot tell
[[nodiscard]] std::optional<std::error_code> consumer_status(int number, DescriptorKind kind);

}  // namespace udtcat::bridge
