/// A forward under load whose ends are killed at random: redis, nginx and PostgreSQL behind it, and clients that count.
#include <algorithm>
#include <atomic>
#include <csignal>
#include <functional>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "e2e/support/tcp_client.hpp"
#include "e2e/support/tcp_services.hpp"
#include "e2e/support/udtcat_test.hpp"

namespace udtcat::test::e2e {
namespace {

constexpr auto kLongestHang = 2s;  // spec: udtcat(1), FORWARDS: a client waits half a second for the next attempt

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
    ++tally_.refused;
    let_pass(10ms);  // a port that is not there is asked again, and not in a storm
    return Answer::cut;
  }

  void start_clients(int of_each) {
    for (int i = 0; i < of_each; ++i)
      for (const auto& ask : std::initializer_list<std::function<Answer()>>{
               [this] { return ask_web(); }, [this] { return ask_redis(); }, [this] { return ask_postgres(); }})
        clients_.emplace_back([this, ask] {
          while (!over_) count(ask);
        });
  }
  void count(const std::function<Answer()>& ask) {
    const auto began = Clock::now();
    const Answer answer = ask();
    const auto ended = Clock::now();
    if (answer == Answer::whole) ++tally_.whole;
    if (answer == Answer::cut) ++tally_.cut;
    if (answer == Answer::lie) ++tally_.lies;
    const auto hung = std::chrono::duration_cast<std::chrono::milliseconds>(ended - std::max(began, back_.get()));
    for (auto longest = tally_.longest_ms.load(); hung.count() > longest;)
      if (tally_.longest_ms.compare_exchange_weak(longest, hung.count())) break;
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
  void survive_fifty_deaths(std::optional<Process>& end, const std::function<Process()>& start) {
    far_.emplace(start_far());
    near_.emplace(start_near());
    ASSERT_TRUE(accepts_tcp(pg_port_, kAtOnce)) << near_->errors();
    start_clients(4);
    for (int i = 0; i < 50; ++i) kill_one(end, start);
    let_pass(3s);
    stop_clients();
    std::printf("%d whole, %d cut, %d lies, %d refused; the longest past the return %lld ms\n", tally_.whole.load(),
                tally_.cut.load(), tally_.lies.load(), tally_.refused.load(),
                static_cast<long long>(tally_.longest_ms.load()));
    EXPECT_EQ(tally_.lies, 0);
    EXPECT_LT(tally_.longest_ms, std::chrono::milliseconds(kLongestHang).count());
    EXPECT_GT(tally_.whole, 1000);
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
  mutable Tally tally_;
  std::atomic<bool> over_ = false;
  std::vector<std::thread> clients_;
};

TEST_F(ForwardSoak, SurvivesFiftyDeathsOfItsFarEnd) {
  survive_fifty_deaths(far_, [this] { return start_far(); });
  EXPECT_EQ(tally_.refused, 0) << "the local port never goes away";
  EXPECT_TRUE(near_->running());
}

TEST_F(ForwardSoak, SurvivesFiftyDeathsOfItsNearEnd) {
  survive_fifty_deaths(near_, [this] { return start_near(); });
  EXPECT_TRUE(far_->running());
}

}  // namespace
}  // namespace udtcat::test::e2e
