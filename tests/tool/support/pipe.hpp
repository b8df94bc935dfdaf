// SPDX-License-Identifier: Apache-2.0
/// An anonymous pipe that closes itself.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <utility>

#include <unistd.h>

#include <gtest/gtest.h>

namespace udtcat::tool {

class Pipe {
 public:
  Pipe() { EXPECT_EQ(::pipe(ends_.data()), 0); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_writer();
    ::close(ends_[0]);
  }
  [[nodiscard]] int reader() const { return ends_[0]; }
  [[nodiscard]] int writer() const { return ends_[1]; }
  void close_writer() {
    if (ends_[1] >= 0) ::close(std::exchange(ends_[1], -1));
  }
  void write(const std::string& text) const {
    EXPECT_EQ(::write(writer(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  /// All bytes in it, after its last writer is closed.
  [[nodiscard]] std::string drain() {
    close_writer();
    std::string all;
    std::array<char, 4096> piece;
    for (ssize_t taken = 0; (taken = ::read(reader(), piece.data(), piece.size())) > 0;)
      all.append(piece.data(), static_cast<std::size_t>(taken));
    return all;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

}  // namespace udtcat::tool
