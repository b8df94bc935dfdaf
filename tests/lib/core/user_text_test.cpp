// SPDX-License-Identifier: Apache-2.0
#include "lib/core/user_text.hpp"

#include <cerrno>
#include <limits>

#include <gtest/gtest.h>

namespace udtcat::core {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

TEST(ParseSize, TakesBytesAndPowersOf1024) {
  EXPECT_EQ(parse_size("0"), 0U);
  EXPECT_EQ(parse_size("4096"), 4096U);
  EXPECT_EQ(parse_size("256KiB"), 262144U);
  EXPECT_EQ(parse_size("1MiB"), 1048576U);
  EXPECT_EQ(parse_size("2GiB"), 2147483648U);
  EXPECT_EQ(parse_size("18446744073709551615"), kMost);
}

TEST(ParseSize, RefusesWhatIsAmbiguousOrNoSize) {
  for (const char* text : {"", "K", "1K", "1M", "1G", "1KB", "1kiB", "1 KiB", " 1", "1 ", "-1", "+1", "1.5MiB", "0x10",
                           "KiB", "18446744073709551616", "17179869184GiB"}) {
    const auto size = parse_size(text);
    ASSERT_FALSE(size) << text;
    EXPECT_EQ(size.error().code, Errc::bad_argument);
    EXPECT_NE(size.error().message().find(text), std::string::npos);
  }
}

TEST(ParseRate, TakesBitsAndPowersOf1000) {
  EXPECT_EQ(parse_rate("5000")->bits_per_second(), 5000U);
  EXPECT_EQ(parse_rate("64k")->bits_per_second(), 64'000U);
  EXPECT_EQ(parse_rate("400M")->bits_per_second(), 400'000'000U);
  EXPECT_EQ(parse_rate("10Gbit/s")->bits_per_second(), 10'000'000'000U);
  EXPECT_EQ(parse_rate("10bit/s")->bits_per_second(), 10U);
  EXPECT_TRUE(parse_rate("0")->unlimited());
}

TEST(ParseRate, RefusesBytesAndWhatIsNoRate) {
  for (const char* text :
       {"", "M", "1MB/s", "1MiB", "1B", "1Mb", "1K", "1T", "bit/s", "1bit/sbit/s", "-1", "18446744074G"}) {
    const auto rate = parse_rate(text);
    ASSERT_FALSE(rate) << text;
    EXPECT_EQ(rate.error().code, Errc::bad_argument);
  }
}

TEST(ParseDuration, TakesSecondsAndUnits) {
  EXPECT_EQ(parse_duration("500ms"), 500ms);
  EXPECT_EQ(parse_duration("10s"), 10s);
  EXPECT_EQ(parse_duration("2m"), 2min);
  EXPECT_EQ(parse_duration("10"), 10s);
  EXPECT_EQ(parse_duration("525600m"), 8760h);
}

TEST(ParseDuration, RefusesNothingAtAllAndForever) {
  for (const char* text :
       {"", "0", "0ms", "1h", "ms", "1.5s", "-1s", "525601m", "18446744073709551615", "18446744073709551616"}) {
    const auto duration = parse_duration(text);
    ASSERT_FALSE(duration) << text;
    EXPECT_EQ(duration.error().code, Errc::bad_argument);
  }
}

TEST(FormatSize, StatesTheUnitAndTwoDecimals) {
  EXPECT_EQ(format_size(0), "0 B");
  EXPECT_EQ(format_size(312), "312 B");
  EXPECT_EQ(format_size(1023), "1023 B");
  EXPECT_EQ(format_size(1024), "1.00 KiB");
  EXPECT_EQ(format_size(kGiB + kGiB / 2), "1.50 GiB");
  EXPECT_EQ(format_size(kMost), "16.00 EiB");
}

TEST(FormatSize, NeverRoundsUpToAFullStep) {
  EXPECT_EQ(format_size(kMiB - 1), "1.00 MiB");
  EXPECT_EQ(format_size(kMiB - 10 * kKiB), "1014.00 KiB");
}

TEST(FormatRate, StatesTheUnitAndTwoDecimals) {
  EXPECT_EQ(format_rate(BitRate::from_bits_per_second(999)), "999 bit/s");
  EXPECT_EQ(format_rate(BitRate::from_bits_per_second(2'310'000'000)), "2.31 Gbit/s");
  EXPECT_EQ(format_rate(BitRate::from_bits_per_second(999'999)), "1.00 Mbit/s");
}

TEST(BitRate, ComesFromBytesAndTime) {
  EXPECT_EQ(BitRate::from_bytes_per(1'000'000, 1s).bits_per_second(), 8'000'000U);
  EXPECT_EQ(BitRate::from_bytes_per(1'000'000, 1s).bytes_per_second(), 1'000'000U);
  EXPECT_EQ(BitRate::from_bytes_per(1, 0s).bits_per_second(), 0U);
  EXPECT_EQ(BitRate::from_bytes_per(1, -1s).bits_per_second(), 0U);
  EXPECT_EQ(BitRate::from_bytes_per(kMost, 1ns).bits_per_second(), kMost);
}

TEST(ErrnoText, BeginsSmall) {
  EXPECT_EQ(errno_text(ENOSPC), "no space left on device");
  EXPECT_EQ(errno_text(EADDRINUSE), "address already in use");
}

TEST(ErrnoText, KnowsThatItDoesNotKnow) { EXPECT_NE(errno_text(123456).find("nknown error"), std::string::npos); }

}  // namespace
}  // namespace udtcat::core
