// SPDX-License-Identifier: Apache-2.0
#include "lib/core/user_text.hpp"

#include <cerrno>
#include <limits>

#include <gtest/gtest.h>

namespace udtcat::core {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

TEST(ParseSize, TakesBytesAndPowersOf1000And1024) {
  EXPECT_EQ(parse_size("0"), 0U);
  EXPECT_EQ(parse_size("4096"), 4096U);
  EXPECT_EQ(parse_size("256KiB"), 262144U);
  EXPECT_EQ(parse_size("1MiB"), 1048576U);
  EXPECT_EQ(parse_size("2GiB"), 2147483648U);
  EXPECT_EQ(parse_size("1TiB"), 1'099'511'627'776U);
  EXPECT_EQ(parse_size("4kB"), 4'000U);
  EXPECT_EQ(parse_size("5MB"), 5'000'000U);
  EXPECT_EQ(parse_size("3GB"), 3'000'000'000U);
  EXPECT_EQ(parse_size("2TB"), 2'000'000'000'000U);
  EXPECT_EQ(parse_size("18446744073709551615"), kMost);
  EXPECT_EQ(parse_size("1.5GiB"), 3 * kGiB / 2);
  EXPECT_EQ(parse_size("0.3KiB"), 307U) << "rounded down";
  EXPECT_EQ(parse_size("4096.0"), 4096U);
  EXPECT_EQ(parse_size("1.999999999TB"), 1'999'999'999'000U);
  EXPECT_EQ(parse_size("1.5TiB"), 1536 * kGiB);
  EXPECT_EQ(parse_size("17179869183.999999999GiB"), kMost - 1);
}

TEST(ParseSize, RefusesWhatIsAmbiguousOrNoSize) {
  for (const char* text : {"",
                           "K",
                           "1K",
                           "1M",
                           "1G",
                           "1KB",
                           "1kiB",
                           "1 KiB",
                           " 1",
                           "1 ",
                           "-1",
                           "+1",
                           "1.5",
                           "1.MiB",
                           ".5MiB",
                           "1.5.5MiB",
                           "1,5MiB",
                           "1.0000000001GiB",
                           "0x10",
                           "KiB",
                           "18446744073709551616",
                           "17179869184GiB",
                           "17179869183.999999999GiB.1"}) {
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
  EXPECT_EQ(parse_rate("2.5G")->bits_per_second(), 2'500'000'000U);
  EXPECT_EQ(parse_rate("0.064Mbit/s")->bits_per_second(), 64'000U);
}

TEST(ParseRate, RefusesBytesAndWhatIsNoRate) {
  for (const char* text :
       {"", "M", "1MB/s", "1MiB", "1B", "1Mb", "1K", "1T", "1.5", "bit/s", "1bit/sbit/s", "-1", "18446744074G"}) {
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
  EXPECT_EQ(parse_duration("1.5s"), 1500ms);
  EXPECT_EQ(parse_duration("0.25"), 250ms);
  EXPECT_EQ(parse_duration("1.5m"), 90s);
  EXPECT_EQ(parse_duration("525600m"), 8760h);
}

TEST(ParseDuration, RefusesNothingAtAllAndForever) {
  for (const char* text : {"", "0", "0ms", "1h", "ms", "1.5ms", "0.0001", "-1s", "525601m", "18446744073709551615",
                           "18446744073709551616"}) {
    const auto duration = parse_duration(text);
    ASSERT_FALSE(duration) << text;
    EXPECT_EQ(duration.error().code, Errc::bad_argument);
  }
}

TEST(FormatSize, StatesTheUnitAndThreeDigits) {
  EXPECT_EQ(format_size(0), "0 B");
  EXPECT_EQ(format_size(312), "312 B");
  EXPECT_EQ(format_size(999), "999 B");
  EXPECT_EQ(format_size(1000), "1.00 kB");
  EXPECT_EQ(format_size(9'994), "9.99 kB");
  EXPECT_EQ(format_size(12'340), "12.3 kB");
  EXPECT_EQ(format_size(1'500'000'000), "1.50 GB");
  EXPECT_EQ(format_size(412'000'000'000), "412 GB");
  EXPECT_EQ(format_size(kMost), "18.4 EB");
}

TEST(FormatSize, NeverHasAFourthDigit) {
  EXPECT_EQ(format_size(9'996), "10.0 kB");
  EXPECT_EQ(format_size(99'960), "100 kB");
  EXPECT_EQ(format_size(999'499), "999 kB");
  EXPECT_EQ(format_size(999'500), "1.00 MB");
}

TEST(FormatRate, IsInBytesForWhatIsMeasuredAndInBitsForWhatWasGiven) {
  EXPECT_EQ(format_rate(BitRate::from_bits_per_second(999)), "124 B/s");
  EXPECT_EQ(format_rate(BitRate::from_bits_per_second(2'310'000'000)), "289 MB/s");
  EXPECT_EQ(format_bit_rate(BitRate::from_bits_per_second(999)), "999 bit/s");
  EXPECT_EQ(format_bit_rate(BitRate::from_bits_per_second(2'310'000'000)), "2.31 Gbit/s");
  EXPECT_EQ(format_bit_rate(BitRate::from_bits_per_second(999'999)), "1.00 Mbit/s");
}

TEST(BitRate, ComesFromBytesAndTime) {
  EXPECT_EQ(BitRate::from_bytes_per(1'000'000, 1s).bits_per_second(), 8'000'000U);
  EXPECT_EQ(BitRate::from_bytes_per(1'000'000, 1s).bytes_per_second(), 1'000'000U);
  EXPECT_EQ(BitRate::from_bytes_per(1, 0s).bits_per_second(), 0U);
  EXPECT_EQ(BitRate::from_bytes_per(1, -1s).bits_per_second(), 0U);
  EXPECT_EQ(BitRate::from_bytes_per(kMost, 1ns).bits_per_second(), kMost);
}

TEST(ErrnoText, BeginsInLowerCase) {
  EXPECT_EQ(errno_text(ENOSPC), "no space left on device");
  EXPECT_EQ(errno_text(EADDRINUSE), "address already in use");
}

TEST(ErrnoText, HandlesAnUnknownErrno) { EXPECT_NE(errno_text(123456).find("nknown error"), std::string::npos); }

}  // namespace
}  // namespace udtcat::core
