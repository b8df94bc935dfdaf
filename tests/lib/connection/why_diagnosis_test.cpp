// SPDX-License-Identifier: Apache-2.0
// The diagnosis of what limits. Each limit is made true, and its neighbour false.
#include <udtcat/why_diagnosis.hpp>

#include <gtest/gtest.h>

#include "lib/connection/both_ends.hpp"

namespace udtcat {
namespace {

using namespace std::chrono_literals;

TEST(Diagnosis, NamesWhatHeldTheSender) {
  EXPECT_EQ(word(stalled_by(StallReason::source)), "source");
  EXPECT_EQ(word(stalled_by(StallReason::path)), "path");
  EXPECT_EQ(word(stalled_by(StallReason::sending)), "path");
  EXPECT_EQ(word(stalled_by(StallReason::memory)), "") << "what moved needs 410 kB";
  EXPECT_EQ(word(stalled_by(StallReason::rate_cap)), "rate_cap");
  EXPECT_EQ(word(stalled_by(StallReason::cipher)), "processor");
}

TEST(Diagnosis, BlamesNoThreadsThatHaveLittleOfACore) {
  BothEndsStats idle = stalled_by(StallReason::cipher);
  idle.here.cipher = {130ms, 20ms};
  EXPECT_EQ(word(idle), "");
}

TEST(Diagnosis, IsTheSameFromTheOtherEnd) {
  struct Case {
    StallReason why;
    const char* here;
    const char* there;
  };
  for (const auto& [why, here, there] : {Case{StallReason::source, "source", "peer_source"},
                                         {StallReason::rate_cap, "rate_cap", "peer_rate_cap"},
                                         {StallReason::path, "path", "path"},
                                         {StallReason::cipher, "processor", "peer_processor"}}) {
    EXPECT_EQ(word(stalled_by(why)), here);
    EXPECT_EQ(word(from_the_other_end(stalled_by(why))), there);
  }
}

TEST(Diagnosis, WaitsForEnoughEvidence) {
  BothEndsStats short_one = stalled_by(StallReason::path);
  short_one.here.elapsed = 199ms;
  EXPECT_EQ(word(short_one), "");
  EXPECT_EQ(word(BothEndsStats()), "");
}

TEST(Diagnosis, NamesNothingThatHeldForLessThanMost) {
  BothEndsStats mixed = stalled_by(StallReason::source, 3900ms);
  stalled(mixed.here, StallReason::path) = 3900ms;
  EXPECT_EQ(word(mixed), "");
  stalled(mixed.here, StallReason::path) = 4100ms;
  EXPECT_EQ(word(mixed), "path");
}

TEST(Diagnosis, SaysNothingOfAPathThatIsNotFoundYet) {
  BothEndsStats beginning = stalled_by(StallReason::path);
  beginning.here.path_rate = {};
  EXPECT_EQ(word(beginning), "");
  beginning = stalled_by(StallReason::path);
  beginning.here.least_rtt.reset();
  EXPECT_EQ(word(beginning), "");
}

TEST(Diagnosis, NamesTheMemoryThatAFoundPathFills) {
  BothEndsStats filled = stalled_by(StallReason::path);  // 90 Mbit/s at 40 ms are 450 kB
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

TEST(Diagnosis, AddsUpTheHoldsOfAFilledMemory) {
  BothEndsStats filled = stalled_by(StallReason::path, 3s);
  stalled(filled.here, StallReason::credit) = 3s;
  EXPECT_EQ(word(filled), "");
  filled.there->memory_bytes = 500'000;
  EXPECT_EQ(word(filled), "peer_memory");
}

TEST(Diagnosis, TellsASlowConsumerFromASmallWindow) {
  for (const StallReason why : {StallReason::credit, StallReason::peer_window}) {
    BothEndsStats full = stalled_by(why);
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
    stalled(full.here, StallReason::path) = kTime / 2;
    EXPECT_EQ(word(full), "path");
  }
}

TEST(Diagnosis, OnAPeerThatSaysNothingBlamesNoPartOfIt) {
  BothEndsStats silent = stalled_by(StallReason::peer_window);
  silent.there.reset();
  EXPECT_EQ(word(silent), "peer");
}

TEST(Diagnosis, OfAReceiverAloneIsOnItsConsumerOrNone) {
  BothEndsStats alone;
  alone.here = {.elapsed = kTime, .bytes_received = 1'000'000, .consuming = 9s};
  EXPECT_EQ(word(alone), "consumer");
  alone.here.consuming = 8s;
  EXPECT_EQ(word(alone), "");
}

TEST(Diagnosis, NamesAThreadThatHasNoTimeLeft) {
  BothEndsStats busy = stalled_by(StallReason::path);
  busy.here.event_loop = {8400ms, 0ms};
  EXPECT_EQ(word(busy), "path");
  busy.here.event_loop = {8600ms, 0ms};
  EXPECT_EQ(word(busy), "processor");
  EXPECT_EQ(word(from_the_other_end(busy)), "peer_processor");
}

TEST(Diagnosis, CountsTheTimeForWhichAThreadWaitedForACore) {
  BothEndsStats crowded = stalled_by(StallReason::path);
  crowded.there->event_loop = {2s, 7s};
  const Diagnosis diagnosis = diagnose(crowded);
  EXPECT_EQ(word_of(diagnosis), "peer_processor");
  EXPECT_DOUBLE_EQ(diagnosis.busy, 0.2);
  EXPECT_DOUBLE_EQ(diagnosis.waited, 0.7);
  crowded.there->event_loop = {2s, 6s};
  EXPECT_EQ(word(crowded), "") << "a path that a late host shows may be the host's";
  EXPECT_DOUBLE_EQ(diagnose(crowded).waited, 0.6);
  crowded.there->event_loop = {2s, 1s};
  EXPECT_EQ(word(crowded), "path");
}

TEST(Diagnosis, NamesTheBusierOfTwoEnds) {
  BothEndsStats both = stalled_by(StallReason::path);
  both.here.event_loop = {9s, 0ms};
  both.there->event_loop = {9500ms, 0ms};
  EXPECT_EQ(word(both), "peer_processor");
  both.here.event_loop = {9800ms, 0ms};
  EXPECT_EQ(word(both), "processor");
}

TEST(Diagnosis, CountsCipherThreadsEachByItself) {
  BothEndsStats four = stalled_by(StallReason::path);
  four.here.cipher_threads = 4;
  four.here.cipher = {20s, 0s};
  EXPECT_EQ(word(four), "path") << "each was busy for half of the time";
  four.here.cipher = {36s, 0s};
  const Diagnosis diagnosis = diagnose(four);
  EXPECT_EQ(diagnosis.limit, Limit::processor);
  EXPECT_EQ(diagnosis.thread, Diagnosis::Thread::cipher);
}

TEST(Diagnosis, NamesSocketsThatDropUnlessTheirThreadIsBusy) {
  BothEndsStats dropped = stalled_by(StallReason::path);
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

TEST(Diagnosis, NamesASlowConsumerThoughItsSocketsDrop) {
  BothEndsStats slow = stalled_by(StallReason::credit);
  slow.there->consuming = 9s;
  slow.there->socket_drops = 200;
  EXPECT_EQ(word(slow), "peer_consumer");
}

TEST(Diagnosis, NamesACapThatIsReachedWhateverElseIsBusy) {
  BothEndsStats capped = stalled_by(StallReason::rate_cap);
  capped.here.rate_cap = BitRate::from_bits_per_second(80'000'000);
  capped.here.event_loop = {9s, 0s};
  EXPECT_EQ(word(capped), "rate_cap");
  capped.here.rate_cap = BitRate::from_bits_per_second(110'000'000);
  EXPECT_EQ(word(capped), "processor") << "it would be faster";
}

TEST(Diagnosis, SaysNothingOfAPathThatIsHalfOfTheCap) {
  BothEndsStats slow = stalled_by(StallReason::path);  // 90 Mbit/s found
  slow.here.rate_cap = BitRate::from_bits_per_second(170'000'000);
  EXPECT_EQ(word(slow), "");
  slow.here.rate_cap = BitRate::from_bits_per_second(190'000'000);
  EXPECT_EQ(word(slow), "path");
}

TEST(Diagnosis, DoesNotBlameAPathThatWasFoundToCarryMuchMore) {
  BothEndsStats beginning = stalled_by(StallReason::path);
  beginning.here.path_rate = BitRate::from_bits_per_second(170'000'000);
  EXPECT_EQ(word(beginning), "");
  beginning.here.path_rate = BitRate::from_bits_per_second(150'000'000);
  EXPECT_EQ(word(beginning), "path");
}

TEST(Diagnosis, DoesNotBlameMemoryThatWhatMovedDoesNotFill) {
  BothEndsStats small =
      stalled_by(StallReason::credit);  // 5 MB in half a second, of which most waits for the last receipt
  small.here.bytes_sent = 5'000'000;
  small.here.event_loop = {50ms, 50ms};
  small.here.elapsed = 560ms;
  small.here.stalled = {};
  stalled(small.here, StallReason::credit) = 400ms;
  small.here.path_rate = {};
  small.here.least_rtt = 75ms;
  small.there->memory_bytes = 256 * kMiB;
  EXPECT_EQ(word(small), "");
  EXPECT_EQ(word(from_the_other_end(small)), "");
  small.there->memory_bytes = 1 * kMiB;
  EXPECT_EQ(word(small), "peer_memory");
}

TEST(Diagnosis, TakesNoLoadFromAnIntervalThatIsTooShort) {
  BothEndsStats busy = stalled_by(StallReason::path);
  busy.there->elapsed = 199ms;
  busy.there->event_loop = {199ms, 0ms};
  EXPECT_EQ(word(busy), "path");
  busy.there->elapsed = 200ms;
  EXPECT_EQ(word(busy), "peer_processor");
}

TEST(Diagnosis, IsOnTheDirectionInWhichMoreMoves) {
  BothEndsStats received = from_the_other_end(stalled_by(StallReason::path));
  stalled(received.here, StallReason::source) = kTime;
  EXPECT_EQ(word(received), "path");
  EXPECT_FALSE(diagnose(received).sends);
}

TEST(Diagnosis, WhereNothingMovesIsOfTheEndThatIsHeldUp) {
  BothEndsStats waiting = stalled_by(StallReason::credit);
  waiting.there->consuming = kTime;
  waiting.here.bytes_sent = waiting.there->bytes_received = 0;
  EXPECT_EQ(word(waiting), "peer_consumer");
  stalled(*waiting.there, StallReason::source) = kTime;
  BothEndsStats seen_there = from_the_other_end(waiting);
  EXPECT_EQ(word(seen_there), "consumer");
  BothEndsStats idle = stalled_by(StallReason::source);
  stalled(*idle.there, StallReason::source) = kTime;
  idle.here.bytes_sent = idle.there->bytes_received = 0;
  EXPECT_EQ(word(idle), "source");
}

TEST(Diagnosis, WhereNothingMovesIsNotOnAnEndThatHasSaidAll) {
  BothEndsStats waiting = stalled_by(StallReason::source);
  waiting.here.bytes_sent = waiting.there->bytes_received = 0;
  EXPECT_EQ(word(waiting), "source");
  EXPECT_EQ(word(from_the_other_end(waiting)), "peer_source");
}

TEST(Diagnosis, IsOfTheTimeBetween) {
  const BothEndsStats before = stalled_by(StallReason::source);
  BothEndsStats now = before;
  now.here.elapsed += 5s;
  now.here.bytes_sent += 40'000'000;
  stalled(now.here, StallReason::path) += 5s;
  EXPECT_EQ(word(since(before, now)), "path");
}

}  // namespace
}  // namespace udtcat
