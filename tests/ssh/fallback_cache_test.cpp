// SPDX-License-Identifier: Apache-2.0
#include "ssh/fallback_cache.hpp"

#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "support/temp_dir.hpp"

namespace udtcat::ssh {
namespace {

using namespace std::chrono_literals;
using Clock = FallbackCache::Clock;

class FallbackCacheTest : public testing::Test {
 protected:
  void write(const std::string& content) const {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << content;
  }

  test::TempDir home;
  std::filesystem::path file = home.path() / ".cache/udtcat/fallbacks";
  Clock::time_point now = Clock::time_point(1'800'000'000s);
  [[nodiscard]] FallbackCache memory(const std::string& destination) const {
    return {file, destination, [this] { return now; }};
  }
};

TEST_F(FallbackCacheTest, KeepsWhatWasFoundForTheNextProcess) {
  memory("me@far:22").note(FallbackReason::udp_blocked);
  memory("me@other:22").note(FallbackReason::one_command);
  EXPECT_EQ(memory("me@far:22").find(), FallbackReason::udp_blocked);
  EXPECT_EQ(memory("me@other:22").find(), FallbackReason::one_command);
  EXPECT_EQ(memory("me@third:22").find(), std::nullopt);
  struct stat status {};
  ASSERT_EQ(::stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST_F(FallbackCacheTest, KeepsOneReasonForADestination) {
  memory("me@far:22").note(FallbackReason::udp_blocked);
  memory("me@far:22").note(FallbackReason::udp_slow);
  EXPECT_EQ(memory("me@far:22").find(), FallbackReason::udp_slow);
  memory("me@far:22").forget();
  EXPECT_EQ(memory("me@far:22").find(), std::nullopt);
}

TEST_F(FallbackCacheTest, ForgetsWithinTheHourAndIgnoresTimesInTheFuture) {
  memory("me@far:22").note(FallbackReason::udp_blocked);
  now += 59min;
  EXPECT_EQ(memory("me@far:22").find(), FallbackReason::udp_blocked);
  now += 2min;
  EXPECT_EQ(memory("me@far:22").find(), std::nullopt);
  now -= 2h;
  EXPECT_EQ(memory("me@far:22").find(), std::nullopt);
}

TEST_F(FallbackCacheTest, IgnoresLinesThatItCannotParse) {
  write(
      "\nme@a:22\nme@b:22 udp-blocked\nme@c:22 else 1800000000\nme@d:22 udp-blocked -1\nme@e:22 udp-blocked "
      "99999999999999999999\nme@f:22 udp-slow 1800000000\n" +
      std::string(100'000, 'z'));
  for (const char* none : {"me@a:22", "me@b:22", "me@c:22", "me@d:22", "me@e:22"})
    EXPECT_EQ(memory(none).find(), std::nullopt) << none;
  EXPECT_EQ(memory("me@f:22").find(), FallbackReason::udp_slow);
}

TEST_F(FallbackCacheTest, KeepsTheNewest) {
  for (std::size_t i = 0; i < FallbackCache::kMaxLines + 10; ++i)
    memory("me@" + std::to_string(i) + ":22").note(FallbackReason::udp_slow);
  EXPECT_EQ(memory("me@0:22").find(), std::nullopt);
  EXPECT_TRUE(memory("me@10:22").find());
  EXPECT_LE(std::filesystem::file_size(file), FallbackCache::kMaxFileBytes);
}

TEST_F(FallbackCacheTest, IgnoresADirectoryThatItMayNotMake) {
  std::ofstream(home.path() / ".cache") << "a file";
  memory("me@far:22").note(FallbackReason::udp_blocked);
  EXPECT_EQ(memory("me@far:22").find(), std::nullopt);
}

}  // namespace
}  // namespace udtcat::ssh
