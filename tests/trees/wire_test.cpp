// SPDX-License-Identifier: Apache-2.0
#include "trees/wire.hpp"

#include <future>

#include "support/deadline.hpp"
#include "trees/ends.hpp"

namespace udtcat::trees {
namespace {

/// Takes so many bytes off a wire; fewer: it has ended.
Bytes taken(Wire& wire, std::size_t bytes) {
  Bytes all;
  Bytes scratch;
  while (all.size() < bytes) {
    const auto there = wire.await(std::min(bytes - all.size(), Wire::kRingBytes));
    if (!there || *there == 0) break;
    const auto piece = wire.peek(*there, scratch);
    all.insert(all.end(), piece.begin(), piece.end());
    wire.consume(*there);
  }
  return all;
}

TEST(Wires, BringAllBytesInOrderHoweverMany) {
  JoinedWires wires;
  const Bytes bytes = test::random_bytes(3 * Wire::kRingBytes + 12'345);
  auto writing = std::async(std::launch::async, [&] {
    bool is_whole = true;
    for (std::size_t at = 0, piece = 1; at < bytes.size(); at += piece, piece = piece * 3 + 1) {
      piece = std::min(piece, bytes.size() - at);
      Bytes chunk(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                  bytes.begin() + static_cast<std::ptrdiff_t>(at + piece));
      is_whole = is_whole && wires.here.write(std::move(chunk)).has_value();
    }
    wires.here.cut_unless_ended(test::kWatchdog);
    wires.here.finish();
    return is_whole;
  });
  EXPECT_TRUE(taken(wires.there, bytes.size()) == bytes);
  EXPECT_TRUE(writing.get());
  EXPECT_EQ(wires.there.await(1), 0U) << "the end, in order";
}

TEST(Wires, GiveBackTheMemoryOfWhatWasLarge) {
  JoinedWires wires;
  EXPECT_TRUE(wires.here.spare().empty()) << "nothing was written yet";
  Bytes large(1'000'000);
  const std::byte* const memory = large.data();
  ASSERT_TRUE(wires.here.write(std::move(large)));
  ASSERT_TRUE(wires.here.write(bytes_of("abc")));
  EXPECT_EQ(taken(wires.there, 1'000'003).size(), 1'000'003U);
  EXPECT_EQ(wires.here.spare().data(), memory);
}

TEST(Wires, GiveWhatIsThereBeforeTheEnd) {
  JoinedWires wires;
  ASSERT_TRUE(wires.here.write(bytes_of("abc")));
  wires.here.cut_unless_ended(test::kWatchdog);
  wires.here.finish();
  EXPECT_EQ(wires.there.await(10), 3U);
  EXPECT_EQ(taken(wires.there, 10), bytes_of("abc"));
}

TEST(Wires, ThatAreCutFailForThreadsThatWait) {
  JoinedWires wires;
  auto reading = std::async(std::launch::async, [&] { return wires.here.await(1); });
  auto writing = std::async(std::launch::async, [&] {
    const Bytes much(Wire::kRingBytes);
    Status written;
    while (written) written = wires.here.write(much);
    return written;
  });
  wires.here.cut();
  EXPECT_EQ(reading.get().error().code, Errc::connection_broken);
  EXPECT_EQ(writing.get().error().code, Errc::connection_broken);
  EXPECT_TRUE(wires.here.is_cut());
  EXPECT_TRUE(test::eventually(test::kWatchdog, [&] { return wires.there.is_cut(); })) << "the other end hears of it";
}

TEST(Wires, AreCutWhereTheOtherEndDoesNotEndInTime) {
  JoinedWires wires;
  wires.here.cut_unless_ended(std::chrono::milliseconds(20));
  wires.here.finish();
  EXPECT_EQ(wires.there.await(1), 0U);
  EXPECT_EQ(wires.here.await(1).error().code, Errc::connection_broken);
}

TEST(Wires, WhoseStreamHasGoneAreCut) {
  boost::asio::io_context io;
  Wire wire(io);
  wire.stream().reset();
  EXPECT_TRUE(wire.is_cut());
  EXPECT_FALSE(wire.write(bytes_of("x")));
}

}  // namespace
}  // namespace udtcat::trees
