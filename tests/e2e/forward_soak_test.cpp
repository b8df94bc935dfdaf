// SPDX-License-Identifier: Apache-2.0
/// A forward under load for long, its ends killed at random or never: redis, nginx and PostgreSQL behind it, and
/// clients that count.
#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <functional>
#include <iostream>
#include <iterator>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "e2e/support/tcp_client.hpp"
#include "e2e/support/tcp_services.hpp"
#include "e2e/support/udtcat_test.hpp"

namespace udtcat::test::e2e {
namespace {

constexpr auto kLongestHang =
    2s;  // spec: udtcat-forward(1), Outages: a client waits half a second for the next attempt

/// The answers that all clients together have had.
struct Tally {
  std::atomic<int> whole{0};
  std::atomic<int> cut{0};      ///< and known to be
  std::atomic<int> lies{0};     ///< cut, and looking whole
  std::atomic<int> refused{0};  ///< by the local port
  std::atomic<std::int64_t> longest_ms{0};
};

/// The moment since which both ends are there; while one is not: the distant future.
class BackSince {
 public:
  void now() { at_ = Clock::now().time_since_epoch().count(); }
  void gone() { at_ = Clock::time_point::max().time_since_epoch().count(); }
  [[nodiscard]] Clock::time_point get() const { return Clock::time_point(Clock::duration(at_.load())); }

 private:
  std::atomic<Clock::rep> at_{Clock::now().time_since_epoch().count()};
};

enum class Answer { whole, cut, lie };

class ForwardSoak : public UdtcatTest {
 protected:
  void SetUp() override {
    ASSERT_TRUE(web_.ready());
    ASSERT_TRUE(redis_.ready());
    ASSERT_TRUE(postgres_.ready());
  }
  ~ForwardSoak() override { stop_clients(); }

  [[nodiscard]] Process start_far() const {
    return listen({.args = {"--to", "web=" + here(web_.port()), "--to", "redis=" + here(redis_.port()), "--to",
                            "pg=" + here(postgres_.port())}});
  }
  [[nodiscard]] Process start_near() const {
    return connect({.args = {"--from", here(web_port_) + "=web", "--from", here(redis_port_) + "=redis", "--from",
                             here(pg_port_) + "=pg"}});
  }
  static std::string here(std::uint16_t port) { return "127.0.0.1:" + std::to_string(port); }

  /// nginx says how long it is, and closes at the end: an end before that is a lie.
  [[nodiscard]] Answer ask_web() const {
    const TcpClient client(web_port_, 60s);
    if (!client.connected()) return refuse();
    if (!client.send("GET /small HTTP/1.0\r\n\r\n")) return Answer::cut;
    std::string all;
    for (std::string more = client.receive(4096); !more.empty(); more = client.receive(4096)) all += more;
    if (all.ends_with(HttpServer::kSmallBody)) return Answer::whole;
    return client.receive_reset() ? Answer::cut : Answer::lie;
  }
  [[nodiscard]] Answer ask_redis() const {
    const TcpClient client(redis_port_, 60s);
    if (!client.connected()) return refuse();
    for (int i = 0; i < 20; ++i) {
      if (!client.send("ECHO 0123456789\r\n")) return Answer::cut;
      if (client.receive(17) != "$10\r\n0123456789\r\n") return client.receive_reset() ? Answer::cut : Answer::lie;
      let_pass(think_time_ / 5);
    }
    return Answer::whole;
  }
  /// psql ends with 0 only if it takes its answer for whole.
  [[nodiscard]] Answer ask_postgres() const {
    constexpr std::size_t kRows = 2'000;
    constexpr std::size_t kRowBytes = 101;
    const Ran ran = run({.argv = {"psql", "-h", "127.0.0.1", "-p", std::to_string(pg_port_), "-U", "postgres", "-Atc",
                                  "select repeat('x', 100) from generate_series(1, 2000)", "postgres"}});
    if (ran.status != 0) return Answer::cut;
    return ran.output.size() == kRows * kRowBytes ? Answer::whole : Answer::lie;
  }
  Answer refuse() const {
    ++goodput_.refused;
    let_pass(10ms);  // a port that is not there is asked again, and not in a storm
    return Answer::cut;
  }

