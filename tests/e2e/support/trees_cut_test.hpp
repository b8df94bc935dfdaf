// SPDX-License-Identifier: Apache-2.0
/// Transfers of trees that somebody cuts in the middle.
#pragma once

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <random>
#include <source_location>
#include <string>

#include "e2e/support/trees_test.hpp"

namespace udtcat::test::e2e {

/// The bytes that a directory's files take of the disk. They may come and go meanwhile.
[[nodiscard]] inline std::uint64_t held_bytes(const std::filesystem::path& directory) {
  namespace fs = std::filesystem;
  std::uint64_t bytes = 0;
  std::error_code gone;
  fs::recursive_directory_iterator entries(directory, gone);
  for (; !gone && entries != fs::recursive_directory_iterator(); entries.increment(gone)) {
    std::error_code of_entry;
    if (fs::is_regular_file(entries->symlink_status(of_entry))) bytes += allocated_bytes(entries->path());
  }
  return bytes;
}

class TreesCutTest : public TreesTest {
 protected:
  enum class Victim { sender, receiver };

  /// A rate that leaves time to look; the moments are seeded, not timed.
  static constexpr auto kSlowly = kSanitized ? "25M" : "400M";

  void make_source() {
    total_ = write_many(here("src"), scaled_count(100), 200 * kKiB);
    for (const int number : {1, 2}) {
      write_random(here("src/big" + std::to_string(number)), static_cast<std::uint64_t>(number), scaled(64 * kMiB));
      total_ += scaled(64 * kMiB);
    }
  }
  [[nodiscard]] std::uint64_t held() const { return held_bytes(here("dst")); }
  [[nodiscard]] Process send_slowly() const { return send({"src"}, {.args = {"--rate", kSlowly, "--stats=json"}}); }
  /// Waits until so much more is there. False where an end has ended before.
  [[nodiscard]] bool grows_by(std::uint64_t bytes, Process& sender, Process& receiver) const {
    const std::uint64_t goal = held() + bytes;
    bool has_ended = false;
    const bool has_grown = eventually(kTransferLimit, [&] {
      has_ended = !sender.running() || !receiver.running();
      return has_ended || held() >= goal;
    });
    return has_grown && !has_ended;
  }
  /// Begins, or goes on with, the transfer of "src", and kills an end when `growth` more bytes are there.
  void cut(Victim victim, std::uint64_t growth) const {
    const std::uint64_t before = held();
    Process receiver = receive_into("dst");
    Process sender = send_slowly();
    ASSERT_TRUE(grows_by(growth, sender, receiver)) << sender.errors() << receiver.errors();
    Process& killed = victim == Victim::sender ? sender : receiver;
    Process& survivor = victim == Victim::sender ? receiver : sender;
    killed.send_signal(SIGKILL);
    expect_exit(killed, 128 + SIGKILL, kAtOnce);
    expect_exit(survivor, kPeerLost, kTransferLimit);
    EXPECT_GE(held(), before) << "what was there has been lost";
    expect_nothing_false();
    if (victim == Victim::receiver) {
      EXPECT_LE(figures_of(survivor).value("bytes_sent", UINT64_MAX), held() - before + kAgain + total_ / 100)
          << survivor.errors();
    }
  }
  /// Each file with a final name has the content of the source.
  void expect_nothing_false(std::source_location where = std::source_location::current()) const {
    const testing::ScopedTrace trace(where.file_name(), static_cast<int>(where.line()), "expected to be true");
    if (!std::filesystem::exists(here("dst/src"))) return;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(here("dst/src"))) {
      if (!entry.is_regular_file()) continue;
      const auto original = here("src") / entry.path().lexically_relative(here("dst/src"));
      EXPECT_TRUE(read_file(entry.path()) == read_file(original)) << entry.path() << " is not as its source";
    }
  }
  /// The same command ends well now, and sends what is not there and little more.
  void expect_goes_on(std::source_location where = std::source_location::current()) const {
    const testing::ScopedTrace trace(where.file_name(), static_cast<int>(where.line()), "expected to go on");
    const std::uint64_t there = std::min(held(), total_);
    const auto figures = transfer({"src"});
    EXPECT_LE(figures.value("bytes_sent", UINT64_MAX), total_ - there + total_ / 100 + kAgain) << there << figures;
    expect_same(here("src"), here("dst/src"));
    EXPECT_FALSE(has_parts());
  }
  /// `count` cuts at moments of this seed, of either end, and the end of the transfer.
  void expect_survives(int count, unsigned seed) const {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    for (int number = 0; number < count && !HasFatalFailure(); ++number) {
      SCOPED_TRACE("cut " + std::to_string(number));
      const std::uint64_t growth = 1 + random() % (total_ / static_cast<std::uint64_t>(count + 1));
      cut(random() % 2 == 0 ? Victim::sender : Victim::receiver, growth);
    }
    if (!HasFatalFailure()) expect_goes_on();
  }

  static constexpr std::uint64_t kAgain = 16 * kMiB;  ///< what a cut may cost besides 1 %
  std::uint64_t total_ = 0;
};

}  // namespace udtcat::test::e2e
