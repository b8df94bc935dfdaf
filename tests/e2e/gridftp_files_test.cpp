// SPDX-License-Identifier: Apache-2.0
/// Files that are not like most: names that FTP cannot carry, names that leave no room for a suffix, holes; what an end
/// leaves of them, and how transfers that are killed go on.
#include <array>
#include <csignal>

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "e2e/support/ftp_dialogue.hpp"
#include "e2e/support/gridftp_test.hpp"
#include "support/deadline.hpp"

namespace udtcat::test::e2e {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// The bytes that the disk holds of a file with holes; 0: it is not there.
std::size_t stored_bytes(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return 0;
  constexpr std::size_t kBlock = 512;  // spec: stat(2)
  return static_cast<std::size_t>(status.st_blocks) * kBlock;
}

class GridftpFilesTest : public GridftpTest {
 protected:
  [[nodiscard]] std::string ours_anew() {
    serve({"--auth", "anonymous"});
    return ours("");
  }
};

// ---- Names that cannot be said -------------------------------------------------------------------------------------

TEST_F(GridftpFilesTest, AreRefusedBeforeAnythingIsSentWhereTheirNameCannotBeSaid) {
  for (const std::string name : {"a\nb", "a\rb", "a\n", "\xff"}) {
    home_.write(name, "x");
    // An absent server would be another status.
    const Ran put = gridftp({"put", name, "ftp://127.0.0.1:" + std::to_string(port_) + "/directory/"});
    EXPECT_EQ(put.status, kUsage) << put.errors;
    EXPECT_THAT(put.errors, HasSubstr("FTP cannot carry"));
  }
  for (const char* path : {"a%0Ab", "a%0db", "a%00b", "a%ffb"}) {
    const std::string url = "ftp://127.0.0.1:" + std::to_string(port_) + '/' + path;
    EXPECT_EQ(gridftp({"get", url, "got"}).status, kUsage);
    EXPECT_EQ(gridftp({"put", "/dev/null", url}).status, kUsage);
    EXPECT_EQ(gridftp({"copy", url, "ftp://127.0.0.1/x"}).status, kUsage);
    EXPECT_EQ(gridftp({"copy", "ftp://127.0.0.1/x", url}).status, kUsage);
  }
}

TEST_F(GridftpFilesTest, MayHaveAnyNameHereWhereTheyHaveAnotherThere) {
  const std::string url = ours_anew() + "plain";
  home_.write("a\nb", "content");
  EXPECT_EQ(gridftp({"put", "a\nb", url}).status, kSuccess);
  EXPECT_EQ(gridftp({"get", url, "c\nd"}).status, kSuccess);
  EXPECT_EQ(read_file(here("c\nd")), "content");
}

TEST_F(GridftpFilesTest, AreNotListedUnderANameThatIsNotTheirs) {
  const std::string root = ours_anew();
  home_.write("fine", "x");
  home_.write("evil\nfine2", "x");
  const Ran names = run({.argv = {"curl", "-sS", "--list-only", root}});
  EXPECT_THAT(names.output, AllOf(HasSubstr("fine"), Not(HasSubstr("evil"))));
  EXPECT_TRUE(eventually(kAtOnce, [&] { return count_lines(*server_, "without 1 name") == 1; }));
}

// ---- Long names ----------------------------------------------------------------------------------------------------

TEST_F(GridftpFilesTest, MayHaveTheLongestNames) {
  const std::string root = ours_anew();
  GlobusServer stock;
  std::filesystem::create_directory(here("from"));
  std::filesystem::create_directory(here("got"));
  std::filesystem::create_directory(here("put"));
  for (const std::size_t letters : {244U, 245U, 250U, 251U, 255U})
    for (const std::size_t bytes : {std::size_t{10}, std::size_t{6'000'000}}) {
      const std::string name(letters, 'n');
      const auto source = random_file("from/" + name, bytes);
      EXPECT_EQ(gridftp({"put", source, root + "put/"}).status, kSuccess) << letters << ' ' << bytes;
      EXPECT_TRUE(read_file(here("put/" + name)) == read_file(source)) << letters << ' ' << bytes;
      EXPECT_EQ(gridftp({"get", root + "from/" + name, "got/"}).status, kSuccess) << letters << ' ' << bytes;
      EXPECT_TRUE(read_file(here("got/" + name)) == read_file(source)) << letters << ' ' << bytes;
      EXPECT_EQ(gridftp({"get", stock.url(source), "got/"}).status, kSuccess) << letters << ' ' << bytes;
      EXPECT_EQ(gridftp({"put", source, stock.url(here("put")) + '/'}).status, kSuccess) << letters << ' ' << bytes;
      for (const char* directory : {"from", "got", "put"}) {
        for (const auto& entry : std::filesystem::directory_iterator(here(directory)))
          EXPECT_EQ(entry.path().filename(), name) << "nothing else stays";
        if (std::string(directory) != "from") std::filesystem::remove(here(directory) / name);
      }
      std::filesystem::remove(source);
    }
}

TEST_F(GridftpFilesTest, WithTheLongestNamesGoOnAfterACut) {
  const std::string root = ours_anew();
  const std::string name(255, 'n');
  const auto source = random_file(name, 100'000'000);
  std::filesystem::create_directory(here("got"));
  const Arguments words{"get", "-v", root + name, "got/"};
  Process process = start_gridftp(words);
  const auto came = [&] {
    std::uintmax_t most = 0;
    std::error_code gone;  // a file may get another name while one looks
    for (const auto& entry : std::filesystem::directory_iterator(here("got")))
      if (const auto bytes = entry.file_size(gone); !gone) most = std::max(most, bytes);
    return most;
  };
  ASSERT_TRUE(eventually(patience(60s), [&] { return came() > 30'000'000 || !process.running(); }));
  process.send_signal(SIGKILL);
  ASSERT_TRUE(process.wait(patience(30s)));
  const Ran again = gridftp(words);
  EXPECT_EQ(again.status, kSuccess) << again.errors;
  EXPECT_THAT(again.errors, HasSubstr("going on with"));
  EXPECT_TRUE(read_file(here("got/" + name)) == read_file(source));
}

// ---- Holes ---------------------------------------------------------------------------------------------------------

TEST_F(GridftpFilesTest, KeepTheirHoles) {
  const std::string root = ours_anew();
  GlobusServer stock;
  const auto source = random_file("source", 3'000'001);
  std::filesystem::resize_file(source, 64'000'000);
  const std::string content = read_file(source);
  ASSERT_LT(stored_bytes(source), 4'000'000U);
  for (const char* connections : {"1", "4"}) {
    EXPECT_EQ(gridftp({"put", "-p", connections, source, root + "put"}).status, kSuccess);
    EXPECT_EQ(gridftp({"get", "-p", connections, root + "source", "got"}).status, kSuccess);
    EXPECT_EQ(gridftp({"get", "-p", connections, stock.url(source), "got2"}).status, kSuccess);
    EXPECT_EQ(url_copy({"-p", connections, local(source), root + "put2"}).status, kSuccess);
    for (const char* name : {"put", "got", "got2", "put2"}) {
      EXPECT_TRUE(read_file(here(name)) == content) << name;
      EXPECT_LT(stored_bytes(here(name)), 5'000'000U) << name;
      std::filesystem::remove(here(name));
    }
  }
}

TEST_F(GridftpFilesTest, KeepTheirHolesAfterACutToo) {
  const std::string root = ours_anew();
  const auto source = here("source");
  home_.write("source", "begins");
  std::filesystem::resize_file(source, 1'000'000'000);
  const Arguments words{"get", "-v", root + "source", "got"};
  Process process = start_gridftp(words);
  kill_when_some_has_come(process, "got");
  ASSERT_TRUE(std::filesystem::exists(here("got.part"))) << "it was too fast to be cut";
  const Ran again = gridftp(words);
  EXPECT_EQ(again.status, kSuccess) << again.errors;
  EXPECT_THAT(again.errors, HasSubstr("going on with"));
  EXPECT_LT(stored_bytes(here("got")), 100'000'000U);
  EXPECT_EQ(std::filesystem::file_size(here("got")), 1'000'000'000U);
}

// ---- What stays ----------------------------------------------------------------------------------------------------

TEST_F(GridftpFilesTest, LeaveNoEmptyBeginningWhereTheUserStopsBeforeAnythingCame) {
  const TcpListener silent;
  Process get = start_gridftp({"get", "ftp://127.0.0.1:" + std::to_string(silent.port()) + "/file", "target"});
  const auto control = silent.accept(patience(30s));
  ASSERT_TRUE(control);
  EXPECT_TRUE(control->send("220 ready\r\n"));
  for (std::string line = read_line(*control); !line.starts_with("RETR"); line = read_line(*control)) {
    ASSERT_FALSE(line.empty());
    EXPECT_TRUE(control->send(line.starts_with("SIZE") ? "213 100\r\n" : "200 fine\r\n"));
  }
  ASSERT_TRUE(std::filesystem::exists(here("target.part")));
  get.send_signal(SIGINT);
  expect_exit(get, kInterrupted);
  EXPECT_FALSE(std::filesystem::exists(here("target.part")));
}

TEST_F(GridftpFilesTest, AreNotAskedForAgainWhereTheServerRefusesForGood) {
  const std::string root = ours_anew();
  GlobusServer stock;
  home_.write("there", "content");
  std::filesystem::create_directory(here("into"));
  for (const std::string& urls : {root, stock.url(home_.path()) + '/'}) {
    const Ran ran = gridftp({"get", "-v", urls + "there", urls + "none", "into/"});
    EXPECT_EQ(ran.status, kReadOrWriteFailed) << ran.errors;
    EXPECT_THAT(ran.errors, Not(HasSubstr("going on from what is there")));
  }
}

constexpr std::size_t kFileBytes = 512'000'000;
constexpr std::size_t kSmallerBytes = 128'000'000;
constexpr std::array<int, 5> kKilledAtPercent{12, 31, 47, 66, 85};

class GridftpRestartTest : public GridftpTest {
 protected:
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
      run_until(words, part, kFileBytes / 100 * static_cast<std::size_t>(percent));
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
    EXPECT_LT(again, kFileBytes / 20) << "under 5 %";
    RecordProperty("bytes_again", static_cast<int>(again));
    EXPECT_FALSE(std::filesystem::exists(part));
    EXPECT_FALSE(std::filesystem::exists(here(target + ".part.have")));
    EXPECT_FALSE(std::filesystem::exists(here("source.sent")));
  }
};

TEST_F(GridftpRestartTest, GetsFromAStockServer) {
  GlobusServer stock;
  kill_and_go_on({"get", "-v", "-p", "4", stock.url(random_file("source", kFileBytes)), "target"}, "target");
}

TEST_F(GridftpRestartTest, PutsToOurServer) {
  serve();
  kill_and_go_on({"put", "-v", "-p", "4", random_file("source", kFileBytes), ours("target")}, "target");
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
