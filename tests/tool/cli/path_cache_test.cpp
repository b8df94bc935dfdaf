// SPDX-License-Identifier: Apache-2.0
#include "tool/cli/path_cache.hpp"

#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "support/temp_dir.hpp"

namespace udtcat::tool {
namespace {

using namespace std::chrono_literals;
using Clock = PathCache::Clock;

Endpoint peer_at(const char* host, std::uint16_t port = 9000) {
  return resolve({host, port}, AddressFamily::any).value().front();
}

class PathCacheTest : public testing::Test {
 protected:
  std::optional<KnownPath> kept(const char* host, Clock::duration later = 0s) {
    return PathCache(file, [=] { return Clock::now() + later; }).find(peer_at(host));
  }
  void write(const std::string& content) {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << content;
  }

  test::TempDir home;
  std::filesystem::path file = home.path() / ".cache/udtcat/paths";
  KnownPath path{BitRate::from_bits_per_second(4'000'000'000), 75'000us, 0xabcdef01};
};

TEST_F(PathCacheTest, KeepsPathsForTheNextProcess) {
  PathCache(file, Clock::now).note(peer_at("192.0.2.1"), path);
  const auto found = kept("192.0.2.1");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rate, path.rate);
  EXPECT_EQ(found->rtt, path.rtt);
  EXPECT_EQ(found->cookie, path.cookie);
  EXPECT_FALSE(kept("192.0.2.2"));
  struct stat status {};
  ASSERT_EQ(::stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST_F(PathCacheTest, KnowsAHostByAnyPort) {
  PathCache cache(file, Clock::now);
  cache.note(peer_at("2001:db8::1", 9000), path);
  EXPECT_TRUE(cache.find(peer_at("2001:db8::1", 9001)));
}

TEST_F(PathCacheTest, ForgetsAPathWithinTheHour) {
  PathCache(file, Clock::now).note(peer_at("192.0.2.1"), path);
  EXPECT_TRUE(kept("192.0.2.1", 59min));
  const auto later = kept("192.0.2.1", 61min);
  EXPECT_TRUE(!later || (later->rate.unlimited() && later->cookie == 0));
}

TEST_F(PathCacheTest, IgnoresTimesInTheFuture) {
  PathCache(file, Clock::now).note(peer_at("192.0.2.1"), path);
  EXPECT_FALSE(kept("192.0.2.1", -2min));
}

TEST_F(PathCacheTest, KeepsTheRateWhereOnlyACookieIsNew) {
  PathCache cache(file, Clock::now);
  cache.note(peer_at("192.0.2.1"), path);
  cache.note(peer_at("192.0.2.1"), {BitRate(), 0us, 7});
  EXPECT_EQ(cache.find(peer_at("192.0.2.1"))->rate, path.rate);
  EXPECT_EQ(cache.find(peer_at("192.0.2.1"))->cookie, 7U);
}

TEST_F(PathCacheTest, KeepsWhatAnotherProcessWroteMeanwhile) {
  {
    PathCache later(file, Clock::now);
    later.note(peer_at("192.0.2.1"), path);
    PathCache(file, Clock::now).note(peer_at("192.0.2.2"), path);
  }
  EXPECT_TRUE(kept("192.0.2.1"));
  EXPECT_TRUE(kept("192.0.2.2"));
}

TEST_F(PathCacheTest, KeepsWhatThePathCarries) {
  PathCache(file, Clock::now).note(peer_at("192.0.2.1"), {.packet_bytes = 1000, .loses_trains = true});
  const auto found = kept("192.0.2.1");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->packet_bytes, 1000U);
  EXPECT_TRUE(found->loses_trains);
  PathCache(file, Clock::now).note(peer_at("192.0.2.1"), path);
  EXPECT_EQ(kept("192.0.2.1")->packet_bytes, 1000U) << "a connection that found nothing out knows no better";
  EXPECT_TRUE(kept("192.0.2.1")->loses_trains);
  EXPECT_EQ(kept("192.0.2.1", 61min)->packet_bytes, 0U);
  EXPECT_FALSE(kept("192.0.2.1", 61min)->loses_trains);
}

TEST_F(PathCacheTest, LetsTrainsBeTriedAgainAnHourAfterTheyWereFirstLost) {
  auto now = Clock::now();
  PathCache cache(file, [&] { return now; });
  for (int i = 0; i < 2; ++i, now += 40min) cache.note(peer_at("192.0.2.1"), {.loses_trains = true});
  EXPECT_FALSE(cache.find(peer_at("192.0.2.1"))->loses_trains);
}

TEST_F(PathCacheTest, WritesNothingWhereNothingWasLearned) {
  PathCache(file, Clock::now).note(peer_at("192.0.2.1"), {});
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(PathCacheTest, IgnoresLinesThatItCannotParse) {
  const auto now = std::to_string(Clock::to_time_t(Clock::now()));
  write("\n192.0.2.1\n192.0.2.2 x 1 " + now + " 1 " + now + "\n192.0.2.3 1000 -5 " + now + " 1 " + now +
        "\n192.0.2.4 -5 1 " + now + " 1 " + now + "\n192.0.2.6 1000 99999999999999 " + now + " 1 " + now +
        "\n192.0.2.7 1000 5 9223372036854775807 1 " + now + "\n192.0.2.5 1000 5000 " + now + " ff " + now +
        " and more\n" + std::string(200, 'z'));
  for (const char* host : {"192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4", "192.0.2.6", "192.0.2.7"})
    EXPECT_FALSE(kept(host)) << host;
  ASSERT_TRUE(kept("192.0.2.5"));
  EXPECT_EQ(kept("192.0.2.5")->cookie, 0xffU);
}

TEST_F(PathCacheTest, ForgetsARateThatWasNotMeasuredAgain) {
  auto now = Clock::now();
  PathCache cache(file, [&] { return now; });
  cache.note(peer_at("192.0.2.1"), path);
  now += 50min;
  cache.note(peer_at("192.0.2.1"), {BitRate(), 0us, 7});
  now += 20min;
  EXPECT_TRUE(cache.find(peer_at("192.0.2.1"))->rate.unlimited()) << "in the same process, too";
  EXPECT_EQ(cache.find(peer_at("192.0.2.1"))->cookie, 7U);
}

TEST_F(PathCacheTest, KeepsTheNewestAndReadsNoMoreThanItWrites) {
  {
    PathCache cache(file, Clock::now);
    for (unsigned i = 0; i < 300; ++i)
      cache.note(peer_at(("192.0." + std::to_string(i / 250) + "." + std::to_string(i % 250)).c_str()), path);
  }
  EXPECT_LE(std::filesystem::file_size(file), PathCache::kMaxFileBytes);
  std::ifstream lines(file);
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line);) ++count;
  EXPECT_EQ(count, PathCache::kMaxPaths);
}

TEST_F(PathCacheTest, DoesNotBlockWhereTheFileIsAPipe) {
  std::filesystem::create_directories(file.parent_path());
  ASSERT_EQ(::mkfifo(file.c_str(), S_IRUSR | S_IWUSR), 0);
  EXPECT_FALSE(kept("192.0.2.1"));
  PathCache(file, Clock::now).note(peer_at("192.0.2.1"), path);
  EXPECT_TRUE(kept("192.0.2.1")) << "a file has its place";
}

TEST_F(PathCacheTest, IgnoresADirectoryThatItMayNotMake) {
  std::ofstream(home.path() / ".cache") << "a file";
  PathCache(file, Clock::now).note(peer_at("192.0.2.1"), path);
  EXPECT_FALSE(kept("192.0.2.1"));
}

}  // namespace
}  // namespace udtcat::tool
