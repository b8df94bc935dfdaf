// SPDX-License-Identifier: Apache-2.0
/// `udtcat send`, `receive` and `verify` where something is not as it should be: it is named, the rest stands, and
/// nothing is written that was not asked for.
#include <fstream>
#include <thread>

#include <sys/stat.h>
#include <unistd.h>

#include <gmock/gmock.h>

#include "e2e/support/trees_test.hpp"

namespace udtcat::test::e2e {
namespace {

namespace fs = std::filesystem;

using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

// ---- Names that cannot be had --------------------------------------------------------------------------------------

class TreesTroubles : public TreesTest {
 protected:
  void SetUp() override {
    TreesTest::SetUp();
    fs::create_directories(here("src/sub"));
    for (const char* name : {"src/a", "src/sub/b", "src/z"}) home_.write(name, name);
  }
  /// Both ends end with 7, and name it; the others are there.
  void expect_named(Process& sender, Process& receiver, const std::string& name,
                    const std::vector<std::string>& others) const {
    expect_exit(sender, kReadOrWriteFailed);
    expect_exit(receiver, kReadOrWriteFailed, kAtOnce);
    for (const Process* process : {&sender, &receiver}) {
      expect_says(*process, name);
      expect_says(*process, "1 name is missing");
    }
    for (const std::string& other : others) EXPECT_EQ(read_file(here("dst") / other), read_file(here(other))) << other;
    EXPECT_FALSE(has_parts());
  }
};

TEST_F(TreesTroubles, OfAnUnreadableFileAreItsOwn) {
  fs::permissions(here("src/sub/b"), fs::perms::none);
  // Root without his right to read everything, and everybody else.
  Arguments words{UDTCAT_BINARY, "send", "src", host_, std::to_string(port_)};
  if (::geteuid() == 0) {
    const std::string rights = "-dac_override,-dac_read_search";
    words.insert(words.begin(), {"setpriv", "--bounding-set=" + rights, "--inh-caps=" + rights, "--"});
  }
  Process receiver = receive_into("dst");
  Process sender({.argv = words,
                  .environment = {"HOME=" + home_.path().string(), "UDTCAT_KEY=" + key_},
                  .working_directory = home_.path()});
  expect_named(sender, receiver, "src/sub/b", {"src/a", "src/z"});
  EXPECT_FALSE(fs::exists(here("dst/src/sub/b")));
}

TEST_F(TreesTroubles, OfADirectoryInAFilesPlaceAreItsOwn) {
  fs::create_directories(here("dst/src/a/within"));
  Process receiver = receive_into("dst");
  Process sender = send({"src"});
  expect_named(sender, receiver, "dst/src/a", {"src/sub/b", "src/z"});
  EXPECT_TRUE(fs::is_directory(here("dst/src/a/within")));
}

TEST_F(TreesTroubles, OfAFileInADirectorysPlaceAreThoseBelowItToo) {
  fs::create_directories(here("dst/src"));
  home_.write("dst/src/sub", "stays");
  Process receiver = receive_into("dst");
  Process sender = send({"src"});
  for (Process* process : {&sender, &receiver}) {
    expect_exit(*process, kReadOrWriteFailed);
    expect_says(*process, "make the directory dst/src/sub: there is something else");
    expect_says(*process, "src/sub/b");
  }
  EXPECT_EQ(read_file(here("dst/src/sub")), "stays");
  EXPECT_EQ(read_file(here("dst/src/z")), "src/z");
}

TEST_F(TreesTroubles, OfANameThatIsNotThereAreNamed) {
  Process sender = send({"src", "nothing"});
  Process receiver = receive_into("dst");
  expect_named(sender, receiver, "nothing", {"src/a", "src/sub/b", "src/z"});
}

/// A source that is written all the while it is read.
class TreesChanging : public TreesTest {
 protected:
  static constexpr std::uint64_t kBytes = scaled(64 * kMiB);
  [[nodiscard]] static std::string content(char of) { return std::string(kBytes, of); }
  /// In its place, as a database does.
  void rewrite(char with) const {
    std::fstream file(here("src/file"), std::ios::binary | std::ios::in | std::ios::out);
    file << content(with);
  }
  [[nodiscard]] bool arrives(std::uint64_t bytes) const {
    return eventually(kTransferLimit, [&] {
      std::error_code gone;
      for (const auto& entry : fs::recursive_directory_iterator(here("dst"), gone))
        if (entry.is_regular_file(gone) && allocated_bytes(entry.path()) >= bytes) return true;
      return false;
    });
  }
};

TEST_F(TreesChanging, WhileTheyAreReadArriveAsOneOfTheirStates) {
  fs::create_directory(here("src"));
  home_.write("src/file", content('A'));
  Process receiver = receive_into("dst");
  Process sender = send({"src"}, {.args = {"--rate=400M"}});
  ASSERT_TRUE(arrives(kBytes / 4)) << sender.errors();
  rewrite('B');
  expect_exit(sender, kSuccess);
  expect_exit(receiver, kSuccess, kAtOnce);
  EXPECT_TRUE(read_file(here("dst/src/file")) == content('B')) << "a change is read again";
}

TEST_F(TreesChanging, WithoutEndAreNamedAndNeverMixed) {
  fs::create_directory(here("src"));
  home_.write("src/file", content('A'));
  home_.write("src/other", "stands");
  Process receiver = receive_into("dst");
  Process sender = send({"src"}, {.args = {"--rate=400M"}});
  std::jthread writer([this, &sender](const std::stop_token& stop) {
    for (char with = 'B'; !stop.stop_requested(); with = with == 'Z' ? 'B' : static_cast<char>(with + 1)) {
      change_byte(here("src/file"), static_cast<std::uint64_t>(with) * kBytes / 128);
      let_pass(std::chrono::milliseconds(20));
    }
  });
  expect_exit(sender, kReadOrWriteFailed);
  expect_exit(receiver, kReadOrWriteFailed, kAtOnce);
  for (const Process* process : {&sender, &receiver}) {
    expect_says(*process, "src/file");
    expect_says(*process, "changed");
  }
  EXPECT_FALSE(fs::exists(here("dst/src/file")));
  EXPECT_EQ(read_file(here("dst/src/other")), "stands");
}

// ---- Limits and traps ----------------------------------------------------------------------------------------------

TEST_F(TreesTroubles, OfALimitEndTheTransferByName) {
  write_random(here("src/big"), 1, 4 * kMiB);
  Process receiver = receive_into("dst", {.args = {"--once", "--limit=1MB"}});
  Process sender = send({"src"});
  for (Process* process : {&sender, &receiver}) {
    EXPECT_NE(process->wait(kTransferLimit).value_or(Ending()).status, kSuccess);
    expect_says(*process, "--limit 1.00 MB");
    expect_says(*process, "src/big");
  }
  std::uint64_t taken = 0;
  for (const auto& file : fs::recursive_directory_iterator(here("dst")))
    if (file.is_regular_file()) taken += file.file_size();
  EXPECT_LE(taken, 1'000'000U);
  transfer({"src"}, {}, {"--limit=5MB"});
  expect_same(here("src"), here("dst/src"));
}

TEST_F(TreesTroubles, OfALimitCountNamesAndHoles) {
  for (int number = 0; number < 2000; ++number) fs::create_directory(here("src/" + std::to_string(number)));
  Process receiver = receive_into("dst", {.args = {"--once", "--limit=100kB"}});
  Process sender = send({"src"});
  for (Process* process : {&sender, &receiver}) {
    EXPECT_NE(process->wait(kTransferLimit).value_or(Ending()).status, kSuccess);
    expect_says(*process, "--limit");
  }
  EXPECT_LT(std::distance(fs::directory_iterator(here("dst/src")), fs::directory_iterator()), 1900);
}

/// A directory's place is taken by a link that leads out.
TEST_F(TreesTroubles, OfALinkThatLeadsOutAreNamedAndNothingIsWrittenThere) {
  fs::create_directories(here("outside/sub"));
  for (const char* trap : {"dst/src", "dst/src/sub"}) {
    fs::remove_all(here("dst"));
    fs::create_directories(here(trap).parent_path());
    fs::create_symlink(here("outside"), here(trap));
    Process receiver = receive_into("dst");
    Process sender = send({"src"});
    for (Process* process : {&sender, &receiver}) {
      expect_exit(*process, kReadOrWriteFailed);
      expect_says(*process, std::string("make the directory ") + trap + ": there is something else");
    }
    EXPECT_TRUE(fs::is_symlink(here(trap)));
    EXPECT_TRUE(fs::is_empty(here("outside/sub")));
    EXPECT_EQ(std::distance(fs::directory_iterator(here("outside")), fs::directory_iterator()), 1) << trap;
  }
}

/// A file's place is taken by a link: the link is replaced, not followed.
TEST_F(TreesTroubles, AreNoneWhereALinkHasAFilesName) {
  home_.write("outside", "stays");
  fs::create_directories(here("dst/src"));
  fs::create_symlink(here("outside"), here("dst/src/a"));
  transfer({"src"});
  EXPECT_EQ(read_file(here("outside")), "stays");
  expect_same(here("src"), here("dst/src"));
}

TEST_F(TreesTroubles, OfPathsOutsideAreRefusedInWords) {
  home_.write("secret", "outside");
  fs::create_symlink("..", here("src/up"));
  const Process server = serve("src", {});
  for (const std::string& path : Arguments{"../secret", here("secret").string(), "sub/../../secret", "up/secret"}) {
    Process receiver = receive({path}, "dst");
    expect_exit(receiver, kReadOrWriteFailed);
    EXPECT_FALSE(fs::exists(here("dst/secret"))) << path;
    if (path != "up/secret") expect_says(receiver, "paths are those below the directory that is served");
  }
  Process missing = receive({"nothing"}, "dst");
  expect_exit(missing, kReadOrWriteFailed);
  expect_says(missing, "nothing: it is not there");
}

// ---- The wrong end -------------------------------------------------------------------------------------------------

TEST_F(TreesTroubles, OfAPipeAreItsPurpose) {
  Process receiver = receive_into("dst", {.args = {"-v"}});
  Process pipe = connect({.in = open_for_reading(here("src/a"))});
  expect_exit(pipe, kRefused);
  for (const Process* process : {&pipe, &receiver})
    expect_says(*process, "the listener is for trees, the connector for");
  EXPECT_TRUE(receiver.running());
}

TEST_F(TreesTroubles, OfTwoThatSendAreSaidByBoth) {
  Process server = serve("src");
  Process sender = send({"src"});
  for (Process* process : {&server, &sender}) {
    EXPECT_NE(process->wait(kAtOnce).value_or(Ending()).status, kSuccess);
    expect_says(*process, "this end sends; udtcat receive -l receives");
  }
}

TEST_F(TreesTroubles, OfTwoThatReceiveAreSaidByBoth) {
  Process receiver = receive_into("dst");
  Process other = receive({"src"}, "dst2");
  for (Process* process : {&receiver, &other}) {
    EXPECT_NE(process->wait(kAtOnce).value_or(Ending()).status, kSuccess);
    expect_says(*process, "this end receives; udtcat send --serve sends");
  }
}

// ---- Manifests -----------------------------------------------------------------------------------------------------

class TreesManifest : public TreesTest {
 protected:
  void SetUp() override {
    TreesTest::SetUp();
    make_tree_of_everything(here("src"));
    transfer({"src"}, {"--manifest=of-sender"}, {"--manifest=of-receiver"});
  }
  [[nodiscard]] Process verify(const std::string& manifest) const { return udtcat({"verify", manifest, "dst"}); }
};

TEST_F(TreesManifest, OfEitherEndIsWhatStandsThere) {
  for (const char* manifest : {"of-sender", "of-receiver"}) {
    Process verifying = verify(manifest);
    expect_exit(verifying, kSuccess);
    expect_says(verifying, "all as the manifest has it");
  }
  transfer({"src"}, {"--manifest=again"});
  EXPECT_EQ(read_file(here("again")).size(), read_file(here("of-sender")).size()) << "what is not sent is proved, too";
}

TEST_F(TreesManifest, NamesEachDifference) {
  const auto time = fs::last_write_time(here("dst/src/sizes/1048576"));
  change_byte(here("dst/src/sizes/1048576"), 77);
  fs::last_write_time(here("dst/src/sizes/1048576"), time);
  fs::permissions(here("dst/src/modes/file420"), fs::perms::owner_read);
  fs::remove(here("dst/src/sizes/1"));
  fs::remove(here("dst/src/links/absolute"));
  fs::create_symlink("/etc/shadow", here("dst/src/links/absolute"));
  for (const char* manifest : {"of-sender", "of-receiver"}) {
    Process verifying = verify(manifest);
    expect_exit(verifying, kReadOrWriteFailed);
    for (const char* name : {"src/sizes/1048576", "src/modes/file420", "src/sizes/1:", "src/links/absolute"})
      expect_says(verifying, name);
  }
}

TEST_F(TreesManifest, ThatWasForgedIsNone) {
  std::string text = read_file(here("of-sender"));
  const auto line = text.find("sizes/1048576");
  ASSERT_NE(line, std::string::npos);
  std::string forged = text;
  forged[line] = 'S';
  home_.write("forged", forged);
  home_.write("cut", text.substr(0, text.rfind('\n', text.size() - 2) + 1));
  for (const char* manifest : {"forged", "cut"}) {
    Process verifying = verify(manifest);
    expect_exit(verifying, kReadOrWriteFailed);
    expect_says(verifying, std::string("read ") + manifest + ", line");
  }
}

}  // namespace
}  // namespace udtcat::test::e2e
