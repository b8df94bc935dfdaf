// SPDX-License-Identifier: Apache-2.0
/// Transfers that are killed again and again go on where they were.
#include <array>
#include <csignal>

#include <sys/stat.h>

#include <gmock/gmock.h>

#include "e2e/support/gridftp_test.hpp"
#include "support/deadline.hpp"

namespace udtcat::test::e2e {
namespace {

constexpr std::size_t kLongFileBytes = 512'000'000;
constexpr std::size_t kSmallerBytes = 128'000'000;
constexpr std::array<int, 5> kKilledAtPercent{12, 31, 47, 66, 85};

class GridftpRestartTest : public GridftpTest {
 protected:
  /// The bytes that the disk holds of a file with holes.
  static std::size_t stored_bytes(const std::filesystem::path& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return 0;
    constexpr std::size_t kBlock = 512;  // spec: stat(2)
    return static_cast<std::size_t>(status.st_blocks) * kBlock;
  }
  /// Runs it until so much of `part` is there, and kills it.
  void run_until(const Arguments& words, const std::filesystem::path& part, std::size_t bytes) const {
    Process process = start_gridftp(words);
    ASSERT_TRUE(
        eventually(std::chrono::seconds(60), [&] { return stored_bytes(part) >= bytes || !process.running(); }));
    process.send_signal(SIGKILL);
    ASSERT_TRUE(process.wait(std::chrono::seconds(30)));
  }
  /// "going on with …: 1234 of 5678 bytes": the first number.
  static std::size_t resumed_in(const std::string& text) {
    const auto at = text.find("going on with");
    if (at == std::string::npos) return 0;
    const auto end = text.find(" of ", at);
    const auto begin = text.rfind(' ', end - 1);
    return std::stoull(text.substr(begin + 1, end - begin - 1));
  }
  /// Kills at each point; what was there and is not believed at the next start has to come again.
  void kill_and_go_on(const Arguments& words, const std::string& target) {
    const auto part = here(target + ".part");
    std::size_t again = 0;
    std::size_t there = 0;
    for (const int percent : kKilledAtPercent) {
      run_until(words, part, kLongFileBytes / 100 * static_cast<std::size_t>(percent));
      ASSERT_FALSE(std::filesystem::exists(here(target)));
      there = stored_bytes(part);
      Process look = start_gridftp(words);
      ASSERT_TRUE(
          eventually(std::chrono::seconds(60), [&] { return resumed_in(look.errors()) > 0 || !look.running(); }));
      look.send_signal(SIGKILL);
      ASSERT_TRUE(look.wait(std::chrono::seconds(30)));
      const std::size_t resumed = resumed_in(look.errors());
      ASSERT_GT(resumed, 0U) << look.errors();
      if (resumed < there) again += there - resumed;
    }
    const Ran ran = gridftp(words);
    EXPECT_EQ(ran.status, kSuccess) << ran.errors;
    EXPECT_TRUE(read_file(here(target)) == read_file(here("source")));
    EXPECT_LT(again, kLongFileBytes / 20) << "under 5 %";
    RecordProperty("bytes_again", static_cast<int>(again));
    EXPECT_FALSE(std::filesystem::exists(part));
    EXPECT_FALSE(std::filesystem::exists(here(target + ".part.have")));
    EXPECT_FALSE(std::filesystem::exists(here("source.sent")));
  }
};

TEST_F(GridftpRestartTest, GetsFromAStockServer) {
  GlobusServer stock;
  kill_and_go_on({"get", "-v", "-p", "4", stock.url(random_file("source", kLongFileBytes)), "target"}, "target");
}

TEST_F(GridftpRestartTest, PutsToOurServer) {
  serve();
  kill_and_go_on({"put", "-v", "-p", "4", random_file("source", kLongFileBytes), ours("target")}, "target");
}

TEST_F(GridftpRestartTest, GoesOnByItselfWhereTheServerIsKilledAndComesBack) {
  serve();
  const auto source = random_file("source", kSmallerBytes);
  Process process = start_gridftp({"get", "-v", "-p", "4", "--retries", "30", ours("source"), "target"});
  ASSERT_TRUE(eventually(std::chrono::seconds(60),
                         [&] { return stored_bytes(here("target.part")) > kSmallerBytes / 3 || !process.running(); }));
  server_->send_signal(SIGKILL);
  ASSERT_TRUE(server_->wait(std::chrono::seconds(30)));
  serve();
  expect_exit(process, kSuccess, std::chrono::seconds(60));
  expect_says(process, "going on from what is there");
  EXPECT_TRUE(read_file(here("target")) == read_file(source));
}

TEST_F(GridftpRestartTest, MixesNoTwoVersionsOfASource) {
  serve();
  const auto source = random_file("source", kSmallerBytes);
  Process process = start_gridftp({"put", "-v", "--retries", "30", source, ours("target")});
  ASSERT_TRUE(eventually(std::chrono::seconds(60),
                         [&] { return stored_bytes(here("target.part")) > kSmallerBytes / 3 || !process.running(); }));
  server_->send_signal(SIGKILL);
  ASSERT_TRUE(server_->wait(std::chrono::seconds(30)));
  const auto other = random_file("other", kSmallerBytes);
  std::filesystem::rename(other, source);
  serve();
  expect_exit(process, kReadOrWriteFailed, std::chrono::seconds(60));
  expect_says(process, "changed meanwhile");
  EXPECT_FALSE(std::filesystem::exists(here("target")));
  EXPECT_EQ(gridftp({"put", source, ours("target")}).status, kSuccess) << "anew";
  EXPECT_TRUE(read_file(here("target")) == read_file(source));
}

TEST_F(GridftpRestartTest, BelievesNoJournalWhoseFileIsGone) {
  serve();
  const auto source = random_file("source", kSmallerBytes);
  const Arguments put{"put", "-v", source, ours("target")};
  run_until(put, here("target.part"), kSmallerBytes / 3);
  std::filesystem::remove(here("target.part"));
  const Ran again = gridftp(put);
  EXPECT_EQ(again.status, kSuccess) << again.errors;
  EXPECT_TRUE(read_file(here("target")) == read_file(source));
}

}  // namespace
}  // namespace udtcat::test::e2e
