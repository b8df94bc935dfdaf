// SPDX-License-Identifier: Apache-2.0
/// An end says what it cannot have before it dials the other one, and takes a list as what it says.
#include "e2e/support/trees_test.hpp"

namespace udtcat::test::e2e {
namespace {

class TreesBeginning : public TreesTest {
 protected:
  void SetUp() override {
    TreesTest::SetUp();
    home_.write("file", "stands");
  }
  /// An end that dials would say that nobody listens, with another status.
  static void expect_said(Process process, int status, const std::string& text,
                          std::source_location where = std::source_location::current()) {
    expect_exit(process, status, kAtOnce, where);
    expect_says(process, text, where);
  }
  [[nodiscard]] Process send_listed(const std::string& list) const {
    home_.write("list", list);
    return send({"--files-from", "list"});
  }
};

TEST_F(TreesBeginning, SaysThatAPathIsNotThere) {
  expect_said(send({"nothing"}), kReadOrWriteFailed, "send nothing: no such file or directory");
  expect_said(send({"file/nothing"}), kReadOrWriteFailed, "send file/nothing: not a directory");
  expect_said(udtcat({"send", "nothing", "nobody@127.0.0.1:there"}), kReadOrWriteFailed, "send nothing: no such file");
}

TEST_F(TreesBeginning, ChecksItsPathsWithoutDialling) {
  const auto check = [&](const Arguments& paths) { return send(paths, {.args = {"--check"}}); };
  Process all_there = check({"file"});
  expect_exit(all_there, kSuccess);
  expect_said(check({"file", "nothing"}), kReadOrWriteFailed, "send nothing: no such file or directory");
  expect_said(check({"--files-from", "nothing"}), kReadOrWriteFailed, "nothing: no such file or directory");
}

TEST_F(TreesBeginning, SaysThatADirectoryOrAManifestCannotBeMade) {
  expect_said(receive({}, "no/where"), kReadOrWriteFailed, "make the directory no/where: no such file or directory");
  expect_said(receive({}, "dst", {.args = {"--manifest", "no/where"}}), kReadOrWriteFailed, "no/where");
  expect_said(send({"file"}, {.args = {"--manifest", "no/where"}}), kReadOrWriteFailed, "no/where");
  expect_said(receive_into("dst", {.args = {"--manifest", "no/where"}}), kReadOrWriteFailed, "no/where");
  expect_said(receive_into("no/where"), kReadOrWriteFailed, "no/where");
  expect_said(serve("nowhere"), kReadOrWriteFailed, "nowhere");
}

TEST_F(TreesBeginning, TakesNoListThatIsCutWithinItsLastName) {
  for (const std::string& list : {std::string("file"), std::string("file\0fil", 8), std::string("\0fil", 4)})
    expect_said(send_listed(list), kUsage, "its last name does not end with NUL");
}

TEST_F(TreesBeginning, SaysThatAListNamesNothing) {
  for (const std::string& list : {std::string(), std::string(2, '\0')}) {
    Process receiver = receive_into("dst");
    Process sender = send_listed(list);
    expect_exit(sender, kSuccess);
    expect_exit(receiver, kSuccess, kAtOnce);
    expect_says(sender, "the list of files list names nothing");
  }
}

}  // namespace
}  // namespace udtcat::test::e2e
