// SPDX-License-Identifier: Apache-2.0
/// Refusals of trees: each is named at both ends, the rest stands, and nothing is written outside the directory.
#include <csignal>
#include <regex>

#include <sys/stat.h>

#include <gtest/gtest.h>

#include "e2e/support/trees_test.hpp"

namespace udtcat::test::e2e {
namespace {

namespace fs = std::filesystem;

class TreesRefusals : public TreesTest {
 protected:
  void SetUp() override {
    TreesTest::SetUp();
    fs::create_directories(here("src/below"));
    home_.write("src/first", "stands");
    home_.write("src/below/second", "stands too");
  }
  /// Both end with 7, and both say `text`.
  void expect_both_say(const std::string& text, std::source_location where = std::source_location::current()) const {
    Process receiver = receive_into("dst");
    Process sender = send({"src"});
    expect_exit(sender, kReadOrWriteFailed, kTransferLimit, where);
    expect_exit(receiver, kReadOrWriteFailed, kAtOnce, where);
    for (const Process* process : {&sender, &receiver}) expect_says(*process, text, where);
  }
  void expect_the_rest_stands() const {
    EXPECT_EQ(read_file(here("dst/src/first")), "stands");
    EXPECT_EQ(read_file(here("dst/src/below/second")), "stands too");
  }
};

TEST_F(TreesRefusals, DirectoryInTheWayOfAFileCostsThatFileAlone) {
  home_.write("src/taken", "has no place");
  fs::create_directories(here("dst/src/taken"));
  home_.write("dst/src/taken/of somebody", "stays");
  expect_both_say("src/taken");
  expect_the_rest_stands();
  EXPECT_EQ(read_file(here("dst/src/taken/of somebody")), "stays");
}

TEST_F(TreesRefusals, UnreadableFileCostsThatFileAlone) {
  home_.write("src/secret", "of another", 0000);
  for (const char* path : {"", "src", "src/below"}) fs::permissions(here(path), fs::perms(0755));
  for (const char* file : {"src/first", "src/below/second"}) fs::permissions(here(file), fs::perms(0644));
  Process receiver = receive_into("dst");
  // Root without the rights by which it reads everything: the program need not be another user's to run.
  Arguments words;
  if (::geteuid() == 0)
    words = {"setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-dac_override,-dac_read_search",
             "--"};
  for (const std::string& word :
       {std::string(UDTCAT_BINARY), std::string("send"), std::string("src"), host_, std::to_string(port_)})
    words.push_back(word);
  Process sender({.argv = std::move(words),
                  .environment = {"HOME=" + home_.path().string(), "UDTCAT_KEY=" + key_},
                  .working_directory = home_.path()});
  expect_exit(sender, kReadOrWriteFailed);
  expect_exit(receiver, kReadOrWriteFailed, kAtOnce);
  for (const Process* process : {&sender, &receiver}) expect_says(*process, "src/secret");
  expect_the_rest_stands();
  EXPECT_FALSE(fs::exists(here("dst/src/secret")));
}

TEST_F(TreesRefusals, SymbolicLinkOutOfTheServedDirectoryIsRefused) {
  fs::create_directory(here("outside"));
  home_.write("outside/file", "of the server's");
  fs::create_directory_symlink("../outside", here("src/leads out"));
  Process server = serve("src", {});
  Process receiver = receive({"leads out/file"}, "dst");
  expect_exit(receiver, kReadOrWriteFailed);
  EXPECT_FALSE(fs::exists(here("dst/file")));
}

TEST_F(TreesRefusals, PipeIsRefusedAndTheListenerGoesOn) {
  Process receiver = receive_into("dst", {});
  Process pipe = connect();
  expect_exit(pipe, kRefused);
  expect_says(pipe, "the listener is for trees, which is dialled by udtcat send or receive with HOST PORT");
  Process sender = send({"src"});
  expect_exit(sender, kSuccess);
  expect_the_rest_stands();
}

TEST_F(TreesRefusals, TwoSendersAndTwoReceiversAreRefused) {
  for (const bool sends : {true, false}) {
    Process listener = sends ? serve("src") : receive_into("dst");
    Process connector = sends ? send({"src"}) : receive({"src"}, "other");
    expect_exit(connector, kReadOrWriteFailed);
    expect_exit(listener, kReadOrWriteFailed, kAtOnce);
    expect_says(connector, sends ? "the listener sends, too: udtcat receive HOST PORT takes from it"
                                 : "the listener receives, too: udtcat send PATH HOST PORT sends to it");
  }
}

// ---- Manifests -----------------------------------------------------------------------------------------------------

class TreesManifest : public TreesRefusals {
 protected:
  void SetUp() override {
    TreesRefusals::SetUp();
    write_random(here("src/big"), 1, 3 * kMiB);
    home_.write("src/two\nlines", "x");
    transfer({"src"}, {"--manifest", "of sender"}, {"--manifest", "of receiver"});
  }
  [[nodiscard]] Process verify(const std::string& manifest) const { return udtcat({"verify", manifest, "dst"}); }
  void expect_difference(const std::string& name, std::source_location where = std::source_location::current()) const {
    for (const char* manifest : {"of sender", "of receiver"}) {
      Process verifier = verify(manifest);
      expect_exit(verifier, kReadOrWriteFailed, kTransferLimit, where);
      expect_says(verifier, name, where);
    }
  }
};

TEST_F(TreesManifest, OfEitherEndVerifies) {
  for (const char* manifest : {"of sender", "of receiver"}) {
    Process verifier = verify(manifest);
    expect_exit(verifier, kSuccess);
    expect_says(verifier, "all as the manifest has it");
  }
}

TEST_F(TreesManifest, ReportsAChangedByte) {
  change_byte(here("dst/src/big"), kMiB + 1);
  fs::last_write_time(here("dst/src/big"), fs::last_write_time(here("src/big")));
  expect_difference("src/big: its content has changed");
}

TEST_F(TreesManifest, EscapesANameThatNoTerminalCanShow) {
  fs::remove(here("dst/src/two\nlines"));
  expect_difference("src/two\\012lines: it is missing");
}

TEST_F(TreesManifest, ThatIsMissingIsAUsageError) {
  Process without_manifest = verify("mislaid");
  expect_exit(without_manifest, kUsage, kAtOnce);
  expect_says(without_manifest, "mislaid");
  Process without_tree = udtcat({"verify", "of sender", "mislaid"});
  expect_exit(without_tree, kUsage, kAtOnce);
  for (const char* none : {"src", "src/below/second"}) {
    Process no_manifest = verify(none);
    expect_exit(no_manifest, kUsage, kAtOnce);
    expect_says(no_manifest, std::string("read ") + none);
  }
}

TEST_F(TreesManifest, WithAForgedLineIsRefused) {
  for (const char* manifest : {"of sender", "of receiver"}) {
    std::string text = read_file(here(manifest));
    const std::size_t mode = text.find(" 0600 ");
    ASSERT_NE(mode, std::string::npos) << text;
    home_.write("forged mode", text.substr(0, mode) + " 0644 " + text.substr(mode + 6));
    home_.write("forged kind", std::regex_replace(text, std::regex("\nfile "), "\nvile "));
    home_.write("cut", text.substr(0, text.rfind("\nend ") + 1));
    for (const char* forged : {"forged mode", "forged kind", "cut"}) {
      Process verifier = verify(forged);
      expect_exit(verifier, kReadOrWriteFailed);
      expect_says(verifier, std::string("read ") + forged);
    }
  }
}

}  // namespace
}  // namespace udtcat::test::e2e
