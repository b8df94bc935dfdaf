// SPDX-License-Identifier: Apache-2.0
#include "tool/run/warnings.hpp"

#include <array>
#include <chrono>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tool/identity/peers_file.hpp"

namespace udtcat::tool {
namespace {

using testing::HasSubstr;

TEST(ProtectionWarning, IsNoneForPrivate) { EXPECT_FALSE(protection_warning(Protection::private_)); }

TEST(ProtectionWarning, SaysWhatIsNotProtected) {
  EXPECT_THAT(protection_warning(Protection::safe).value_or(""), HasSubstr("can read"));
  EXPECT_THAT(protection_warning(Protection::auth).value_or(""), HasSubstr("read and change"));
}

TEST(ProtectionWarning, IsAWarningAtClear) {
  EXPECT_THAT(protection_warning(Protection::clear).value_or(""), HasSubstr("WARNING"));
}

using namespace std::chrono_literals;

TEST(RefusalLog, CountsPeersByTheKindOfReason) {
  boost::asio::io_context io;
  RefusalLog refusals(io);
  for (const char* text : {"one text", "another"}) refusals.add({}, {Errc::authentication_failed, "TLS", text});
  refusals.add({}, {Errc::parameters_refused, "agree", "purpose"});
  const auto pictures = refusals.pictures();
  ASSERT_EQ(pictures.size(), 2U);
  EXPECT_EQ(pictures[0].count + pictures[1].count, 3U);
  EXPECT_THAT(pictures, testing::Contains(testing::Field(&RefusalPicture::reason, "the keys do not match")));
  EXPECT_LT(pictures[0].ago, 60s);
  EXPECT_THAT(pictures[0].last + pictures[1].last, HasSubstr("TLS: another"));
}

TEST(RefusalLog, TellsAnUnlistedKeyFromAnotherSharedKey) {
  boost::asio::io_context io;
  RefusalLog refusals(io);
  refusals.add({}, {Errc::authentication_failed, std::string(kAdmitKey) + "KEY", "peers has no line with it"});
  refusals.add({}, {Errc::authentication_failed, "TLS", "bad record"});
  EXPECT_EQ(refusals.pictures().size(), 2U);
  EXPECT_THAT(refusals.pictures(),
              testing::Contains(testing::Field(&RefusalPicture::reason, "the peers file does not let this key in")));
}

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
}  // namespace udtcat::tool
