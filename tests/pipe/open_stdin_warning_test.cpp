// SPDX-License-Identifier: Apache-2.0
#include "pipe/open_stdin_warning.hpp"

#include <array>
#include <chrono>

#include <gtest/gtest.h>

namespace udtcat::pipe {
namespace {

using namespace std::chrono_literals;

/// Takes all at once; reads as the test says.
class Stdio final : public LocalStream {
 public:
  explicit Stdio(const ReadState& reads) : reads_(reads) {}
  ReadResult read_some(std::span<std::byte>) override {
    return {.state = reads_, .bytes = reads_ == ReadState::data ? 1U : 0U};
  }
  void async_wait_readable(WaitHandler) override {}
  void async_write_some(std::span<const std::byte> from, WriteHandler handler) override { handler({}, from.size()); }
  void async_finish(FinishHandler handler) override { handler({}); }
  void abort() override {}
  std::string source_name() const override { return "stdin"; }
  std::string sink_name() const override { return "stdout"; }

 private:
  const ReadState& reads_;
};

class OpenStdinWarningTest : public testing::Test {
 protected:
  void write_all_to_the_end() {
    stream.async_write_some(bytes, [](std::error_code, std::size_t) {});
    stream.async_finish([](std::error_code) {});
  }
  /// Waits for all that is to come.
  [[nodiscard]] int warnings_given() {
    io.run();
    return warnings;
  }

  std::array<std::byte, 1> bytes{};
  LocalStream::ReadState reads = LocalStream::ReadState::would_block;
  int warnings = 0;
  boost::asio::io_context io;
  OpenStdinWarning stream{io, std::make_unique<Stdio>(reads), [this] { ++warnings; }, 1ms};
};

TEST_F(OpenStdinWarningTest, IsGivenWhereStdinGivesNothing) {
  std::ignore = stream.read_some(bytes);
  write_all_to_the_end();
  EXPECT_EQ(warnings_given(), 1);
}

TEST_F(OpenStdinWarningTest, IsNotGivenWhereStdinHasGivenBytes) {
  reads = LocalStream::ReadState::data;
  std::ignore = stream.read_some(bytes);
  write_all_to_the_end();
  EXPECT_EQ(warnings_given(), 0);
}

TEST_F(OpenStdinWarningTest, IsNotGivenWhereStdinEnds) {
  write_all_to_the_end();
  reads = LocalStream::ReadState::end;
  std::ignore = stream.read_some(bytes);
  EXPECT_EQ(warnings_given(), 0);
}

TEST_F(OpenStdinWarningTest, IsNotGivenBeforeAnyOutput) {
  stream.async_finish([](std::error_code) {});
  EXPECT_EQ(warnings_given(), 0);
}

TEST_F(OpenStdinWarningTest, IsNotGivenAfterAnAbort) {
  write_all_to_the_end();
  stream.abort();
  EXPECT_EQ(warnings_given(), 0);
}

}  // namespace
}  // namespace udtcat::pipe