  struct Clients {
    int web;
    int redis;
    int postgres;
  };
  /// think_time   after an answer, on average; a fifth of it between the words to redis
  void start_clients(const Clients& wanted, std::chrono::milliseconds think_time) {
    think_time_ = think_time;
    start_clients(wanted.web, [this] { return ask_web(); });
    start_clients(wanted.redis, [this] { return ask_redis(); });
    start_clients(wanted.postgres, [this] { return ask_postgres(); });
  }
  void start_clients(int number, const std::function<Answer()>& ask) {
    for (int i = 0; i < number; ++i)
      clients_.emplace_back([this, ask, random = std::minstd_rand(random_())]() mutable {
        while (!over_) {
          count(ask);
          let_pass(think_time_ * (random() % 200) / 100);
        }
      });
  }
  void count(const std::function<Answer()>& ask) {
    const auto began = Clock::now();
    const Answer answer = ask();
    const auto ended = Clock::now();
    if (answer == Answer::whole) ++goodput_.whole;
    if (answer == Answer::cut) ++goodput_.cut;
    if (answer == Answer::lie) ++goodput_.lies;
    const auto hung = std::chrono::duration_cast<std::chrono::milliseconds>(ended - std::max(began, back_.get()));
    for (auto longest = goodput_.longest_ms.load(); hung.count() > longest;)
      if (goodput_.longest_ms.compare_exchange_weak(longest, hung.count())) break;
  }
  void stop_clients() {
    over_ = true;
    for (std::thread& each : clients_) each.join();
    clients_.clear();
  }
  /// Kills an end, and starts it again after up to three seconds; both have up to three more.
  void kill_one(std::optional<Process>& end, const std::function<Process()>& start) {
    const auto up_to = [this](int ms) { return std::chrono::milliseconds(random_() % static_cast<unsigned>(ms)); };
    let_pass(200ms + up_to(3'000));
    back_.gone();
    end->send_signal(SIGKILL);
    std::ignore = end->wait(kAtOnce);
    let_pass(up_to(3'000));
    end.emplace(start());
    back_.now();
  }
  void print_tally() const {
    std::cout << goodput_.whole << " whole, " << goodput_.cut << " cut, " << goodput_.lies << " lies, "
              << goodput_.refused << " refused" << std::endl;
  }
  void survive_fifty_deaths(std::optional<Process>& end, const std::function<Process()>& start) {
    far_.emplace(start_far());
    near_.emplace(start_near());
    ASSERT_TRUE(accepts_tcp(pg_port_, kAtOnce)) << near_->errors();
    start_clients({.web = 4, .redis = 4, .postgres = 4}, 0ms);
    for (int i = 0; i < 50; ++i) kill_one(end, start);
    let_pass(3s);
    stop_clients();
    print_tally();
    std::cout << "the longest past the return: " << goodput_.longest_ms << " ms" << std::endl;
    EXPECT_EQ(goodput_.lies, 0);
    EXPECT_LT(goodput_.longest_ms, std::chrono::milliseconds(kLongestHang).count());
    EXPECT_GT(goodput_.whole, 1000);
  }

  const HttpServer web_;
  const DatabaseServer redis_;
  const RelationalServer postgres_;
  const std::uint16_t web_port_ = free_port();
  const std::uint16_t redis_port_ = free_port();
  const std::uint16_t pg_port_ = free_port();
  std::mt19937 random_{std::random_device{}()};
  std::optional<Process> far_;
  std::optional<Process> near_;
  BackSince back_;
  mutable Tally goodput_;
  std::atomic<bool> over_ = false;
  std::chrono::milliseconds think_time_{0};
  std::vector<std::thread> clients_;
};

TEST_F(ForwardSoak, SurvivesFiftyDeathsOfItsFarEnd) {
  survive_fifty_deaths(far_, [this] { return start_far(); });
  EXPECT_EQ(goodput_.refused, 0) << "the local port never goes away";
  EXPECT_TRUE(near_->running());
}

TEST_F(ForwardSoak, SurvivesFiftyDeathsOfItsNearEnd) {
  survive_fifty_deaths(near_, [this] { return start_near(); });
  EXPECT_TRUE(far_->running());
}

/// The memory and the descriptors that a process holds.
struct Holdings {
  std::uint64_t resident_bytes = 0;
  std::uint64_t descriptors = 0;
};
Holdings holdings_of(const Process& end) {
  const std::filesystem::directory_iterator descriptors("/proc/" + std::to_string(end.pid()) + "/fd");
  return {end.resident_bytes(), static_cast<std::uint64_t>(std::distance(begin(descriptors), {}))};
}

/// An end, before its clients came, and the most that it held in their first minutes and later.
struct Watched {
  const char* name;
  const Process& end;
  Holdings before = holdings_of(end);
  Holdings first = {};
  Holdings later = {};

  void look(Holdings& most) const {
    const Holdings now = holdings_of(end);
    most.resident_bytes = std::max(most.resident_bytes, now.resident_bytes);
    most.descriptors = std::max(most.descriptors, now.descriptors);
  }
};

TEST_F(ForwardSoak, HoldsNoMoreAfterAnHourOfTwoHundredClientsThanAfterItsFirstTenMinutes) {
  constexpr int kMinutes = 60;
  constexpr int kFirstMinutes = 10;
  far_.emplace(start_far());
  near_.emplace(start_near());
  ASSERT_TRUE(accepts_tcp(pg_port_, kAtOnce)) << near_->errors();
  ASSERT_EQ(ask_redis(), Answer::whole) << "there is a session before anything is counted";
  std::array<Watched, 2> ends{Watched{"far", *far_}, Watched{"near", *near_}};
  start_clients({.web = 60, .redis = 110, .postgres = 30}, 2500ms);
  for (int minute = 0; minute < kMinutes; ++minute) {
    for (int second = 0; second < 60; ++second) {
      let_pass(1s);
      for (Watched& each : ends) each.look(minute < kFirstMinutes ? each.first : each.later);
    }
    std::cout << minute + 1 << " min, at most: ";
    for (const Watched& each : ends) {
      const Holdings& held = minute < kFirstMinutes ? each.first : each.later;
      std::cout << each.name << " end " << held.resident_bytes / 1024 << " KiB, " << held.descriptors
                << " descriptors; ";
    }
    print_tally();
  }
  stop_clients();
  for (const Watched& each : ends) {
    EXPECT_LE(each.later.resident_bytes, each.first.resident_bytes * 21 / 20) << each.name;
    EXPECT_LE(each.later.descriptors, each.first.descriptors * 11 / 10) << each.name;
    EXPECT_TRUE(eventually(patience(10s), [&] { return holdings_of(each.end).descriptors <= each.before.descriptors; }))
        << each.name;
  }
  EXPECT_EQ(goodput_.lies + goodput_.cut + goodput_.refused, 0);
}

}  // namespace
}  // namespace udtcat::test::e2e
