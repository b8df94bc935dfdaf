// SPDX-License-Identifier: Apache-2.0
/// Paths as they were meant, files as they are, and what becomes of both while a sender reads them.
#include <stop_token>
#include <thread>

#include <gmock/gmock.h>
#include <unistd.h>

#include "e2e/support/trees_test.hpp"

namespace udtcat::test::e2e {
namespace {

namespace fs = std::filesystem;

class TreesSources : public TreesTest {
 protected:
  /// Ends before anything is dialled.
  void expect_refused(const Arguments& paths, int status, const std::string& says,
                      std::source_location where = std::source_location::current()) const {
    Process sender = send(paths);
    expect_exit(sender, status, kTransferLimit, where);
    expect_says(sender, says, where);
  }
  /// `sender` ends with 7 as the receiver does, and says this.
  void expect_missed(const Arguments& paths, const std::string& says, End end = {}) const {
    Process receiver = receive_into("dst");
    Process sender = send(paths, std::move(end));
    expect_exit(sender, kReadOrWriteFailed);
    expect_exit(receiver, kReadOrWriteFailed, kAtOnce);
    expect_says(sender, says);
    expect_says(receiver, says);
  }
};

TEST_F(TreesSources, ThatEndInASlashAreDirectories) {
  fs::create_directory(here("real"));
  home_.write("real/f", "content");
  fs::create_directory_symlink("real", here("data"));
  fs::create_symlink("nowhere", here("dang"));
  transfer({"data/"});
  EXPECT_TRUE(fs::symlink_status(here("dst/data")).type() == fs::file_type::directory);
  EXPECT_EQ(read_file(here("dst/data/f")), "content");
  expect_refused({"dang/"}, kReadOrWriteFailed, "no such file or directory");
  expect_refused({"real/f/"}, kReadOrWriteFailed, "not a directory");
  home_.write("list", std::string_view("data/f\0", 7));
  expect_missed({"--files-from", "list"}, "data is a symbolic link; nothing is read through it");
}

TEST_F(TreesSources, HardLinkedMeanwhileArrive) {
  write_random(here("f"), 1, 48'000'000);
  Process receiver = receive_into("dst");
  Process sender = send({"f"}, {.args = {"--rate=100M"}});
  std::jthread linking([this](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      fs::create_hard_link(here("f"), here("g"));
      fs::remove(here("g"));
      let_pass(std::chrono::milliseconds(50));
    }
  });
  expect_exit(sender, kSuccess);
  expect_exit(receiver, kSuccess, kAtOnce);
  EXPECT_EQ(read_file(here("dst/f")), read_file(here("f")));
}

/// A file system that tells of holes where there is data.
TEST_F(TreesSources, WithHolesThatTheirBlocksContradictArriveComplete) {
  write_random(here("f"), 1, 3'000'000);
  for (const char* error : {"ENXIO", "EINVAL"}) {
    Process receiver = receive_into("dst");
    Process sender({.argv = {"strace", "-f", "-qqo", "/dev/null", "-e", std::string("inject=lseek:error=") + error,
                             UDTCAT_BINARY, "send", "f", host_, std::to_string(port_)},
                    .environment = {"HOME=" + home_.path().string(), "UDTCAT_KEY=" + key_},
                    .working_directory = home_.path()});
    const auto ending = sender.wait(kTransferLimit).value_or(Ending());
    if (ending.status != kSuccess && sender.errors().find("strace") != std::string::npos)
      GTEST_SKIP() << "strace cannot be had";
    EXPECT_EQ(ending.status, kSuccess) << sender.errors();
    expect_exit(receiver, kSuccess, kAtOnce);
    EXPECT_TRUE(read_file(here("dst/f")) == read_file(here("f"))) << error;
    fs::remove(here("dst/f"));
  }
}

TEST_F(TreesSources, InManyDirectoriesNeedFewDescriptors) {
  std::string script = "ulimit -n 64; exec \"$0\" send";
  for (int number = 0; number < 300; ++number) {
    const std::string name = std::to_string(number);
    fs::create_directories(here("d/" + name));
    home_.write("d/" + name + "/f" + name, name);
  }
  script += " d/*/f* " + host_ + ' ' + std::to_string(port_);
  Process receiver = receive_into("dst");
  Process sender({.argv = {"sh", "-c", script, UDTCAT_BINARY},
                  .environment = {"HOME=" + home_.path().string(), "UDTCAT_KEY=" + key_},
                  .working_directory = home_.path()});
  expect_exit(sender, kSuccess);
  expect_exit(receiver, kSuccess, kAtOnce);
  EXPECT_EQ(std::distance(fs::directory_iterator(here("dst")), fs::directory_iterator()), 300);
}

}  // namespace
}  // namespace udtcat::test::e2e
