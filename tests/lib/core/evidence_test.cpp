// SPDX-License-Identifier: Apache-2.0
// include/udtcat/evidence.hpp: the verdict on what limits. Each is made true, and its neighbour false.
#include <udtcat/evidence.hpp>

#include <gtest/gtest.h>

#include "lib/core/evidence_parts.hpp"

namespace udtcat {
namespace {

using namespace std::chrono_literals;

TEST(Verdict, NamesWhatHeldTheSender) {
  EXPECT_EQ(word(held_by(Hold::source)), "source");
  EXPECT_EQ(word(held_by(Hold::path)), "path");
  EXPECT_EQ(word(held_by(Hold::sending)), "path");
  EXPECT_EQ(word(held_by(Hold::memory)), "") << "what moved needs 410 kB";
  EXPECT_EQ(word(held_by(Hold::rate_cap)), "rate_cap");
  EXPECT_EQ(word(held_by(Hold::cipher)), "processor");
}

TEST(Verdict, BlamesNoThreadsThatHaveLittleOfACore) {
  Evidence idle = held_by(Hold::cipher);
  idle.here.cipher = {130ms, 20ms};
  EXPECT_EQ(word(idle), "");
}

TEST(Verdict, IsTheSameFromTheOtherEnd) {
  struct Case {
    Hold why;
    const char* here;
    const char* there;
  };
  for (const auto& [why, here, there] : {Case{Hold::source, "source", "peer_source"},
                                         {Hold::rate_cap, "rate_cap", "peer_rate_cap"},
                                         {Hold::path, "path", "path"},
                                         {Hold::cipher, "processor", "peer_processor"}}) {
    EXPECT_EQ(word(held_by(why)), here);
    EXPECT_EQ(word(from_the_other_end(held_by(why))), there);
  }
}

TEST(Verdict, WaitsForEnoughEvidence) {
  Evidence short_one = held_by(Hold::path);
  short_one.here.elapsed = 199ms;
  EXPECT_EQ(word(short_one), "");
  EXPECT_EQ(word(Evidence()), "");
}

TEST(Verdict, NamesNothingThatHeldForLessThanMost) {
  Evidence mixed = held_by(Hold::source, 3900ms);
  held(mixed.here, Hold::path) = 3900ms;
  EXPECT_EQ(word(mixed), "");
  held(mixed.here, Hold::path) = 4100ms;
  EXPECT_EQ(word(mixed), "path");
}

TEST(Verdict, SaysNothingOfAPathThatIsNotFoundYet) {
  Evidence beginning = held_by(Hold::path);
  beginning.here.path_rate = {};
  EXPECT_EQ(word(beginning), "");
  beginning = held_by(Hold::path);
  beginning.here.least_rtt.reset();
  EXPECT_EQ(word(beginning), "");
}

TEST(Verdict, NamesTheMemoryThatAFoundPathFills) {
  Evidence filled = held_by(Hold::path);  // 90 Mbit/s at 40 ms are 450 kB
  filled.here.memory_bytes = 550'000;
  EXPECT_EQ(word(filled), "memory");
  filled.here.memory_bytes = 600'000;
  EXPECT_EQ(word(filled), "") << "near it";
  filled.here.memory_bytes = 1'200'000;
  EXPECT_EQ(word(filled), "path");
  filled.there->memory_bytes = 500'000;
  EXPECT_EQ(word(filled), "peer_memory");
  EXPECT_EQ(word(from_the_other_end(filled)), "memory");
  filled.there->memory_bytes = 600'001;
  EXPECT_EQ(word(filled), "path");
}

TEST(Verdict, AddsUpTheHoldsOfAFilledMemory) {
  Evidence filled = held_by(Hold::path, 3s);
  held(filled.here, Hold::credit) = 3s;
  EXPECT_EQ(word(filled), "");
  filled.there->memory_bytes = 500'000;
  EXPECT_EQ(word(filled), "peer_memory");
}

TEST(Verdict, TellsASlowConsumerFromASmallWindow) {
  for (const Hold why : {Hold::credit, Hold::peer_window}) {
    Evidence full = held_by(why);
    full.there->consuming = 9s;
    EXPECT_EQ(word(full), "peer_consumer");
    EXPECT_EQ(word(from_the_other_end(full)), "consumer");
    full.there->consuming = 4s;
    EXPECT_EQ(word(full), "peer") << "it does not say how much memory it has";
    full.there->memory_bytes = 2'000'000;
    EXPECT_EQ(word(full), "peer_memory");
    EXPECT_EQ(word(from_the_other_end(full)), "memory");
    full.there->memory_bytes = 3'000'000;
    EXPECT_EQ(word(full), "") << "a stream's window, a quarter of it, holds more than what moved";
    held(full.here, Hold::path) = kTime / 2;
    EXPECT_EQ(word(full), "path");
  }
}

TEST(Verdict, OnAPeerThatSaysNothingBlamesNoPartOfIt) {
  Evidence silent = held_by(Hold::peer_window);
  silent.there.reset();
  EXPECT_EQ(word(silent), "peer");
}

TEST(Verdict, OfAReceiverAloneIsOnItsConsumerOrNone) {
  Evidence alone;
  alone.here = {.elapsed = kTime, .bytes_received = 1'000'000, .consuming = 9s};
  EXPECT_EQ(word(alone), "consumer");
  alone.here.consuming = 8s;
  EXPECT_EQ(word(alone), "");
}

TEST(Verdict, NamesAThreadThatHasNoTimeLeft) {
  Evidence busy = held_by(Hold::path);
  busy.here.event_loop = {8400ms, 0ms};
  EXPECT_EQ(word(busy), "path");
  busy.here.event_loop = {8600ms, 0ms};
  EXPECT_EQ(word(busy), "processor");
  EXPECT_EQ(word(from_the_other_end(busy)), "peer_processor");
}

TEST(Verdict, CountsTheTimeForWhichAThreadWaitedForACore) {
  Evidence crowded = held_by(Hold::path);
  crowded.there->event_loop = {2s, 7s};
  const Verdict verdict = verdict_on(crowded);
  EXPECT_EQ(word_of(verdict), "peer_processor");
  EXPECT_DOUBLE_EQ(verdict.busy, 0.2);
  EXPECT_DOUBLE_EQ(verdict.waited, 0.7);
  crowded.there->event_loop = {2s, 6s};
  EXPECT_EQ(word(crowded), "") << "a path that a late host shows may be the host's";
  EXPECT_DOUBLE_EQ(verdict_on(crowded).waited, 0.6);
  crowded.there->event_loop = {2s, 1s};
  EXPECT_EQ(word(crowded), "path");
}

TEST(Verdict, NamesTheBusierOfTwoEnds) {
  Evidence both = held_by(Hold::path);
  both.here.event_loop = {9s, 0ms};
  both.there->event_loop = {9500ms, 0ms};
  EXPECT_EQ(word(both), "peer_processor");
  both.here.event_loop = {9800ms, 0ms};
  EXPECT_EQ(word(both), "processor");
}

TEST(Verdict, CountsCipherThreadsEachByItself) {
  Evidence four = held_by(Hold::path);
  four.here.cipher_threads = 4;
  four.here.cipher = {20s, 0s};
  EXPECT_EQ(word(four), "path") << "each was busy for half of the time";
  four.here.cipher = {36s, 0s};
  const Verdict verdict = verdict_on(four);
  EXPECT_EQ(verdict.limit, Limit::processor);
  EXPECT_EQ(verdict.thread, Verdict::Thread::cipher);
}

TEST(Verdict, NamesSocketsThatDropUnlessTheirThreadIsBusy) {
  Evidence dropped = held_by(Hold::path);
  dropped.there->socket_drops = 60;
  EXPECT_EQ(word(dropped), "path") << "less than one in a thousand";
  dropped.there->socket_drops = 80;
  EXPECT_EQ(word(dropped), "peer_socket_buffer");
  EXPECT_EQ(word(from_the_other_end(dropped)), "socket_buffer");
  dropped.there->event_loop = {1s, 3s};
  EXPECT_EQ(word(dropped), "peer_processor") << "it comes late to sockets that are as large as can be";
  dropped.there->socket_wanted_bytes = 1;
  EXPECT_EQ(word(dropped), "peer_socket_buffer");
  dropped.there->event_loop = {9s, 0s};
  EXPECT_EQ(word(dropped), "peer_processor") << "which no buffer helps";
}

TEST(Verdict, NamesASlowConsumerThoughItsSocketsDrop) {
  Evidence slow = held_by(Hold::credit);
  slow.there->consuming = 9s;
  slow.there->socket_drops = 200;
  EXPECT_EQ(word(slow), "peer_consumer");
}

TEST(Verdict, NamesACapThatIsReachedWhateverElseIsBusy) {
  Evidence capped = held_by(Hold::rate_cap);
  capped.here.rate_cap = BitRate::from_bits_per_second(80'000'000);
  capped.here.event_loop = {9s, 0s};
  EXPECT_EQ(word(capped), "rate_cap");
  capped.here.rate_cap = BitRate::from_bits_per_second(110'000'000);
  EXPECT_EQ(word(capped), "processor") << "it would be faster";
}

TEST(Verdict, SaysNothingOfAPathThatIsHalfOfTheCap) {
  Evidence slow = held_by(Hold::path);  // 90 Mbit/s found
  slow.here.rate_cap = BitRate::from_bits_per_second(170'000'000);
  EXPECT_EQ(word(slow), "");
  slow.here.rate_cap = BitRate::from_bits_per_second(190'000'000);
  EXPECT_EQ(word(slow), "path");
}

TEST(Verdict, DoesNotBlameAPathThatWasFoundToCarryMuchMore) {
  Evidence beginning = held_by(Hold::path);
  beginning.here.path_rate = BitRate::from_bits_per_second(170'000'000);
  EXPECT_EQ(word(beginning), "");
  beginning.here.path_rate = BitRate::from_bits_per_second(150'000'000);
  EXPECT_EQ(word(beginning), "path");
}

TEST(Verdict, DoesNotBlameMemoryThatWhatMovedDoesNotFill) {
  Evidence small = held_by(Hold::credit);  // 5 MB in half a second, of which most waits for the last receipt
  small.here.bytes_sent = 5'000'000;
  small.here.event_loop = {50ms, 50ms};
  small.here.elapsed = 560ms;
  small.here.held = {};
  held(small.here, Hold::credit) = 400ms;
  small.here.path_rate = {};
  small.here.least_rtt = 75ms;
  small.there->memory_bytes = 256 * kMiB;
  EXPECT_EQ(word(small), "");
  EXPECT_EQ(word(from_the_other_end(small)), "");
  small.there->memory_bytes = 1 * kMiB;
  EXPECT_EQ(word(small), "peer_memory");
}

TEST(Verdict, TakesNoLoadFromAnIntervalThatIsTooShort) {
  Evidence busy = held_by(Hold::path);
  busy.there->elapsed = 199ms;
  busy.there->event_loop = {199ms, 0ms};
  EXPECT_EQ(word(busy), "path");
  busy.there->elapsed = 200ms;
  EXPECT_EQ(word(busy), "peer_processor");
}

TEST(Verdict, IsOnTheDirectionInWhichMoreMoves) {
  Evidence received = from_the_other_end(held_by(Hold::path));
  held(received.here, Hold::source) = kTime;
  EXPECT_EQ(word(received), "path");
  EXPECT_FALSE(verdict_on(received).sends);
}

TEST(Verdict, WhereNothingMovesIsOnTheEndThatIsHeldUp) {
  Evidence stalled = held_by(Hold::credit);
  stalled.there->consuming = kTime;
  stalled.here.bytes_sent = stalled.there->bytes_received = 0;
  EXPECT_EQ(word(stalled), "peer_consumer");
  held(*stalled.there, Hold::source) = kTime;
  Evidence seen_there = from_the_other_end(stalled);
  EXPECT_EQ(word(seen_there), "consumer");
  Evidence idle = held_by(Hold::source);
  held(*idle.there, Hold::source) = kTime;
  idle.here.bytes_sent = idle.there->bytes_received = 0;
  EXPECT_EQ(word(idle), "source");
}

TEST(Verdict, WhereNothingMovesIsNotOnAnEndThatHasSaidAll) {
  Evidence waiting = held_by(Hold::source);
  waiting.here.bytes_sent = waiting.there->bytes_received = 0;
  EXPECT_EQ(word(waiting), "source");
  EXPECT_EQ(word(from_the_other_end(waiting)), "peer_source");
}

TEST(EvidenceSince, CountsWhatWasAddedAndKeepsWhatIs) {
  const Evidence before = held_by(Hold::source);
  Evidence now = before;
  now.here.elapsed += 5s;
  now.here.bytes_sent += 40'000'000;
  now.here.packets_lost += 7;
  held(now.here, Hold::path) += 5s;
  now.here.event_loop.had += 1s;
  const Evidence made = since(before, now);
  EXPECT_EQ(made.here.elapsed, 5s);
  EXPECT_EQ(made.here.bytes_sent, 40'000'000U);
  EXPECT_EQ(made.here.packets_lost, 7U);
  EXPECT_EQ(made.here.event_loop.had, 1s);
  EXPECT_EQ(made.here.path_rate, now.here.path_rate);
  EXPECT_EQ(word(made), "path");
}

TEST(EvidenceSince, OfAPeerThatSaidNothingInTheMeantimeIsThatOfItsLastReport) {
  Evidence before = held_by(Hold::path);
  before.there->elapsed = 9s;
  before.there->consuming = 1s;
  before.there_before = EndEvidence{.elapsed = 8s, .consuming = 500ms};
  EXPECT_EQ(since(before, before).there->elapsed, 1s);
  EXPECT_EQ(since(before, before).there->consuming, 500ms);
  Evidence now = before;
  now.there_before = before.there;
  now.there->elapsed = 11s;
  now.there->consuming = 3s;
  EXPECT_EQ(since(before, now).there->elapsed, 2s);
  EXPECT_EQ(since(before, now).there->consuming, 2s);
  EXPECT_EQ(since(Evidence(), now).there->elapsed, 11s);
}

TEST(EvidenceSince, SurvivesAPeerWhoseSumsFall) {
  Evidence before = held_by(Hold::path);
  Evidence now = before;
  now.there->elapsed += 1s;
  now.there->bytes_received = 0;
  EXPECT_EQ(since(before, now).there->bytes_received, 0U);
}

}  // namespace
}  // namespace udtcat
