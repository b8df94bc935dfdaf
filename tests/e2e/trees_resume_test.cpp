// SPDX-License-Identifier: Apache-2.0
/// Transfers of trees that are cut go on: nothing false gets a name, and little goes again.
#include <csignal>
#include <map>
#include <string>

#include <sys/mount.h>

#include "e2e/support/trees_cut_test.hpp"

namespace udtcat::test::e2e {
namespace {

namespace fs = std::filesystem;

TEST_F(TreesCutTest, ResumeAfterAnEndWasKilledAtAnyMoment) {
  make_source();
  expect_survives(6, 1);
}

TEST_F(TreesCutTest, ResumeAfterAnEndWasKilledAtAnyOtherMoment) {
  make_source();
  expect_survives(6, 2);
}

TEST_F(TreesCutTest, SoakOfTwoHundredKills) {
  make_source();
  for (unsigned seed = 100; seed < 120 && !HasFailure(); ++seed) {
    fs::remove_all(here("dst"));
    expect_survives(10, seed);
  }
}

TEST_F(TreesCutTest, AreCountedByTheListener) {
  make_source();
  Process receiver = receive_into("dst", {.args = {"--once", "--stats=json"}});
  Process sender = send({"src"});
  expect_exit(sender, kSuccess);
  expect_exit(receiver, kSuccess, kAtOnce);
  EXPECT_GE(figures_of(receiver).value("bytes_received", 0U), total_) << receiver.errors();
}

TEST_F(TreesCutTest, HaveTheRateOfAllSessionsAtTheListener) {
  make_source();
  Process receiver = receive_into("dst", {.args = {"--stats=json"}});
  Process first = send_slowly();
  expect_exit(first, kSuccess, kTransferLimit);
  Process second = send({"src"});
  expect_exit(second, kSuccess);
  receiver.send_signal(SIGTERM);
  expect_exit(receiver, kTerminated, kAtOnce);
  constexpr std::uint64_t kMostBitsPerSecond = kSanitized ? 30'000'000 : 480'000'000;
  EXPECT_LT(figures_of(receiver).value("rate_bits_per_second", UINT64_MAX), kMostBitsPerSecond);
}

TEST_F(TreesCutTest, ResumeAtTheSameListener) {
  make_source();
  Process receiver = receive_into("dst", {});
  Process first = send_slowly();
  ASSERT_TRUE(grows_by(total_ / 4, first, receiver)) << first.errors() << receiver.errors();
  first.send_signal(SIGKILL);
  Process second = send({"src"}, {.args = {"--stats=json"}});
  expect_exit(second, kSuccess, kTransferLimit);
  EXPECT_LE(figures_of(second).value("bytes_sent", UINT64_MAX), total_ * 3 / 4 + total_ / 100 + kAgain);
  expect_same(here("src"), here("dst/src"));
  EXPECT_FALSE(has_parts());
  EXPECT_TRUE(receiver.running()) << receiver.errors();
}

/// The listener learns of a silent sender late, and takes its transfer from another all the same.
TEST_F(TreesCutTest, ResumeWhileTheFirstSenderIsSilent) {
  make_source();
  Process receiver = receive_into("dst", {});
  Process silent = send_slowly();
  ASSERT_TRUE(grows_by(total_ / 4, silent, receiver)) << silent.errors() << receiver.errors();
  silent.send_signal(SIGSTOP);
  Process again = send({"src"}, {.args = {"--stats=json"}});
  expect_exit(again, kSuccess);
  EXPECT_LE(figures_of(again).value("bytes_sent", UINT64_MAX), total_ * 3 / 4 + total_ / 100 + kAgain);
  expect_same(here("src"), here("dst/src"));
  EXPECT_FALSE(has_parts());
  silent.send_signal(SIGCONT);
  EXPECT_NE(silent.wait(kTransferLimit).value_or(Ending()).status, kSuccess) << "its place was taken";
  expect_same(here("src"), here("dst/src"));
}

TEST_F(TreesCutTest, ReportAtBothEndsThatTheyWereReplaced) {
  make_source();
  Process receiver = receive_into("dst", {});
  Process first = send_slowly();
  ASSERT_TRUE(grows_by(total_ / 4, first, receiver)) << first.errors() << receiver.errors();
  Process again = send({"src"});
  expect_exit(again, kSuccess);
  expect_exit(first, kPeerLost);
  for (const Process* process : {&first, &receiver})
    expect_says(*process, "replaced by the same transfer, begun again from 127.0.0.1:");
}

/// Two hosts of one image have the same name, directory and files, but not the same address.
TEST_F(TreesCutTest, OfTwoIdenticalHostsAreTwo) {
  make_source();
  const std::string port = std::to_string(port_);
  Process receiver = udtcat({"receive", "-l", port, "dst"}, {.key = key_});
  Process first = send_slowly();
  ASSERT_TRUE(grows_by(total_ / 4, first, receiver)) << first.errors() << receiver.errors();
  Process other = udtcat({"send", "src", "::1", port}, {.key = key_});
  if (other.wait(kTransferLimit).value_or(Ending()).status == kUnreachable) GTEST_SKIP() << "there is no IPv6 here";
  expect_exit(other, kSuccess);
  expect_exit(first, kSuccess);
  expect_same(here("src"), here("dst/src"));
}

TEST_F(TreesCutTest, ResumeFromAServedDirectory) {
  make_source();
  Process server = serve(".", {.args = {"--rate", kSlowly}});
  Process receiver = receive({"src"}, "dst");
  ASSERT_TRUE(grows_by(total_ / 4, receiver, server)) << receiver.errors() << server.errors();
  receiver.send_signal(SIGKILL);
  expect_exit(receiver, 128 + SIGKILL, kAtOnce);
  expect_nothing_false();
  Process again = receive({"src"}, "dst", {.args = {"--stats=json"}});
  expect_exit(again, kSuccess);
  EXPECT_LE(figures_of(again).value("bytes_received", UINT64_MAX), total_ * 3 / 4 + total_ / 100 + kAgain);
  expect_same(here("src"), here("dst/src"));
  EXPECT_FALSE(has_parts());
}

/// A part is never believed: what somebody else has written there is sent again.
TEST_F(TreesCutTest, HashPartsAndDoNotTrustThem) {
  make_source();
  Process receiver = receive_into("dst");
  Process sender = send_slowly();
  ASSERT_TRUE(grows_by(total_ / 4, sender, receiver)) << sender.errors() << receiver.errors();
  sender.send_signal(SIGKILL);
  expect_exit(receiver, kPeerLost, kTransferLimit);
  for (const auto& entry : fs::recursive_directory_iterator(here("dst/.udtcat-parts")))
    if (entry.is_regular_file() && entry.file_size() > 0) change_byte(entry.path(), 0);
  transfer({"src"});
  expect_same(here("src"), here("dst/src"));
}

TEST_F(TreesCutTest, ResumeAfterSigtermOfTheSender) {
  make_source();
  if (kSanitized) {
    write_random(here("src/big3"), 3, 32 * kMiB);
    total_ += 32 * kMiB;
  }
  Process receiver = receive_into("dst");
  // So fast that what is queued leaves before the CLOSE within 400 ms: up to eight blocks of 256 KiB.
  Process sender = send({"src"}, {.args = {"--rate", kSanitized ? "100M" : kSlowly, "--stats=json"}});
  ASSERT_TRUE(grows_by(total_ / 4, sender, receiver)) << sender.errors() << receiver.errors();
  sender.send_signal(SIGTERM);
  expect_exit(sender, kTerminated, kAtOnce);
  expect_exit(receiver, kPeerLost, kAtOnce);
  expect_says(receiver, "SIGTERM");
  for (const Process* process : {&sender, &receiver}) expect_says(*process, "the same command goes on");
  EXPECT_TRUE(has_parts());
  expect_nothing_false();
  expect_goes_on();
}

TEST_F(TreesCutTest, ResumeAfterSigtermOfTheReceiver) {
  make_source();
  Process receiver = receive_into("dst");
  Process sender = send_slowly();
  ASSERT_TRUE(grows_by(total_ / 4, sender, receiver)) << sender.errors() << receiver.errors();
  receiver.send_signal(SIGTERM);
  expect_exit(receiver, kTerminated, kAtOnce);
  expect_exit(sender, kPeerLost, kAtOnce);
  expect_says(sender, "SIGTERM");
  EXPECT_TRUE(has_parts());
  expect_nothing_false();
  expect_goes_on();
}

/// A source that somebody writes to while it is read: either of its contents, or named; never a mix.
TEST_F(TreesCutTest, BringTheNewContentOfAChangedFileOrReportIt) {
  make_source();
  Process receiver = receive_into("dst");
  Process sender = send_slowly();
  ASSERT_TRUE(grows_by(scaled(16 * kMiB), sender, receiver)) << sender.errors() << receiver.errors();
  std::map<std::string, std::string> before;
  for (const std::string file : {"src/big1", "src/big2"}) {
    before[file] = read_file(here(file));
    for (const std::uint64_t at : {std::uint64_t{0}, scaled(64 * kMiB) - 1}) change_byte(here(file), at);
  }
  const auto ending = sender.wait(kTransferLimit);
  ASSERT_TRUE(ending) << sender.errors();
  expect_exit(receiver, ending->status, kAtOnce);
  for (const auto& [file, old] : before) {
    if (!fs::exists(here("dst/" + file))) continue;
    const auto arrived = read_file(here("dst/" + file));
    EXPECT_TRUE(arrived == old || arrived == read_file(here(file))) << file << " is neither of its contents";
  }
  if (ending->status != kSuccess) {
    EXPECT_EQ(ending->status, kReadOrWriteFailed) << sender.errors();
    for (const Process* process : {&sender, &receiver}) expect_says(*process, "src/big");
  }
  transfer({"src"});
  expect_same(here("src"), here("dst/src"));
}

TEST_F(TreesCutTest, ResumeWithAHigherLimit) {
  make_source();
  Process receiver = receive_into("dst", {.args = {"--once", "--limit", std::to_string(total_ / 2)}});
  Process sender = send({"src"});
  expect_exit(sender, kReadOrWriteFailed);
  expect_exit(receiver, kReadOrWriteFailed, kAtOnce);
  for (const Process* process : {&sender, &receiver}) expect_says(*process, "--limit");
  EXPECT_LE(held(), total_ / 2);
  expect_nothing_false();
  expect_goes_on();
}

/// A small file system of the test's own at "dst".
class TreesOnASmallDisk : public TreesCutTest {
 protected:
  void SetUp() override {
    TreesCutTest::SetUp();
    if (IsSkipped()) return;
    fs::create_directory(here("dst"));
    if (::mount("tmpfs", here("dst").c_str(), "tmpfs", 0, "size=16m") != 0)
      GTEST_SKIP() << "this user may not mount a small disk";
    is_mounted_ = true;
  }
  void TearDown() override {
    if (!is_mounted_) return;
    EXPECT_EQ(::umount2(here("dst").c_str(), MNT_DETACH), 0);
  }
  void make_room() const { ASSERT_EQ(::mount("tmpfs", here("dst").c_str(), "tmpfs", MS_REMOUNT, "size=512m"), 0); }

 private:
  bool is_mounted_ = false;
};

TEST_F(TreesOnASmallDisk, EndBothEndsAndResumeOnceThereIsSpace) {
  fs::create_directory(here("src"));
  write_random(here("src/big"), 1, total_ = 48 * kMiB);
  Process receiver = receive_into("dst");
  Process sender = send({"src"});
  expect_exit(sender, kReadOrWriteFailed);
  expect_exit(receiver, kReadOrWriteFailed, kAtOnce);
  for (const Process* process : {&sender, &receiver}) expect_says(*process, "no space left on device");
  EXPECT_FALSE(fs::exists(here("dst/src/big")));
  make_room();
  expect_goes_on();
}

}  // namespace
}  // namespace udtcat::test::e2e
