// SPDX-License-Identifier: Apache-2.0
#include "wan/trace.hpp"

#include <fstream>
#include <tuple>

#include <gtest/gtest.h>

#include "support/temp_dir.hpp"

namespace udtcat::wan {
namespace {

using namespace std::chrono_literals;

TEST(Trace, RepeatsItsOpportunities) {
  const auto trace = Trace::parse("0\n3\n3\n8");
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->at(0), 0ms);
  EXPECT_EQ(trace->at(2), 3ms);
  EXPECT_EQ(trace->at(3), 8ms);
  EXPECT_EQ(trace->at(4), 8ms) << "the 0 of the second time";
  EXPECT_EQ(trace->at(4 * 1000 + 1), 8003ms);
}

TEST(Trace, FindsTheFirstOpportunityAfterATime) {
  const auto trace = Trace::parse("0\n3\n3\n8\n");
  for (std::uint64_t number = 0; number < 20; ++number) {
    const std::uint64_t next = trace->first_after(trace->at(number));
    EXPECT_GT(trace->at(next), trace->at(number));
    EXPECT_EQ(trace->at(next - 1), trace->at(number)) << "none is passed over";
  }
  EXPECT_EQ(trace->first_after(-1ms), 0U);
}

TEST(Trace, HasAMeanRate) {
  std::string text;
  for (int ms = 1; ms <= 1000; ++ms) text += std::to_string(ms) + "\n";
  EXPECT_EQ(Trace::parse(text)->mean_rate().bits_per_second(), 12'000'000U);
}

TEST(Trace, NamesTheLineThatIsWrong) {
  for (const auto& [text, said] : {std::pair{"", "line 1: the trace is empty"},
                                   {"1\n\n2\n", "line 2: \"\""},
                                   {"1\n2 \n", "line 2: \"2 \""},
                                   {"1\n-2\n", "line 2: \"-2\""},
                                   {"1.5\n", "line 1: \"1.5\""},
                                   {"1\r\n", "line 1: \"1?\""},
                                   {"1\n99999999999999999999\n", "line 2: \"99999999999999999999\""},
                                   {"3600001\n", "line 1: \"3600001\""},
                                   {"1\n5\n4\n", "line 3: 4 comes after 5"},
                                   {"0\n0\n", "line 2: the last time is the length"}}) {
    const auto trace = Trace::parse(text);
    ASSERT_FALSE(trace) << text;
    EXPECT_NE(trace.error().message().find(said), std::string::npos) << trace.error().message();
  }
}

TEST(Trace, TakesAnyBytesForATraceOrAnError) {
  const std::string good = "10\n20\n30\n";
  for (std::size_t length = 0; length < good.size(); ++length) std::ignore = Trace::parse(good.substr(0, length));
  for (std::size_t at = 0; at < good.size(); ++at)
    for (int byte = 0; byte < 256; ++byte) {
      std::string changed = good;
      changed[at] = static_cast<char>(byte);
      const auto trace = Trace::parse(changed);
      EXPECT_TRUE(!trace || trace->at(99'999) > 0ms);
    }
}

TEST(Trace, IsReadFromAFile) {
  const test::TempDir directory;
  const std::string path = (directory.path() / "trace").string();
  std::ofstream(path) << "5\n7\n";
  const auto trace = Trace::load(path);
  ASSERT_TRUE(trace) << trace.error().message();
  EXPECT_EQ((*trace)->at(1), 7ms);
  std::ofstream(path) << "5\nx\n";
  EXPECT_EQ(Trace::load(path).error().message().find("trace \"" + path + "\": line 2: \"x\""), 0U);
}

TEST(Trace, SaysWhyAFileCannotBeRead) {
  const test::TempDir directory;
  EXPECT_NE(Trace::load("/no/such/trace").error().message().find("no such file"), std::string::npos);
  EXPECT_NE(Trace::load(directory.path().string()).error().message().find("no regular file"), std::string::npos);
  EXPECT_NE(Trace::load("/dev/zero").error().message().find("no regular file"), std::string::npos);
}

}  // namespace
}  // namespace udtcat::wan
