// SPDX-License-Identifier: Apache-2.0
/// Trees of which some names cannot be had: those are named at both ends, and the rest stands.
#include <fstream>
#include <stop_token>
#include <thread>

#include <gtest/gtest.h>

#include "e2e/support/trees_test.hpp"

namespace udtcat::test::e2e {
namespace {

namespace fs = std::filesystem;

class TreesWithMissingNames : public TreesTest {
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

TEST_F(TreesWithMissingNames, FileInTheWayOfADirectoryCostsWhatIsBelowIt) {
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

TEST_F(TreesWithMissingNames, MissingPathIsReported) {
  Process sender = send({"src", "nothing"});
  Process receiver = receive_into("dst");
  expect_named(sender, receiver, "nothing", {"src/a", "src/sub/b", "src/z"});
}

/// A directory's place is taken by a link that leads out.
TEST_F(TreesWithMissingNames, LinkThatLeadsOutIsReportedAndNotFollowed) {
  fs::create_directories(here("outside/sub"));
  for (const char* trap : {"dst/src", "dst/src/sub"}) {
    fs::remove_all(here("dst"));
    fs::create_directories(here(trap).parent_path());
    fs::create_symlink(here("outside"), here(trap));
    Process receiver = receive_into("dst");
    Process sender = send({"src"});
    for (Process* process : {&sender, &receiver}) {
      expect_exit(*process, kReadOrWriteFailed);
      expect_says(*process, std::string("make the directory ") + trap +
                                ": there is a symbolic link, and nothing is written through it");
    }
    EXPECT_TRUE(fs::is_symlink(here(trap)));
    EXPECT_TRUE(fs::is_empty(here("outside/sub")));
    EXPECT_EQ(std::distance(fs::directory_iterator(here("outside")), fs::directory_iterator()), 1) << trap;
  }
}

/// A source that is written all the while it is read.
class TreesChanging : public TreesTest {
 protected:
  static constexpr std::uint64_t kBytes = 64 * kMiB;  // also where programs are slow: more than all queues hold
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

TEST_F(TreesChanging, WhileTheyAreReadArriveInOneState) {
  fs::create_directory(here("src"));
  home_.write("src/file", content('A'));
  Process receiver = receive_into("dst");
  Process sender = send({"src"}, {.args = {"--rate=200M"}});
  ASSERT_TRUE(arrives(kBytes / 8)) << sender.errors();
  rewrite('B');
  expect_exit(sender, kSuccess);
  expect_exit(receiver, kSuccess, kAtOnce);
  const std::string arrived = read_file(here("dst/src/file"));
  EXPECT_EQ(arrived.size(), kBytes);
  EXPECT_EQ(arrived.find_first_not_of(arrived.front()), std::string::npos) << "two states in one file";
  EXPECT_EQ(arrived.front(), 'B') << "a change is read again";
}

TEST_F(TreesChanging, WithoutEndAreReportedAndNeverMixed) {
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

}  // namespace
}  // namespace udtcat::test::e2e
