// SPDX-License-Identifier: Apache-2.0
#include "gridftp/server/transfer_markers.hpp"

#include <gmock/gmock.h>

#include "gridftp/support.hpp"

namespace udtcat::gridftp {
namespace {

using testing::HasSubstr;

TEST(PerformanceMarker, IsAsGlobusWritesIt) {
  EXPECT_EQ(to_wire(performance_marker(std::chrono::system_clock::time_point(std::chrono::milliseconds(1'500)), 42)),
            "112-Perf Marker\r\n Timestamp:  1.5\r\n Stripe Index: 0\r\n Stripe Bytes Transferred: 42\r\n"
            " Total Stripe Count: 1\r\n112 End.\r\n");
}

TEST(RangeMarker, NamesRangesWithoutTheirEnds) {
  EXPECT_EQ(to_wire(range_marker(files::ByteRanges::parse("0-10,20-30").value())), "111 Range Marker 0-10,20-30\r\n");
}

class Markers : public testing::Test {
 protected:
  TransferMarkers speak(std::function<files::ByteRanges()> durable) {
    return {io,
            [this](const Reply& reply) -> Task<Status> {
              said.push_back(to_wire(reply));
              co_return Status{};
            },
            [] { return std::uint64_t{42}; }, std::move(durable)};
  }
  [[nodiscard]] std::size_t count(const char* code) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(said, [&](const std::string& each) { return each.starts_with(code); }));
  }

  boost::asio::io_context io;
  std::vector<std::string> said;
};

TEST_F(Markers, SayWhatIsSafeWhenThatHasChanged) {
  const files::ByteRanges have = files::ByteRanges::parse("0-10").value();
  TransferMarkers markers = speak([&] { return have; });
  EXPECT_TRUE(run_until(io, [&] { return count("112") >= 3; }));
  EXPECT_EQ(count("111"), 1U);
  run(io, markers.stop());
}

TEST_F(Markers, NameNoRangeThatIsNotSafeYet) {
  TransferMarkers markers = speak([] { return files::ByteRanges(); });
  EXPECT_TRUE(run_until(io, [&] { return count("112") >= 2; }));
  EXPECT_EQ(count("111"), 0U);
  run(io, markers.stop());
}

TEST_F(Markers, AreSilentOnceStopped) {
  TransferMarkers markers = speak({});
  run(io, markers.stop());
  run(io, markers.stop());
  EXPECT_TRUE(said.empty());
}

TEST_F(Markers, CanBeDestroyedWithoutBeingStopped) {
  { const TransferMarkers markers = speak({}); }
  io.restart();
  io.run();
  EXPECT_TRUE(said.empty());
}

}  // namespace
}  // namespace udtcat::gridftp
