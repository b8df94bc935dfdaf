// SPDX-License-Identifier: Apache-2.0
/// `udtcat send` and `udtcat receive`, killed and stopped in the middle: nothing half stands at a name, the same command
/// goes on, and hardly anything goes over the path twice.
#include <algorithm>
#include <csignal>
#include <random>

#include <unistd.h>

#include <gmock/gmock.h>

#include "e2e/support/trees_test.hpp"

namespace udtcat::test::e2e {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kBigBytes = scaled(128 * kMiB);
constexpr std::uint64_t kInFlightBytes = 8 * kMiB;  // spec: docs/man/udtcat.1, what an end holds of a stream
enum class Victim : std::uint8_t { sender, receiver };

/// What becomes of which tree when.
struct Death {
  Victim victim = Victim::sender;
  bool is_big = true;   ///< one big file, or else many
  double moment = 0.5;  ///< the share of it that has arrived by then
};
void PrintTo(const Death& death, std::ostream* out) {
  *out << (death.victim == Victim::sender ? "the sender" : "the receiver") << " dies of "
       << (death.is_big ? "a big file" : "many files") << " at " << death.moment;
}

Death death_of(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  return {.victim = seed % 2 == 0 ? Victim::sender : Victim::receiver,
          .is_big = seed / 2 % 2 == 0,
          .moment = std::uniform_real_distribution<double>(0.02, 0.95)(random)};
}

/// Bytes of data in files, parts of them included.
std::uint64_t bytes_within(const fs::path& directory) {
  std::uint64_t total = 0;
  std::error_code gone;  // a part gets its name meanwhile
  for (fs::recursive_directory_iterator entry(directory, gone), end; !gone && entry != end; entry.increment(gone)) {
    std::error_code moved;
    if (entry->is_regular_file(moved)) total += std::min(allocated_bytes(entry->path()), entry->file_size(moved));
  }
  return total;
}

class TreesResume : public TreesTest {
 protected:
  /// Makes "src"; how many bytes it has.
  [[nodiscard]] std::uint64_t make_source(bool is_big) const {
    fs::create_directory(here("src"));
    if (!is_big) return write_many(here("src"), scaled_count(1000), 80 * kKiB);
    write_random(here("src/big"), 1, kBigBytes);
    return kBigBytes;
  }
  /// Slow enough that moments can be told apart.
  [[nodiscard]] Process send_slowly(End end = {.args = {"--rate=600M", "--stats=json"}}) const {
    return send({"src"}, std::move(end));
  }
  [[nodiscard]] Process listen_for_trees(Arguments args = {}) const { return receive_into("dst", {.args = args}); }
  void await_arrival(std::uint64_t bytes, const Process& sender) const {
    EXPECT_TRUE(eventually(kTransferLimit, [&] { return bytes_within(here("dst")) >= bytes; })) << sender.errors();
  }
  /// All that has its name is as in the source.
  void expect_nothing_half() const {
    if (!fs::exists(here("dst/src"))) return;
    for (const auto& entry : fs::recursive_directory_iterator(here("dst/src"))) {
      if (!entry.is_regular_file()) continue;
      const fs::path source = here("src") / entry.path().lexically_relative(here("dst/src"));
      EXPECT_EQ(digest_of_prefix(entry.path(), UINT64_MAX), digest_of_prefix(source, UINT64_MAX)) << entry.path();
    }
  }
  void expect_all_there() const {
    expect_same(here("src"), here("dst/src"));
    EXPECT_FALSE(has_parts());
  }
  /// One life that is cut, and another.
  void die_and_go_on(const Death& death) const;
};

void TreesResume::die_and_go_on(const Death& death) const {
  const std::uint64_t total = make_source(death.is_big);
  std::optional<Process> listener(listen_for_trees());
  std::uint64_t arrived = 0;
  {
    Process sender = send_slowly();
    await_arrival(static_cast<std::uint64_t>(static_cast<double>(total) * death.moment), sender);
    (death.victim == Victim::sender ? sender : *listener).send_signal(SIGKILL);
    if (death.victim == Victim::receiver) {
      expect_exit(*listener, 128 + SIGKILL, kAtOnce);
      listener.emplace(listen_for_trees());
      expect_exit(sender, kPeerLost, kTransferLimit);
    } else {
      expect_exit(sender, 128 + SIGKILL, kAtOnce);
    }
    expect_nothing_half();
    arrived = bytes_within(here("dst"));
  }
  Process again = send_slowly({.args = {"--stats=json"}});
  expect_exit(again, kSuccess);
  expect_all_there();
  const std::uint64_t sent = figures_of(again).value("bytes_sent", UINT64_MAX);
  EXPECT_LE(arrived + sent, total + total / 100 + kInFlightBytes)
      << arrived << " had arrived, " << sent << " were sent";
  EXPECT_TRUE(listener->running()) << listener->errors();
  listener->send_signal(SIGTERM);
  expect_exit(*listener, kTerminated, kAtOnce);
}

class TreesResumeAfter : public TreesResume, public testing::WithParamInterface<Death> {};

TEST_P(TreesResumeAfter, ADeathGoOnWhereTheyWere) { die_and_go_on(GetParam()); }

std::vector<Death> deaths() {
  std::vector<Death> all;
  for (std::uint64_t seed = 0; seed < 12; ++seed) all.push_back(death_of(seed));
  return all;
}
INSTANTIATE_TEST_SUITE_P(Of, TreesResumeAfter, testing::ValuesIn(deaths()), [](const auto& info) {
  const Death& death = info.param;
  return std::string(death.victim == Victim::sender ? "TheSender" : "TheReceiver") +
         (death.is_big ? "OfABigFile" : "OfManyFiles") + std::to_string(info.index);
});

TEST_F(TreesResume, AfterManyDeaths_Soak) {
  for (std::uint64_t seed = 100; seed < 300 && !HasFailure(); ++seed) {
    const testing::ScopedTrace trace(__FILE__, __LINE__, testing::PrintToString(death_of(seed)));
    die_and_go_on(death_of(seed));
    for (const char* name : {"src", "dst", "cache"}) fs::remove_all(here(name));
  }
}

/// One transfer that dies again and again still comes to its end, and forgets nothing of what it has had.
TEST_F(TreesResume, AfterDeathUponDeath) {
  const std::uint64_t total = make_source(true);
  const Process listener = listen_for_trees();
  for (const double moment : {0.2, 0.4, 0.6, 0.8}) {
    Process sender = send_slowly();
    await_arrival(static_cast<std::uint64_t>(static_cast<double>(total) * moment), sender);
    sender.send_signal(SIGKILL);
    expect_exit(sender, 128 + SIGKILL, kAtOnce);
  }
  Process last = send_slowly({.args = {"--stats=json"}});
  expect_exit(last, kSuccess);
  expect_all_there();
  EXPECT_LE(figures_of(last).value("bytes_sent", UINT64_MAX), total / 4 + kInFlightBytes);
}

TEST_F(TreesResume, OfAServedTree) {
  const std::uint64_t total = make_source(true);
  const Process server = serve(".", {.args = {"--rate=600M"}});
  Process receiver = receive({"src"}, "dst");
  await_arrival(total / 2, receiver);
  receiver.send_signal(SIGKILL);
  expect_exit(receiver, 128 + SIGKILL, kAtOnce);
  expect_nothing_half();
  Process again = receive({"src"}, "dst", {.args = {"--stats=json"}});
  expect_exit(again, kSuccess);
  expect_all_there();
  EXPECT_LE(figures_of(again).value("bytes_received", UINT64_MAX), total / 2 + kInFlightBytes);
}

TEST_F(TreesResume, WhileTheOldSenderHasOnlyFallenSilent) {
  const std::uint64_t total = make_source(true);
  const Process listener = listen_for_trees();
  Process silent = send_slowly();
  await_arrival(total / 2, silent);
  silent.send_signal(SIGSTOP);
  Process again = send_slowly({.args = {"--stats=json"}});
  expect_exit(again, kSuccess);
  expect_all_there();
  EXPECT_LE(figures_of(again).value("bytes_sent", UINT64_MAX), total / 2 + kInFlightBytes);
  silent.send_signal(SIGCONT);
  EXPECT_NE(silent.wait(kTransferLimit).value_or(Ending()).status, kSuccess) << "its place was taken";
  expect_all_there();
}

/// A part is never believed: what was written by somebody else, or not at all, is sent again.
TEST_F(TreesResume, DoesNotBelieveWhatLiesThere) {
  const std::uint64_t total = make_source(true);
  const Process listener = listen_for_trees();
  Process sender = send_slowly();
  await_arrival(total / 2, sender);
  sender.send_signal(SIGKILL);
  expect_exit(sender, 128 + SIGKILL, kAtOnce);
  for (const auto& entry : fs::recursive_directory_iterator(here("dst/.udtcat-parts")))
    if (entry.is_regular_file() && entry.file_size() > total / 4) change_byte(entry.path(), total / 4);
  Process again = send_slowly({.args = {}});
  expect_exit(again, kSuccess);
  expect_all_there();
}

// ---- Signals -------------------------------------------------------------------------------------------------------

class TreesStopped : public TreesResume {
 protected:
  void SetUp() override {
    TreesResume::SetUp();
    if (IsSkipped()) return;
    total_ = make_source(true);
  }
  void expect_goes_on(const Arguments& args_of_listener = {"--once"}) const {
    EXPECT_TRUE(has_parts()) << "what has come is kept";
    expect_nothing_half();
    Process listener = listen_for_trees(args_of_listener);
    Process again = send_slowly({.args = {"--stats=json"}});
    expect_exit(again, kSuccess);
    expect_all_there();
    EXPECT_LE(figures_of(again).value("bytes_sent", UINT64_MAX), total_ / 2 + kInFlightBytes);
  }
  std::uint64_t total_ = 0;
};

TEST_F(TreesStopped, AtTheSenderKeepWhatHasCome) {
  Process receiver = listen_for_trees({"--once"});
  Process sender = send_slowly();
  await_arrival(total_ / 2, sender);
  sender.send_signal(SIGTERM);
  expect_exit(sender, kTerminated, kAtOnce);
  expect_exit(receiver, kPeerLost, kAtOnce);
  expect_says(receiver, "interrupted");
  expect_goes_on();
}

TEST_F(TreesStopped, AtTheReceiverKeepWhatHasCome) {
  Process receiver = listen_for_trees({"--once"});
  Process sender = send_slowly();
  await_arrival(total_ / 2, sender);
  receiver.send_signal(SIGTERM);
  expect_exit(receiver, kTerminated, kAtOnce);
  expect_exit(sender, kPeerLost, kAtOnce);
  expect_says(sender, "interrupted");
  expect_goes_on();
}

TEST_F(TreesStopped, ByInterruptAsWell) {
  Process receiver = listen_for_trees({"--once"});
  Process sender = send_slowly();
  await_arrival(total_ / 2, sender);
  sender.send_signal(SIGINT);
  expect_exit(sender, kInterrupted, kAtOnce);
  expect_exit(receiver, kPeerLost, kAtOnce);
  expect_goes_on();
}

/// A disk that is full ends both with the reason; once there is space the same command goes on.
TEST_F(TreesStopped, ByAFullDiskGoOnWhereThereIsSpace) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may mount a small disk";
  const std::string script = R"(
set -u
mkdir dst; mount -t tmpfs -o size=$HALF tmpfs dst || exit 99
receive() { "$UDTCAT" receive -l "$PLACE" dst --once; }
send() { "$UDTCAT" send src ${PLACE%:*} ${PLACE#*:} "$@"; }
receive 2> full.receiver & send 2> full.sender; echo sender $?; wait $!; echo receiver $?
mount -o remount,size=$DOUBLE dst
receive & send --stats=json; echo sender $?; wait $!; echo receiver $?
rsync -aHXn --checksum --delete --itemize-changes src/ dst/src/; ls -A dst
)";
  const Ran ran = run({.argv = {"unshare", "--mount", "bash", "-c", script},
                       .environment = {"HOME=" + home_.path().string(), "UDTCAT=" UDTCAT_BINARY, "UDTCAT_KEY=" + key_,
                                       "PLACE=127.0.0.1:" + std::to_string(port_), "HALF=" + std::to_string(total_ / 2),
                                       "DOUBLE=" + std::to_string(total_ * 2)},
                       .working_directory = home_.path()},
                      2 * kTransferLimit);
  if (ran.status == 99) GTEST_SKIP() << "no small disk can be mounted: " << ran.errors;
  EXPECT_EQ(ran.output, "sender 7\nreceiver 7\nsender 0\nreceiver 0\nsrc\n") << ran.errors;
  for (const char* name : {"full.sender", "full.receiver"})
    EXPECT_THAT(read_file(here(name)), testing::ContainsRegex("[Nn]o space left on device")) << name;
  const auto at = ran.errors.find("{\"bytes_sent\":");
  ASSERT_NE(at, std::string::npos) << ran.errors;
  EXPECT_LE(std::stoull(ran.errors.substr(at + 14)), total_ / 2 + kInFlightBytes);
}

}  // namespace
}  // namespace udtcat::test::e2e
