// SPDX-License-Identifier: Apache-2.0
#include "lib/net/resolver.hpp"

#include <atomic>
#include <future>
#include <mutex>

#include <gtest/gtest.h>

#include "support/addresses.hpp"
#include "support/run_until.hpp"

namespace udtcat::net {
namespace {

using namespace std::chrono_literals;
using test::loopback;
using test::run_ready;
using test::run_until;

LookupResult not_there() { return {fail(Errc::cannot_resolve, "resolve 'db'", "no such name")}; }
LookupResult out_of_order() { return {fail(Errc::cannot_resolve, "resolve 'db'", "try again"), true}; }

struct ResolverTest : ::testing::Test {
  using Found = Result<std::vector<Endpoint>>;

  Resolver names(ResolverTimeouts times) {
    return Resolver(io, AddressFamily::any, times, [this](const HostPort&, AddressFamily) {
      const std::lock_guard lock(mutex);
      ++asked;
      return answer;
    });
  }
  void answers(LookupResult next) {
    const std::lock_guard lock(mutex);
    answer = std::move(next);
  }
  Found find(Resolver& in, std::uint16_t port = 5432) {
    std::optional<Found> found;
    in.look_up({"db", port}, [&](Found result) { found = std::move(result); });
    EXPECT_FALSE(found) << "never from within";
    EXPECT_TRUE(run_until(io, [&] { return found.has_value(); }));
    return *found;
  }
  static LookupResult here() { return {std::vector{loopback(AddressFamily::ipv4)}}; }
  static LookupResult there() { return {std::vector{loopback(AddressFamily::ipv6)}}; }

  boost::asio::io_context io;
  std::mutex mutex;
  LookupResult answer = here();
  int asked = 0;
  static constexpr ResolverTimeouts kNothingLasts{.answer_lasts = 0ms, .failure_lasts = 0ms};
};

TEST_F(ResolverTest, AsksAgainWhenTheAnswerIsOld) {
  Resolver old = names(kNothingLasts);
  EXPECT_EQ(find(old).value(), std::vector{loopback(AddressFamily::ipv4).with_port(5432)});
  answers(there());
  EXPECT_EQ(find(old).value(), std::vector{loopback(AddressFamily::ipv6).with_port(5432)});
}

TEST_F(ResolverTest, DoesNotAskWhileTheAnswerLasts) {
  Resolver fresh = names({.answer_lasts = 1h});
  EXPECT_TRUE(find(fresh));
  answers(there());
  EXPECT_EQ(find(fresh, 80).value(), std::vector{loopback(AddressFamily::ipv4).with_port(80)})
      << "of each its own port";
  EXPECT_EQ(asked, 1);
}

TEST_F(ResolverTest, KeepsTheLastGoodAnswerOverAFailure) {
  Resolver kept = names(kNothingLasts);
  EXPECT_TRUE(find(kept));
  answers(out_of_order());
  EXPECT_EQ(find(kept).value(), std::vector{loopback(AddressFamily::ipv4).with_port(5432)});
}

TEST_F(ResolverTest, ForgetsTheLastGoodAnswerOfANameThatIsGone) {
  Resolver gone = names(kNothingLasts);
  EXPECT_TRUE(find(gone));
  answers(not_there());
  EXPECT_EQ(find(gone).error().message(), "resolve 'db': no such name");
  answers(out_of_order());
  EXPECT_EQ(find(gone).error().message(), "resolve 'db': try again");
  answers(there());
  EXPECT_TRUE(find(gone));
}

struct SlowResolverTest : ResolverTest {
  ~SlowResolverTest() override { let_go.set_value(); }
  Resolver slow_names(std::chrono::milliseconds timeout) {
    return Resolver(
        io, AddressFamily::any, {.answer_lasts = 0ms, .stale_after = timeout, .timeout = timeout},
        // The thread that asks may live longer than the test.
        [fast = fast, asked = std::make_shared<std::atomic<int>>(), gate = gate](const HostPort&, AddressFamily) {
          if ((*asked)++ >= fast) gate.wait();
          return here();
        });
  }
  int fast = 0;  // answers before the resolver is silent
  std::promise<void> let_go;
  std::shared_future<void> gate{let_go.get_future()};
};

TEST_F(SlowResolverTest, GivesTheLastGoodAnswerWhenTheSystemIsSlow) {
  fast = 1;
  Resolver slow = slow_names(200ms);
  EXPECT_TRUE(find(slow));
  EXPECT_TRUE(find(slow));
  EXPECT_TRUE(find(slow)) << "at once, as it is known to be slow";
}

TEST_F(SlowResolverTest, SaysThatTheSystemDoesNotAnswer) {
  Resolver slow = slow_names(1ms);
  EXPECT_EQ(find(slow).error().message(), "resolve 'db': the resolver does not answer");
}

TEST_F(SlowResolverTest, CallsNoHandlerAfterDestruction) {
  {
    slow_names(1h).look_up({"db", 1}, [](auto) { FAIL() << "nobody is there"; });
  }
  run_ready(io);
}

}  // namespace
}  // namespace udtcat::net
