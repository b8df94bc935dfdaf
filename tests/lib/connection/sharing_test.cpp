// SPDX-License-Identifier: Apache-2.0
/// src/lib/connection: how streams share a session whose path is slower than they are, in virtual time.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "lib/connection/simulated_session.hpp"
#include "lib/transport/native/packet.hpp"

namespace udtcat::connection {
namespace {

using namespace std::chrono_literals;
using transport::native::Duration;
using transport::native::PathSettings;
using Way = SimulatedSession::Way;
using Ways = std::vector<Way>;

constexpr std::size_t kPacketBytes = 1500;
const std::vector<std::uint64_t> kRates{64'000, 256'000, 1'000'000, 5'000'000, 20'000'000, 100'000'000};

std::string name_of(std::uint64_t rate) { return std::to_string(rate / 1000) + " kbit/s"; }

/// A round trip of 40 ms, and a queue of one bandwidth-delay product, or what a modem has.
PathSettings link_of(std::uint64_t rate) {
  PathSettings link;
  link.rate = BitRate::from_bits_per_second(rate);
  link.delay = 20ms;
  link.queue_bytes = std::max<std::size_t>(64'000, rate / 8 / 25);
  return link;
}
Duration time_of(std::size_t bytes, std::uint64_t rate) {
  return std::chrono::nanoseconds(bytes * 8 * 1'000'000'000 / rate);
}
Duration bulk_lead(std::uint64_t rate) { return rate > 500'000'000 ? 2s : 4s; }

/// The median of questions that are asked one after the other.
Duration asked(SimulatedSession& session, std::size_t echo, int times) {
  std::vector<Duration> taken;
  for (int i = 0; i < times; ++i) {
    session.run_for(i % 7 * 3ms);  // not in step with the trains
    taken.push_back(session.ask_and_wait(echo).value_or(Duration::max()));
  }
  std::ranges::sort(taken);
  return taken[taken.size() / 2];
}

struct Answers {
  Duration empty;
  Duration beside;
};
Answers answers_beside(const Ways& bulk, std::uint64_t rate, Protection protection = Protection::private_) {
  SimulatedSession session(link_of(rate), protection);
  const std::size_t echo = session.add_echo();
  const Duration empty = asked(session, echo, 10);
  for (const Way way : bulk) session.add_bulk(way);
  session.run_for(bulk_lead(rate));
  return {empty, asked(session, echo, 30)};
}

/// Jain's index of what so many bulk streams get while each may have ten blocks as small as they are on slow paths.
double jain(std::size_t streams, Way way, std::uint64_t rate) {
  SimulatedSession session(link_of(rate));
  asked(session, session.add_echo(), 3);  // as a handshake, which measures the round trip
  for (std::size_t i = 0; i < streams; ++i) session.add_bulk(way);
  session.run_for(2s);
  std::vector<std::uint64_t> before;
  for (std::size_t i = 0; i < streams; ++i) before.push_back(session.received_bytes(i));
  session.run_for(std::max<Duration>(1s, time_of(10 * streams * kMinBlockBytes, rate)));
  double sum = 0;
  double squares = 0;
  for (std::size_t i = 0; i < streams; ++i) {
    const auto bytes = static_cast<double>(session.received_bytes(i) - before[i]);
    sum += bytes;
    squares += bytes * bytes;
  }
  return sum * sum / (static_cast<double>(streams) * squares);
}

TEST(Sharing, IsEvenAmongBulkStreamsAtEveryRateBothWays) {
  for (const std::uint64_t rate : kRates)
    for (const std::size_t streams : {2U, 10U, 100U})
      for (const Way way : {Way::out, Way::back})
        EXPECT_GE(jain(streams, way, rate), 0.95)
            << streams << " at " << name_of(rate) << (way == Way::out ? "" : " back");
}

TEST(Sharing, IsEvenAmongManyBulkStreamsOnAFastPath) { EXPECT_GE(jain(100, Way::out, 1'000'000'000), 0.95); }

/// How much data leaves the near end before the copy of a word does.
class Overtaking {
 public:
  explicit Overtaking(SimulatedSession& session) {
    session.path().set_filter([this](SimulatedSession::Path::End sender, std::span<std::byte> packet) {
      if (sender == SimulatedSession::Path::kNear && waits_) see(packet);
      return true;
    });
  }
  void begin() { waits_ = true; }
  [[nodiscard]] bool waits() const { return waits_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  void see(std::span<const std::byte> packet) {
    using namespace transport::native;
    if (!is_control(packet))
      bytes_ += packet.size();
    else if (decode_control_header(packet).subtype == static_cast<std::uint16_t>(Extension::datagram))
      waits_ = false;
  }

  bool waits_ = false;
  std::size_t bytes_ = 0;
};

/// Proves: stream.interactive-first
/// Of what has been composed, sealed or given to the transport no byte goes before a word.
TEST(Sharing, SendsNoBulkBeforeAWordThatIsSaid) {
  for (const std::uint64_t rate : kRates) {
    SimulatedSession session(link_of(rate));
    const std::size_t echo = session.add_echo();
    asked(session, echo, 3);
    for (int i = 0; i < 3; ++i) session.add_bulk(Way::out);
    session.run_for(4s);
    Overtaking overtaking(session);
    for (int i = 0; i < 20; ++i) {
      session.run_for(i % 7 * 3ms);
      overtaking.begin();
      ASSERT_TRUE(session.ask_and_wait(echo));
      EXPECT_FALSE(overtaking.waits()) << "no copy of the word was seen at " << name_of(rate);
    }
    EXPECT_EQ(overtaking.bytes(), 0U) << name_of(rate);
  }
}

TEST(Sharing, LetsAWordAndItsAnswerTakeAtMostFortyPercentMoreBesideBulkOneWay) {
  for (const std::uint64_t rate : {5'000'000UL, 20'000'000UL, 50'000'000UL, 100'000'000UL, 1'000'000'000UL})
    for (const Way way : {Way::out, Way::back}) {
      const auto [empty, beside] = answers_beside({way}, rate);
      EXPECT_LE(beside, empty * 14 / 10) << name_of(rate) << (way == Way::out ? "" : " back");
    }
}

TEST(Sharing, LetsAWordOfSomePacketsGoWholeBesideManyBulkStreams) {
  constexpr std::size_t kWordBytes = 3'000;
  for (const std::uint64_t rate : {5'000'000UL, 20'000'000UL, 100'000'000UL}) {
    SimulatedSession session(link_of(rate), Protection::private_, kWordBytes);
    const std::size_t echo = session.add_echo();
    const Duration empty = asked(session, echo, 10);
    for (int i = 0; i < 10; ++i) session.add_bulk(Way::out);
    session.run_for(bulk_lead(rate));
    // Without a copy it waits behind what is ahead of it, and behind no other stream's block.
    EXPECT_LE(asked(session, echo, 30), empty * 14 / 10 + time_of(4 * kMinBlockBytes, rate)) << name_of(rate);
  }
}

/// All that a word waits for are the packets that have left before it and stand in the path's queue.
TEST(Sharing, LetsAWordOnASlowPathWaitForAtMostThreePackets) {
  for (const std::uint64_t rate : {64'000UL, 256'000UL, 1'000'000UL})
    for (const Way way : {Way::out, Way::back}) {
      const auto [empty, beside] = answers_beside({way}, rate);
      EXPECT_LE(beside, empty + 3 * time_of(kPacketBytes, rate)) << name_of(rate) << (way == Way::out ? "" : " back");
    }
}

/// Each way's ACKs wait in the queue of the other way's bulk.
TEST(Sharing, LetsAWordTakeAtMostThreeTimesTheEmptyRoundTripBesideBulkBothWays) {
  for (const std::uint64_t rate : {5'000'000UL, 20'000'000UL, 50'000'000UL, 100'000'000UL}) {
    const auto [empty, beside] = answers_beside({Way::out, Way::back}, rate);
    EXPECT_LE(beside, 3 * empty) << name_of(rate);
  }
}

TEST(Sharing, LetsAWordTakeAtMostFortyPercentMoreBesideBulkWithoutCopies) {
  for (const std::uint64_t rate : {20'000'000UL, 100'000'000UL, 1'000'000'000UL}) {
    const auto [empty, beside] = answers_beside({Way::out}, rate, Protection::clear);
    EXPECT_LE(beside, empty * 14 / 10) << name_of(rate);
  }
}

TEST(Sharing, LetsAWordOnANewStreamTakeAtMostFortyPercentMoreBesideBulk) {
  for (const std::uint64_t rate : {5'000'000UL, 100'000'000UL}) {
    SimulatedSession session(link_of(rate));
    const Duration empty = asked(session, session.add_echo(), 10);
    session.add_bulk(Way::out);
    session.run_for(bulk_lead(rate));
    std::vector<Duration> taken;
    for (int i = 0; i < 20; ++i) taken.push_back(session.ask_and_wait(session.add_echo()).value_or(Duration::max()));
    std::ranges::sort(taken);
    EXPECT_LE(taken[taken.size() / 2], empty * 14 / 10) << name_of(rate);
  }
}

TEST(Sharing, StarvesNoStreamBeforeARoundTripIsMeasured) {
  SimulatedSession session(link_of(1'000'000));
  for (int i = 0; i < 2; ++i) session.add_bulk(Way::out);
  session.run_for(2s);
  EXPECT_GT(session.received_bytes(0), 64 * kKiB);
  EXPECT_GT(session.received_bytes(1), 64 * kKiB);
}

}  // namespace
}  // namespace udtcat::connection
