// SPDX-License-Identifier: Apache-2.0
#include "meet/tcp_relay.hpp"

#include <algorithm>
#include <utility>

#include <sys/socket.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "support/bytes.hpp"
#include "support/run_until.hpp"

namespace udtcat::meet {
namespace {

using namespace std::chrono_literals;
using test::numbered_bytes;
using Bytes = std::vector<std::byte>;

/// An end's side of a connection, over loopback.
class RelayedEnd {
 public:
  explicit RelayedEnd(boost::asio::io_context& io) : socket_(io) {
    boost::asio::ip::tcp::acceptor acceptor(io, {boost::asio::ip::address_v4::loopback(), 0});
    socket_.connect(acceptor.local_endpoint());
    other_side.emplace(acceptor.accept());
    socket_.non_blocking(true);
  }
  /// As much as the system takes.
  std::size_t send(std::span<const std::byte> bytes) {
    boost::system::error_code full;
    std::size_t sent = 0;
    while (!full && sent < bytes.size())
      sent += socket_.write_some(boost::asio::buffer(bytes.data() + sent, bytes.size() - sent), full);
    return sent;
  }
  /// All that has come.
  const Bytes& received() {
    Bytes piece(65'536);
    boost::system::error_code nothing;
    while (!nothing) {
      const std::size_t got = socket_.read_some(boost::asio::buffer(piece), nothing);
      received_.insert(received_.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(got));
    }
    if (nothing != boost::asio::error::would_block) over_ = nothing;
    return received_;
  }
  [[nodiscard]] bool ended_in_order() {
    received();
    return over_ == boost::asio::error::eof;
  }
  [[nodiscard]] bool was_reset() {
    received();
    return over_ == boost::asio::error::connection_reset;
  }
  void finish() { socket_.shutdown(boost::asio::ip::tcp::socket::shutdown_send); }
  void close() { socket_.close(); }
  void reset() {
    socket_.set_option(boost::asio::socket_base::linger(true, 0));
    socket_.close();
  }

  std::optional<boost::asio::ip::tcp::socket> other_side;

 private:
  boost::asio::ip::tcp::socket socket_;
  Bytes received_;
  boost::system::error_code over_;
};

class TcpRelayTest : public testing::Test {
 protected:
  void open(BitRate rate = {}, std::chrono::milliseconds patience = 10s) {
    relay_.emplace(io_, bucket_of_pair(rate), resources_, patience);
  }
  void join() {
    relay_->take(PairRole::connector, std::move(*connector_.other_side));
    EXPECT_FALSE(relay_->is_joined());
    relay_->take(PairRole::listener, std::move(*listener_.other_side));
    EXPECT_TRUE(relay_->is_joined());
  }
  template <typename Done>
  bool until(Done done) {
    return test::run_until(io_, done);
  }

