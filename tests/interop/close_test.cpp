// SPDX-License-Identifier: Apache-2.0
/// How connections end: nothing is lost, and both ends know.
#include <array>

#include "interop/interop_fixture.hpp"

namespace udtcat::test::interop {
namespace {

constexpr std::array kSizes{std::uint64_t{1}, std::uint64_t{1456}, std::uint64_t{1457}, std::uint64_t{16 * 1456},
                            std::uint64_t{10} << 20};

bool is_shutdown(const PacketView& packet) { return packet.is(Type::shutdown); }

class Close : public testing::TestWithParam<std::tuple<Role, std::uint64_t>> {};

INSTANTIATE_TEST_SUITE_P(BothRoles, Close,
                         testing::Combine(testing::Values(Role::connects, Role::listens), testing::ValuesIn(kSizes)),
                         [](const auto& row) {
                           return name_of(std::get<0>(row.param)) + "With" + std::to_string(std::get<1>(row.param)) +
                                  "Bytes";
                         });

TEST_P(Close, OfOursComesAfterTheLastByte) {
  const auto [role, bytes] = GetParam();
  Link link = make_link(role);
  ASSERT_TRUE(link.up());
  const Job got = link.theirs->start_receiving_to_the_end(Pattern(1));
  const Job sent = link.ours->start_sending(Pattern(1), bytes, std::size_t{11} << 20);
  link.ours->close(20s);
  const Transfer all = got.wait(20s);
  EXPECT_TRUE(complete(all, bytes)) << link.tell();
  EXPECT_TRUE(all.ended) << link.tell();
  std::printf("%s\n", all.text().c_str());
}

TEST_P(Close, OfOursGoesOnWithoutTheChannel) {
  const auto [role, bytes] = GetParam();
  Link link = make_link(role);
  ASSERT_TRUE(link.up());
  const Job got = link.theirs->start_receiving_to_the_end(Pattern(1));
  const Job sent = link.ours->start_sending(Pattern(1), bytes, std::size_t{11} << 20);
  link.ours->close(20s);
  link.ours.reset();
  const Transfer all = got.wait(20s);
  EXPECT_TRUE(complete(all, bytes)) << link.tell();
  EXPECT_TRUE(all.ended) << link.tell();
}

TEST_P(Close, OfTheirsComesAfterTheLastByte) {
  const auto [role, bytes] = GetParam();
  Link link = make_link(role);
  ASSERT_TRUE(link.up());
  const Job got = link.ours->start_receiving(Pattern(1), bytes);
  const Job sent = link.theirs->start_sending(Pattern(1), bytes);
  EXPECT_TRUE(complete(sent.wait(10s), bytes));
  link.theirs->close(20s);
  EXPECT_TRUE(complete(got.wait(20s), bytes)) << link.ours->counters();
  link.ours->start_read(1);
  const auto ended = link.ours->read_ended(3s);
  ASSERT_TRUE(ended) << "libudt has closed, and we wait on";
  ASSERT_FALSE(*ended);
  EXPECT_EQ(ended->error().code, Errc::connection_broken);
}

class LostShutdown : public ByRole {};
UDTCAT_FOR_BOTH_ROLES(LostShutdown);

// libudt speaks now and then until it knows; whoever has gone answers that it has.
TEST_P(LostShutdown, OfOursIsSaidAgainToWhoSpeaksOn) {
  Link link = make_link(role(), {.relayed = true});
  ASSERT_TRUE(link.up());
  std::size_t left = 3;
  link.relay->rule(towards_them(), [&left](const PacketView& packet) {
    return Fate{.drop = is_shutdown(packet) && left > 0 && left-- > 0};
  });
  const Job got = link.theirs->start_receiving_to_the_end(Pattern(1));
  const Job sent = link.ours->start_sending(Pattern(1), 1000);
  link.ours->close(5s);
  link.ours.reset();
  const auto begin = Clock::now();
  const Transfer all = got.wait(10s);
  EXPECT_TRUE(complete(all, 1000)) << link.relay->last_words();
  EXPECT_TRUE(all.ended);
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin);
  std::printf("libudt knew after %ld ms; by itself it needs 45 to 65 s\n", took.count());
  EXPECT_LT(took, 5s) << link.relay->last_words();
}

TEST_P(LostShutdown, OfOursIsSentThreeTimes) {
  Link link = make_link(role(), {.relayed = true});
  ASSERT_TRUE(link.up());
  link.relay->blackhole(towards_us(), true);
  link.relay->rule(towards_them(), [](const PacketView& packet) { return Fate{.drop = is_shutdown(packet)}; });
  link.ours->close(100ms);
  std::size_t seen = 0;
  EXPECT_TRUE(link.relay->wait_for([&](const Captured& each) { return is_shutdown(each.view()) && ++seen == 3; }, 3s))
      << seen << " SHUTDOWNs\n"
      << link.relay->last_words();
}

TEST_P(LostShutdown, OfTheirsIsReplacedByOurOwnPatience) {
  LinkOptions options{.relayed = true};
  options.ours.idle_timeout = 2s;
  Link link = make_link(role(), options);
  ASSERT_TRUE(link.up());
  carry(link, Flow::to_us, 1000, 3s);
  link.relay->rule(towards_us(), [](const PacketView& packet) { return Fate{.drop = is_shutdown(packet)}; });
  const auto begin = Clock::now();
  link.ours->start_read(1);
  link.theirs->close();
  const auto ended = link.ours->read_ended(8s);
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin);
  ASSERT_TRUE(ended) << "its idle timeout is 2 s\n" << link.relay->last_words();
  EXPECT_EQ(ended->error().code, Errc::connection_broken);
  EXPECT_GT(took, 1500ms);
  EXPECT_LT(took, 5s);
}

// libudt throws away unacknowledged data when it hears a SHUTDOWN.
TEST_P(LostShutdown, WaitsForTheLastAcknowledgement) {
  Link link = make_link(role(), {.relayed = true});
  ASSERT_TRUE(link.up());
  carry(link, Flow::from_us, 1000, 3s);
  link.relay->blackhole(towards_them(), true);
  link.ours->start_write(Pattern(1).bytes(1000, 2 * 1456));
  link.ours->close(10s);
  EXPECT_FALSE(link.relay->wait_for([](const Captured& each) { return is_shutdown(each.view()); }, 700ms))
      << link.relay->last_words();
  const Job got = link.theirs->start_receiving_to_the_end(Pattern(9));
  link.relay->capture();
  link.relay->blackhole(towards_them(), false);
  EXPECT_TRUE(link.relay->wait_for([](const Captured& each) { return is_shutdown(each.view()); }, 5s))
      << link.relay->last_words();
}

TEST_P(LostShutdown, ComesWhenTheDrainIsOver) {
  Link link = make_link(role(), {.relayed = true});
  ASSERT_TRUE(link.up());
  carry(link, Flow::from_us, 1000, 3s);
  link.relay->blackhole(towards_us(), true);
  link.ours->start_write(Pattern(1).bytes(1000, 5000));
  link.ours->close(500ms);
  EXPECT_TRUE(link.relay->wait_for([](const Captured& each) { return is_shutdown(each.view()); }, 3s))
      << link.relay->last_words();
  EXPECT_TRUE(link.theirs->wait_until_broken(3s));
}

}  // namespace
}  // namespace udtcat::test::interop
