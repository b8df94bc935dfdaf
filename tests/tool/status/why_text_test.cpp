// SPDX-License-Identifier: Apache-2.0
#include "tool/status/why_text.hpp"

#include <gmock/gmock.h>

namespace udtcat::tool {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using Where = Diagnosis::Where;

BothEndsStats some_ends() {
  BothEndsStats made{.here = {.elapsed = 10s, .bytes_sent = 1'000'000, .memory_bytes = 1 * kMiB}};
  made.there = EndStats{.elapsed = 10s, .memory_bytes = 2 * kMiB};
  return made;
}

std::string text(const Diagnosis& diagnosis, const BothEndsStats& ends = some_ends()) {
  return why_text(diagnosis, ends);
}

TEST(WhyText, SaysWhatIsNotKnown) {
  EXPECT_EQ(text({}, {}), "what limits is not known: nobody has measured it");
  EXPECT_EQ(text({}, {.here = {.elapsed = 1s}}), "what limits is not known: nothing moved");
  EXPECT_EQ(text({}, {.here = {.elapsed = 1s, .bytes_sent = 1}}),
            "what limits is not known: less than 2 s of it were measured; udtcat bench HOST measures longer");
  EXPECT_EQ(text({}), "what limits is not known: no one thing has held it for most of the time");
}

TEST(WhyText, NamesTheEndAndTheFigure) {
  const BitRate rate = BitRate::from_bits_per_second(812'000'000);
  EXPECT_EQ(text({.limit = Limit::consumer, .where = Where::there, .rate = rate}),
            "limited by their consumer (a disk, or a program that reads): it takes 102 MB/s of what comes");
  EXPECT_EQ(text({.limit = Limit::source, .where = Where::here, .rate = rate}),
            "limited by our source: it gives 102 MB/s, and the transfer waits for it");
}

TEST(Why, SaysThatTrainsAreOffAtTheEndThatSends) {
  BothEndsStats ends = some_ends();
  EXPECT_THAT(why(ends).text, Not(HasSubstr("trains: off")));
  ends.here.trains_off = 1;
  EXPECT_THAT(why(ends).text, HasSubstr("trains: off"));
  ends.here.bytes_received = 2 * ends.here.bytes_sent;
  EXPECT_THAT(why(ends).text, Not(HasSubstr("trains: off")));
  ends.there->trains_off = 1;
  EXPECT_THAT(why(ends).text, HasSubstr("trains: off"));
}

TEST(WhyText, OfMemorySaysWhatARoundTripCarries) {
  EXPECT_EQ(text({.limit = Limit::memory, .where = Where::here, .least_rtt = 100ms, .queue = 0us}),
            "limited by --memory here (1.05 MB): in a round trip of 100.0 ms it carries at most 10.5 MB/s; twice "
            "as much carries twice as much, up to what the path does");
  EXPECT_THAT(text({.limit = Limit::memory, .where = Where::there}),
              AllOf(HasSubstr("there (2.10 MB)"), Not(HasSubstr("at most"))))
      << "no round trip was measured";
}

TEST(WhyText, OfAThreadSaysWhetherAnotherWouldHelp) {
  BothEndsStats ends = some_ends();
  const Diagnosis loop{.limit = Limit::processor, .where = Where::here, .busy = 0.98};
  EXPECT_EQ(
      text(loop, ends),
      "limited by the processor here: our thread that moves packets has 98 % of one core; --threads 2 here would take "
      "the cipher off it, where a core is free");
  ends.here.cipher_threads = 2;
  EXPECT_THAT(text(loop, ends), HasSubstr("a faster core would help, --threads and --flows would not"));
  EXPECT_THAT(
      text({.limit = Limit::processor, .where = Where::there, .busy = 0.2, .waited = 0.75}, ends),
      AllOf(HasSubstr("their thread that moves packets has 20 % of one core and waits for one 75 % of the time"),
            Not(HasSubstr("--threads"))));
  EXPECT_THAT(
      text({.limit = Limit::processor, .where = Where::here, .thread = Diagnosis::Thread::cipher, .busy = 0.9}, ends),
      HasSubstr("more --threads here would help"));
}

TEST(WhyText, NamesASysctlOnlyWhereTheSystemGrantsLess) {
  BothEndsStats ends = some_ends();
  ends.there->socket_wanted_bytes = 16 * kMiB;
  ends.there->socket_buffer_bytes = 416 * kKiB;
  const Diagnosis dropped{.limit = Limit::socket_buffer, .where = Where::there, .dropped = 0.01};
  EXPECT_THAT(text(dropped, ends),
              AllOf(HasSubstr("one datagram or train for 100 packets"),
                    HasSubstr("`sysctl -w net.core.rmem_max=8388608` there"), HasSubstr("16.8 MB instead of 426 kB")));
  ends.there->socket_buffer_bytes = 16 * kMiB;
  EXPECT_THAT(text(dropped, ends), AllOf(HasSubstr("as large as udtcat asks for"), Not(HasSubstr("sysctl"))));
}

TEST(WhyText, IsFollowedByTheSelectedPair) {
  ConnectionStats stats;
  EXPECT_EQ(with_pair("limited", stats), "limited");
  stats.selected_pair = CandidatePair{};
  EXPECT_EQ(with_pair("limited", stats), "limited; selected pair: " + to_string(CandidatePair{}));
}

TEST(WhyText, OfThePathSaysWhatWasFound) {
  const Diagnosis plain{
      .limit = Limit::path, .path_rate = BitRate::from_bits_per_second(93'100'000), .least_rtt = 75ms, .queue = 100us};
  EXPECT_EQ(text(plain), "limited by the path: 11.6 MB/s found, round trip 75.0 ms");
  Diagnosis queued = plain;
  queued.queue = 210ms;
  queued.lost = 0.004;
  EXPECT_EQ(text(queued),
            "limited by the path: 11.6 MB/s found, round trip 75.0 ms, its queue adds 210.0 ms, 0.4 % of the "
            "packets lost");
  queued.queued_lost = 0.003;
  EXPECT_THAT(text(queued), HasSubstr("0.4 % of the packets lost (0.3 % in a full queue)"));
}

TEST(WhyText, OfLossSaysWhatNoQueueLost) {
  const BitRate moved = BitRate::from_bits_per_second(93'100'000);
  EXPECT_THAT(text({.limit = Limit::policer, .rate = moved, .lost = 0.051, .queued_lost = 0.01}),
              AllOf(HasSubstr("11.6 MB/s moved"), HasSubstr("4.1 % of the packets"), HasSubstr("TCP")));
  EXPECT_EQ(text({.limit = Limit::loss, .lost = 0.12, .queued_lost = 0.02}),
            "limited by loss on the path: 10.0 % of the packets without a queue, however fast they are sent");
  EXPECT_EQ(text({.waited = 0.6, .lost = 0.4}),
            "what limits is not known: a thread that moves packets waited for a core 60 % of the time: fewer other "
            "programs on its host, or a higher limit of the system on udtcat's, would help");
  const BitRate found = BitRate::from_bits_per_second(1'000'000);
  EXPECT_EQ(text({.lost = 0.4, .path_rate = found}),
            "what limits is not known: 40 % of the packets are lost without a queue, by chance or by a limit on UDP; "
            "where it is a limit, TCP (ssh) may be faster");
  EXPECT_THAT(text({.lost = 0.2, .path_rate = found}), AllOf(HasSubstr("20 % of the packets"), Not(HasSubstr("TCP"))));
}

TEST(WhyText, OfASessionThatWentToAnotherPathBlamesNeither) {
  EXPECT_EQ(text({.lost = 0.4, .path_changed = true, .path_rate = BitRate::from_bits_per_second(1'000'000)}),
            "what limits is not known: the session has changed to another path meanwhile");
  EXPECT_EQ(text({.lost = 0.4}), "what limits is not known: no one thing has held it for most of the time")
      << "behind a tunnel the path has no rate, and its loss is the other program's";
}

TEST(WhyText, SaysWhereMuchLessMovedThanThePathCarries) {
  EXPECT_EQ(text({.rate = BitRate::from_bits_per_second(24'000'000),
                  .path_rate = BitRate::from_bits_per_second(130'000'000)}),
            "what limits is not known: 3.00 MB/s moved where the path was found to carry 16.2 MB/s");
}

TEST(Why, NamesTheSpanThatItSpeaksOf) {
  BothEndsStats before = some_ends();
  before.here.stalled[static_cast<std::size_t>(StallReason::source)] = 10s;
  EXPECT_THAT(why_since({}, before).text, StartsWith("since it began, limited by our source: it gives 100 kB/s"));
  BothEndsStats now = before;
  now.here.elapsed += 2503ms;
  now.here.bytes_sent += 1000;
  EXPECT_THAT(why_since(before, now).text, StartsWith("over the last 2.5 s, what limits is not known"));
  now.here.elapsed += 1h;
  EXPECT_THAT(why_since(before, now).text, StartsWith("over the last 3603 s, "));
  EXPECT_THAT(why_since(now, before).text, StartsWith("since it began, ")) << "another session has begun";
  EXPECT_EQ(why_since({}, {}).text, "what limits is not known: nobody has measured it");
  EXPECT_EQ(why_since(before, before).text, why_since({}, {}).text);
  EXPECT_THAT(why(before).text, StartsWith("limited by our source")) << "of a span that its reader knows";
}

TEST(WhyText, NamesTheCap) {
  BothEndsStats ends = some_ends();
  ends.here.rate_cap = BitRate::from_bits_per_second(100'000'000);
  EXPECT_EQ(text({.limit = Limit::rate_cap, .where = Where::here}, ends), "limited by --rate 100 Mbit/s here");
}

}  // namespace
}  // namespace udtcat::tool
