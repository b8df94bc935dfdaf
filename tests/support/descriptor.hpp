// SPDX-License-Identifier: Apache-2.0
/// Owned file descriptors, and the kinds that the tests tie to a process.
#pragma once

#include <filesystem>
#include <string>
#include <utility>

namespace udtcat::test {

/// Owns one descriptor; always close-on-exec. Threads: unsynchronised.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }

  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] bool valid() const { return fd_ >= 0; }
  void close();

 private:
  int fd_ = -1;
};

struct Pipe {
  Descriptor reading;
  Descriptor writing;
};

/// Each of these ends the test program where the system refuses: a test without descriptors has nothing to say.
[[nodiscard]] Pipe make_pipe();
[[nodiscard]] Descriptor open_for_reading(const std::filesystem::path& path);
[[nodiscard]] Descriptor open_for_writing(const std::filesystem::path& path);
/// Reads as ended, swallows what is written.
[[nodiscard]] Descriptor open_null();
/// A file in memory, without a name.
[[nodiscard]] Descriptor open_unnamed_file();
/// Counts and wakes: for stopping a thread that polls.
[[nodiscard]] Descriptor open_event();
void set_event(const Descriptor& event);
void set_non_blocking(const Descriptor& descriptor);

/// Ends the test program with the errno of a call that must work.
[[noreturn]] void die(const std::string& what);

}  // namespace udtcat::test
