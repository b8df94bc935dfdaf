// SPDX-License-Identifier: Apache-2.0
/// Readers that pause: windows close, and must open again.
#include <algorithm>

#include "interop/interop_fixture.hpp"

namespace udtcat::test::interop {
namespace {

constexpr std::uint64_t kSmallMemoryBytes = 1 << 20;

/// Waits until no new data has passed towards `towards` for a while: whoever reads there is full.
bool wait_until_stalled(const UdpRelay& relay, Towards towards, std::chrono::milliseconds limit) {
  const auto deadline = Clock::now() + limit;
  std::size_t passed = 0;
  auto since = Clock::now();
  while (Clock::now() < deadline) {
    const auto data =
        relay.captured(towards, [](auto& packet) { return packet.is_data() && packet.payload().size() > 0; });
    std::optional<std::uint32_t> highest;
    for (const Captured& each : data)
      if (!highest || distance(*highest, each.view().sequence()) > 0) highest = each.view().sequence();
    const std::size_t now = highest.value_or(0);
    if (now != passed) since = Clock::now();
    passed = now;
    if (highest && Clock::now() - since > 250ms) return true;
    let_pass(50ms);
  }
  return false;
}

class SlowReader : public ByRole {};
UDTCAT_FOR_BOTH_ROLES(SlowReader);

/// Ours reads slowly; libudt must be set going again by us, since it does not look by itself.
void let_ours_pause(Role role, const std::vector<std::chrono::milliseconds>& pauses, bool prompt) {
  LinkOptions options{.relayed = true};
  options.ours.memory_bytes = kSmallMemoryBytes;
  Link link = make_link(role, options);
  ASSERT_TRUE(link.up());
  const Towards to_us = role == Role::connects ? Towards::connector : Towards::listener;
  constexpr std::uint64_t kRead = 4 << 20;
  const std::uint64_t bytes = kRead * pauses.size() + kRead;
  const Pattern pattern(1);
  const Job sent = link.theirs->start_sending(pattern, bytes);
  std::uint64_t got = 0;
  std::vector<std::byte> piece(64 * 1024);
  std::vector<std::chrono::milliseconds> resumptions;
  const auto read_on = [&](std::uint64_t until) {
    for (; got < until; got += piece.size()) {
      ASSERT_EQ(link.ours->read(piece, 15s), "") << "at byte " << got << link.tell();
      ASSERT_EQ(pattern.difference(got, piece), std::nullopt);
    }
  };
  for (const auto pause : pauses) {
    ASSERT_TRUE(wait_until_stalled(*link.relay, to_us, 10s)) << link.tell();
    let_pass(pause);
    ASSERT_TRUE(link.theirs->connected()) << link.tell();
    // The last packet before the reading, so that a packet beyond it is new.
    const auto before = link.relay->captured(to_us, [](auto& packet) { return packet.is_data(); });
    std::uint32_t highest = before.front().view().sequence();
    for (const Captured& each : before)
      if (distance(highest, each.view().sequence()) > 0) highest = each.view().sequence();
    const auto begin = Clock::now();
    // A third of the memory: even a lazy receiver has something to say then.
    const std::uint64_t begun_at = got;
    read_on(got + 5 * piece.size());
    EXPECT_TRUE(link.relay->wait_for(
        [&](const Captured& each) {
          return each.towards == to_us && each.view().is_data() && distance(highest, each.view().sequence()) > 0;
        },
        5s))
        << "nothing new within 5 s of the reading\n"
        << link.tell();
    resumptions.push_back(std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin));
    read_on(begun_at + kRead);
  }
  read_on(bytes);
  EXPECT_TRUE(complete(sent.wait(10s), bytes));
  std::sort(resumptions.begin(), resumptions.end());
  for (const auto each : resumptions) std::printf("resumed after %ld ms\n", each.count());
  if (prompt) {
    EXPECT_LT(resumptions[resumptions.size() / 2], 50ms) << "the middle one; libudt's own timer takes 300 ms or more";
  }
}

TEST_P(SlowReader, OfOursResumesAtOnceAfterShortPausesSerial) {
  let_ours_pause(role(), {0ms, 0ms, 0ms, 0ms, 0ms}, true);
}
TEST_P(SlowReader, OfOursResumesAfterTwoSeconds) { let_ours_pause(role(), {2s}, false); }
TEST_P(SlowReader, OfOursResumesAfterSeventySecondsSoak) { let_ours_pause(role(), {70s}, false); }

/// libudt reads slowly: it never says that it has room again, so that we must try.
void let_libudt_pause(Role role, std::optional<int> buffer_packets, std::chrono::milliseconds pause) {
  Link link = make_link(role, {.raw = {.receive_buffer_packets = buffer_packets}, .relayed = true});
  ASSERT_TRUE(link.up());
  const Towards to_them = role == Role::connects ? Towards::listener : Towards::connector;
  constexpr std::uint64_t kBytes = 24 << 20;
  const std::uint64_t bytes = buffer_packets ? kBytes / 24 : kBytes;
  const Job sent = link.ours->start_sending(Pattern(1), bytes);
  ASSERT_TRUE(wait_until_stalled(*link.relay, to_them, 10s)) << link.tell();
  let_pass(pause);
  ASSERT_TRUE(link.theirs->connected()) << link.tell();
  const auto begin = Clock::now();
  const Transfer got = link.theirs->start_receiving(Pattern(1), bytes).wait(20s);
  EXPECT_TRUE(complete(got, bytes)) << link.tell();
  EXPECT_TRUE(complete(sent.wait(5s), bytes));
  std::printf("%s\n", got.text().c_str());
  EXPECT_LT(got.gap, 1s) << "we try every 100 to 300 ms";
  EXPECT_LT(Clock::now() - begin, 15s);
}

TEST_P(SlowReader, OfTheirsWithAnOrdinaryBufferIsTriedAgain) { let_libudt_pause(role(), {}, 0ms); }
TEST_P(SlowReader, OfTheirsWithATinyBufferIsTriedAgain) { let_libudt_pause(role(), 32, 0ms); }
TEST_P(SlowReader, OfTheirsWithAnOrdinaryBufferIsTriedAgainAfterTwoSeconds) { let_libudt_pause(role(), {}, 2s); }
TEST_P(SlowReader, OfTheirsWithATinyBufferIsTriedAgainAfterTwoSeconds) { let_libudt_pause(role(), 32, 2s); }
TEST_P(SlowReader, OfTheirsWithAnOrdinaryBufferIsTriedAgainAfterSeventySecondsSoak) {
  let_libudt_pause(role(), {}, 70s);
}
TEST_P(SlowReader, OfTheirsWithATinyBufferIsTriedAgainAfterSeventySecondsSoak) { let_libudt_pause(role(), 32, 70s); }

// A buffer that is full all the time.
TEST_P(SlowReader, OfTheirsWithATinyBufferTakesAll) {
  Link link = make_link(role(), {.raw = {.receive_buffer_packets = 32}});
  ASSERT_TRUE(link.up());
  carry(link, Flow::from_us, 1 << 20, 25s);
}

}  // namespace
}  // namespace udtcat::test::interop