  boost::asio::io_context io_;
  RelayResources resources_{BitRate()};
  RelayedEnd listener_{io_};
  RelayedEnd connector_{io_};
  std::optional<TcpRelay> relay_;
};

TEST_F(TcpRelayTest, HandsBytesOnBothWays) {
  open();
  const Bytes hello = numbered_bytes(1000);
  connector_.send(hello);  // before the other end is there
  join();
  EXPECT_TRUE(until([&] { return listener_.received() == hello; }));
  const Bytes answer = numbered_bytes(200'000);
  EXPECT_EQ(listener_.send(answer), answer.size());
  EXPECT_TRUE(until([&] { return connector_.received() == answer; }));
  EXPECT_EQ(relay_->counts(PairRole::connector).relayed_bytes, hello.size());
  EXPECT_EQ(relay_->counts(PairRole::listener).relayed_bytes, answer.size());
}

TEST_F(TcpRelayTest, HandsAnEndOnAndGoesOnTheOtherWay) {
  open();
  join();
  const Bytes words = numbered_bytes(100'000);
  connector_.send(words);
  connector_.finish();
  EXPECT_TRUE(until([&] { return listener_.ended_in_order(); }));
  EXPECT_EQ(listener_.received(), words);
  EXPECT_TRUE(relay_->is_joined());
  listener_.send(words);
  EXPECT_TRUE(until([&] { return connector_.received() == words; }));
  listener_.close();
  EXPECT_TRUE(until([&] { return connector_.ended_in_order() && !relay_->is_joined(); }));
}

TEST_F(TcpRelayTest, HandsAResetOn) {
  open();
  join();
  connector_.reset();
  EXPECT_TRUE(until([&] { return listener_.was_reset(); }));
  EXPECT_FALSE(relay_->is_joined());
}

TEST_F(TcpRelayTest, GoesOnBesideDatagramsThatTakeAllOfTheRate) {
  const auto bucket = bucket_of_pair(BitRate::from_bits_per_second(80'000'000));
  relay_.emplace(io_, bucket, resources_, 10s);
  join();
  const Bytes words = numbered_bytes(200'000);
  std::size_t sent = 0;
  EXPECT_TRUE(until([&] {
    bucket->fill(std::chrono::steady_clock::now());
    while (bucket->has(1400)) bucket->take(1400);
    sent += connector_.send(std::span(words).subspan(sent));
    return listener_.received() == words;
  }));
}

TEST_F(TcpRelayTest, StopsAnEndWhoseOtherEndDoesNotRead) {
  open();
  join();
  const Bytes words = numbered_bytes(1'000'000);
  std::size_t sent = 0;
  const auto is_stopped = [&] {
    const std::size_t more = connector_.send(words);
    sent += more;
    return more == 0 && relay_->counts(PairRole::connector).relayed_bytes > 0;
  };
  // Full is what takes nothing for a while, not for a moment.
  for (int times = 0; times < 5; ++times) {
    ASSERT_TRUE(until(is_stopped));
    test::run_for(io_, 50ms);
  }
  EXPECT_GT(sent, relay_->counts(PairRole::connector).relayed_bytes);
  EXPECT_TRUE(until([&] { return listener_.received().size() == sent; }));
}

/// Proves: meet.piece-length, threat-model.place-memory
TEST_F(TcpRelayTest, CopiesPiecesOf64KibibytesAtMost) {
  open();
  join();
  const Bytes words = numbered_bytes(3'000'000);
  std::size_t sent = 0;
  std::uint64_t relayed = 0;
  std::uint64_t largest = 0;
  EXPECT_TRUE(until([&] {
    const std::uint64_t now = relay_->counts(PairRole::connector).relayed_bytes;
    largest = std::max(largest, now - std::exchange(relayed, now));
    sent += connector_.send(std::span(words).subspan(sent));
    return listener_.received().size() == words.size();
  }));
  EXPECT_GT(largest, 0U);
  EXPECT_LE(largest, 65'536U) << "between two turns of the loop";
}

TEST_F(TcpRelayTest, KeepsTheRate) {
  open(BitRate::from_bits_per_second(8'000'000));
  join();
  const Bytes words = numbered_bytes(600'000);
  connector_.send(words);
  const auto began = std::chrono::steady_clock::now();
  EXPECT_TRUE(until([&] { return listener_.received().size() == words.size(); }));
  // 100 kB at once, and then a megabyte each second.
  EXPECT_GE(std::chrono::steady_clock::now() - began, 400ms);
}

/// Proves: threat-model.place-connects
TEST_F(TcpRelayTest, TakesTheLatestOfAnEndThatWaitsAndNoneOfOneThatIsJoined) {
  open();
  RelayedEnd earlier(io_);
  relay_->take(PairRole::connector, std::move(*earlier.other_side));
  join();
  EXPECT_TRUE(until([&] { return earlier.ended_in_order(); }));
  RelayedEnd later(io_);
  relay_->take(PairRole::connector, std::move(*later.other_side));
  later.other_side.reset();
  EXPECT_TRUE(until([&] { return later.ended_in_order(); }));
  connector_.send(numbered_bytes(10));
  EXPECT_TRUE(until([&] { return listener_.received() == numbered_bytes(10); }));
}

TEST_F(TcpRelayTest, WaitsForTheOtherEndForSoLong) {
  open({}, 50ms);
  relay_->take(PairRole::connector, std::move(*connector_.other_side));
  EXPECT_TRUE(until([&] { return connector_.ended_in_order(); }));
  EXPECT_FALSE(relay_->has(PairRole::connector));
}

TEST_F(TcpRelayTest, ResetsBothWhenItIsGone) {
  open();
  join();
  relay_.reset();
  EXPECT_TRUE(until([&] { return connector_.was_reset() && listener_.was_reset(); }));
}

}  // namespace
}  // namespace udtcat::meet
