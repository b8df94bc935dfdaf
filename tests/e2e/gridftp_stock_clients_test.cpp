// SPDX-License-Identifier: Apache-2.0
/// Our FTP server and the clients of six other makes, as e2e/support/ftp_client calls them; every file compared.
#include <csignal>

#include <fcntl.h>
#include <sys/stat.h>

#include <gmock/gmock.h>

#include "e2e/support/gridftp_test.hpp"
#include "support/deadline.hpp"

namespace udtcat::test::e2e {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string kOddNames[] = {"two words", "it's", "say \"it\"", "-dash", "100%41", "\xc3\xbcml\xc3\xa4ut"};

/// Everything is in directories of the test's own: the served one is its home, the client's is `away_`.
class StockClients : public GridftpTest, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override { serve(); }
  [[nodiscard]] Ran client(const std::string& deed, const Arguments& names) const {
    Arguments words{UDTCAT_SOURCE_DIR "/tests/e2e/support/ftp_client", GetParam(), deed, std::to_string(serve_port_)};
    words.insert(words.end(), names.begin(), names.end());
    return run({.argv = std::move(words),
                .environment = {"HOME=" + away_.path().string()},
                .working_directory = away_.path()});
  }
  void expect_done(const std::string& deed, const Arguments& names) const {
    const Ran ran = client(deed, names);
    EXPECT_EQ(ran.status, 0) << deed << ' ' << names.front() << ": " << ran.output << ran.errors;
  }
  static void set_time(const std::filesystem::path& file, time_t seconds) {
    const timespec times[2] = {{.tv_sec = seconds, .tv_nsec = 0}, {.tv_sec = seconds, .tv_nsec = 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
  }

  TempDir away_;
};

/// The line of a listing that ends with `name`, or has it before an arrow.
std::string line_of(const std::string& listing, const std::string& name) {
  std::istringstream lines(listing);
  for (std::string line; std::getline(lines, line);) {
    while (line.ends_with('\r')) line.pop_back();
    if (line.ends_with(' ' + name) || line.find(' ' + name + " -> ") != std::string::npos) return line;
  }
  return "";
}

class ListingClients : public StockClients {};

TEST_P(ListingClients, SeeWhatIsThereAndWhatItIs) {
  std::filesystem::create_directories(here("a dir/sub"));
  for (const auto& name : kOddNames) home_.write("a dir/" + name, "1234567");
  std::filesystem::create_symlink("two words", here("a dir/latest.dat"));
  std::filesystem::create_symlink("sub", here("a dir/latest"));
  ASSERT_EQ(::mkfifo(here("a dir/pipe").c_str(), 0600), 0);
  const Ran ran = client("list", {"a dir"});
  EXPECT_EQ(ran.status, 0) << ran.errors;
  for (const auto& name : kOddNames)
    EXPECT_THAT(line_of(ran.output, name), AllOf(HasSubstr(" 7 "), Not(HasSubstr("->"))));
  EXPECT_EQ(line_of(ran.output, "sub").substr(0, 1), "d");
  EXPECT_NE(line_of(ran.output, "pipe").substr(0, 1), "-") << ran.output;
  const std::string file = line_of(ran.output, "latest.dat");
  EXPECT_TRUE((file.starts_with('-') && file.find(" 7 ") != std::string::npos) || file.ends_with("-> two words"))
      << file;
  const std::string directory = line_of(ran.output, "latest");
  EXPECT_TRUE(directory.starts_with('d') || directory.ends_with("-> sub")) << ran.output;
}

TEST_P(ListingClients, SeeThatADirectoryIsMissing) {
  home_.write("top", "x");
  const Ran ran = client("list", {"missing"});
  EXPECT_THAT(ran.output, Not(HasSubstr("top"))) << ran.errors;
}

INSTANTIATE_TEST_SUITE_P(Of, ListingClients, testing::Values("curl", "ftplib", "lftp", "tnftp", "wget"),
                         [](const auto& made) { return made.param; });

TEST_P(StockClients, GetFilesOfAnyNameAndSize) {
  home_.write("empty", "");
  expect_done("get", {"empty"});
  EXPECT_TRUE(away_.has("empty") || std::string_view(GetParam()) == "tnftp");
  const auto large = random_file("large", 3'000'001);
  expect_done("get", {"large"});
  EXPECT_TRUE(read_file(away_ / "large") == read_file(large));
  for (const auto& name : kOddNames) {
    home_.write(name, "content of " + name);
    expect_done("get", {name});
    EXPECT_EQ(read_file(away_ / name), "content of " + name);
  }
}

TEST_P(StockClients, LeaveNothingOfAFileThatIsMissing) {
  const Ran ran = client("get", {"missing"});
  EXPECT_TRUE(ran.status != 0 || ran.output.find("550") != std::string::npos) << ran.output << ran.errors;
  EXPECT_EQ(read_file(away_ / "missing"), "");
}

INSTANTIATE_TEST_SUITE_P(Of, StockClients, testing::Values("curl", "ftplib", "globus", "lftp", "tnftp", "wget"),
                         [](const auto& made) { return made.param; });

class StoringClients : public StockClients {};

TEST_P(StoringClients, PutFilesOfAnyNameAndSize) {
  const auto large = random_file("large", 3'000'001);
  std::filesystem::rename(large, away_ / "large");
  expect_done("put", {"large"});
  EXPECT_TRUE(read_file(here("large")) == read_file(away_ / "large"));
  for (const auto& name : kOddNames) {
    if (GetParam() == std::string("tnftp") && name.find('"') != std::string::npos) continue;  // which it cannot be told
    away_.write(name, "content of " + name);
    expect_done("put", {name});
    EXPECT_EQ(read_file(here(name)), "content of " + name);
  }
}

INSTANTIATE_TEST_SUITE_P(Of, StoringClients, testing::Values("curl", "ftplib", "globus", "lftp", "tnftp"),
                         [](const auto& made) { return made.param; });

// ---- Going on: the end that has the first half has other letters there, which show that it did not come again -------

class ClientsThatGetOn : public StockClients {};

TEST_P(ClientsThatGetOn, FetchTheRestOnly) {
  set_time(home_.write("file", std::string(50'000, 'a') + std::string(50'000, 'b')), 1'600'000'000);
  away_.write("file", std::string(50'000, 'x'));
  expect_done("get_on", {"file"});
  EXPECT_TRUE(read_file(away_ / "file") == std::string(50'000, 'x') + std::string(50'000, 'b'));
}

INSTANTIATE_TEST_SUITE_P(Of, ClientsThatGetOn, testing::Values("curl", "ftplib", "lftp", "tnftp", "wget"),
                         [](const auto& made) { return made.param; });

class ClientsThatPutOn : public StockClients {};

TEST_P(ClientsThatPutOn, SendTheRestOfAnUploadThatWasCut) {
  away_.write("file", std::string(50'000, 'a') + std::string(50'000, 'b'));
  {
    const Process cut({.argv = {UDTCAT_SOURCE_DIR "/tests/e2e/support/ftp_client", "ftplib", "put_half",
                                std::to_string(serve_port_), "file"}});
    ASSERT_TRUE(eventually(std::chrono::seconds(30), [&] { return read_file(here("file.part")).size() == 50'000; }))
        << cut.errors();
    ::kill(-cut.pid(), SIGKILL);
  }
  Ran ran;  // refused until the server has noticed that the first has gone
  EXPECT_TRUE(eventually(std::chrono::seconds(30), [&] { return (ran = client("put_on", {"file"})).status == 0; }))
      << ran.output << ran.errors;
  // The last byte of what is there is asked for once more.
  EXPECT_TRUE(read_file(here("file")) == std::string(49'999, 'x') + 'a' + std::string(50'000, 'b'));
}

TEST_P(ClientsThatPutOn, SendTheRestOfAFileWhoseEndSeemedToHaveCome) {
  away_.write("file", std::string(50'000, 'a') + std::string(50'000, 'b'));
  home_.write("file", std::string(50'000, 'x'));
  expect_done("put_on", {"file"});
  EXPECT_TRUE(read_file(here("file")) == std::string(50'000, 'x') + std::string(50'000, 'b'));
  EXPECT_FALSE(home_.has("file.part"));
}

INSTANTIATE_TEST_SUITE_P(Of, ClientsThatPutOn, testing::Values("curl", "ftplib", "lftp"),
                         [](const auto& made) { return made.param; });

class AppendingClients : public StockClients {};

TEST_P(AppendingClients, AddToAFileAndMakeOne) {
  away_.write("file", "second");
  home_.write("file", "first, ");
  expect_done("append", {"file"});
  EXPECT_EQ(read_file(here("file")), "first, second");
  away_.write("new", "alone");
  expect_done("append", {"new"});
  EXPECT_EQ(read_file(here("new")), "alone");
}

INSTANTIATE_TEST_SUITE_P(Of, AppendingClients, testing::Values("curl", "ftplib", "tnftp"),
                         [](const auto& made) { return made.param; });

// ---- Trees ----------------------------------------------------------------------------------------------------------

class MirroringClients : public StockClients {};

TEST_P(MirroringClients, FetchATreeWithWhatItsLinksLeadTo) {
  std::filesystem::create_directories(here("tree/run42"));
  home_.write("tree/run42/a", "of the run");
  home_.write("tree/two words", "content");
  std::filesystem::create_symlink("run42/a", here("tree/a.dat"));
  ASSERT_EQ(::mkfifo(here("tree/pipe").c_str(), 0600), 0);
  std::ignore = client("mirror", {"tree"});  // some say by their status that a pipe is not a file
  EXPECT_EQ(read_file(away_ / "tree/run42/a"), "of the run");
  EXPECT_EQ(read_file(away_ / "tree/two words"), "content");
  EXPECT_EQ(read_file(away_ / "tree/a.dat"), "of the run");
  EXPECT_FALSE(std::filesystem::is_regular_file(away_ / "tree/pipe"));
}

INSTANTIATE_TEST_SUITE_P(Of, MirroringClients, testing::Values("globus", "lftp", "wget"),
                         [](const auto& made) { return made.param; });

class ClientsThatMirrorUp : public StockClients {};

TEST_P(ClientsThatMirrorUp, SendATree) {
  std::filesystem::create_directories(away_ / "tree/sub/deep");
  away_.write("tree/two words", "content");
  away_.write("tree/sub/deep/-dash", "dash");
  expect_done("mirror_up", {"tree"});
  EXPECT_EQ(read_file(here("tree/two words")), "content");
  EXPECT_EQ(read_file(here("tree/sub/deep/-dash")), "dash");
}

INSTANTIATE_TEST_SUITE_P(Of, ClientsThatMirrorUp, testing::Values("globus", "lftp"),
                         [](const auto& made) { return made.param; });

// ---- Times, sums, names ---------------------------------------------------------------------------------------------

class ClientsThatLookAtTimes : public StockClients {};

TEST_P(ClientsThatLookAtTimes, FetchAFileAgainThatHasChangedWithItsSizeKept) {
  const time_t now = ::time(nullptr);
  set_time(home_.write("file", "before"), now - 7200);
  expect_done("newer", {"file"});
  EXPECT_EQ(read_file(away_ / "file"), "before");
  set_time(home_.write("file", "behind"), now - 3600);
  set_time(away_ / "file", now - 7200);
  expect_done("newer", {"file"});
  EXPECT_EQ(read_file(away_ / "file"), "behind");
}

INSTANTIATE_TEST_SUITE_P(Of, ClientsThatLookAtTimes, testing::Values("tnftp", "wget"),
                         [](const auto& made) { return made.param; });

class CheckingClients : public StockClients {};

TEST_P(CheckingClients, CompareTheSumsOfBothEnds) {
  const auto content = read_file(random_file("file", 1'000'001));
  expect_done("get_checked", {"file"});
  EXPECT_TRUE(read_file(away_ / "file") == content);
  std::filesystem::rename(away_ / "file", away_ / "other");
  expect_done("put_checked", {"other"});
  EXPECT_TRUE(read_file(here("other")) == content);
}

INSTANTIATE_TEST_SUITE_P(Of, CheckingClients, testing::Values("globus"), [](const auto& made) { return made.param; });

class TidyingClients : public StockClients {};

TEST_P(TidyingClients, MakeRenameAndDelete) {
  home_.write("old", "content");
  expect_done("mkdir", {"a dir"});
  EXPECT_TRUE(std::filesystem::is_directory(here("a dir")));
  expect_done("rename", {"old", "a dir/new"});
  EXPECT_EQ(read_file(here("a dir/new")), "content");
  expect_done("delete", {"a dir/new"});
  EXPECT_FALSE(home_.has("a dir/new"));
  expect_done("rmdir", {"a dir"});
  EXPECT_FALSE(home_.has("a dir"));
}

INSTANTIATE_TEST_SUITE_P(Of, TidyingClients, testing::Values("curl", "ftplib", "lftp", "tnftp"),
                         [](const auto& made) { return made.param; });

}  // namespace
}  // namespace udtcat::test::e2e
