// SPDX-License-Identifier: Apache-2.0
#include "meet/datagram_relay.hpp"

#include <map>

#include <gtest/gtest.h>

#include "lib/meeting/username.hpp"
#include "lib/net/bind.hpp"
#include "lib/net/stun.hpp"
#include "support/addresses.hpp"
#include "support/bytes.hpp"
#include "support/run_until.hpp"

namespace udtcat::meet {
namespace {

using test::loopback;
using test::numbered_bytes;
using Bytes = std::vector<std::byte>;

/// A UDP socket of an end, or of a stranger.
class TestEnd {
 public:
  explicit TestEnd(AddressFamily family = AddressFamily::ipv4, const Endpoint& local = {})
      : family_(family), socket_(open(local.port() != 0 ? local : loopback(family))) {}

  void send(const Bytes& bytes, std::uint16_t port, std::size_t segment_bytes = 65'535) {
    net::DatagramTrain train;
    train.to = loopback(family_, port);
    train.segment_bytes = segment_bytes;
    train.total_bytes = bytes.size();
    for (std::size_t at = 0; at < bytes.size(); at += segment_bytes) {
      train.pieces.push_back(std::span(bytes).subspan(at, std::min(segment_bytes, bytes.size() - at)));
      train.piece_counts.push_back(1);
    }
    ASSERT_EQ(socket_.send(train).state, net::SendState::sent);
    sent_bytes += bytes.size();
  }
  /// The datagrams that have come since the last call.
  std::vector<Bytes> take() {
    std::vector<net::ReceivedTrain> trains;
    while (socket_.receive(trains, 16, chunks_) > 0) continue;
    std::vector<Bytes> datagrams;
    for (const auto& train : trains) {
      const auto all = std::span<const std::byte>(train.chunk.bytes()).first(train.total_bytes);
      for (std::size_t at = 0; at < all.size(); at += train.segment_bytes) {
        const auto part = all.subspan(at, std::min(train.segment_bytes, all.size() - at));
        datagrams.emplace_back(part.begin(), part.end());
        received_bytes += part.size();
      }
    }
    return datagrams;
  }
  [[nodiscard]] Endpoint address() const { return socket_.socket().local_endpoint().value(); }

  std::size_t sent_bytes = 0;
  std::size_t received_bytes = 0;

 private:
  static net::DatagramSocket open(const Endpoint& local) {
    auto socket = net::UdpSocket::open(local.family()).value();
    EXPECT_TRUE(socket.bind(local));
    return net::DatagramSocket::make(std::move(socket), {.receive_buffer_bytes = 4 << 20}).value();
  }

  AddressFamily family_;
  net::DatagramSocket socket_;
  core::ChunkPool chunks_{65'536};
};

class DatagramRelayTest : public testing::Test {
 protected:
  void SetUp() override { open(BitRate()); }
  void open(BitRate rate) {
    relay_.reset();
    auto opened = DatagramRelay::open(io_, {loopback(AddressFamily::ipv4), loopback(AddressFamily::ipv6)}, tokens_,
                                      bucket_of_pair(rate), resources_);
    ASSERT_TRUE(opened) << opened.error().message();
    relay_ = std::move(*opened);
  }
  /// The answer of the relay, over which its turn is: on loopback a send is a receive.
  std::optional<net::StunMessage> ask(TestEnd& end, PairRole role, const std::optional<std::string>& nonce) {
    net::StunMessage request;
    request.username = meeting::username_of(tokens_[index_of(role)]);
    request.nonce = nonce;
    end.send(net::encode(request, 96), relay_->port());
    run();
    const auto datagrams = end.take();
    return datagrams.empty() ? std::nullopt : net::decode_stun(datagrams.front());
  }
  void bind(TestEnd& end, PairRole role) {
    const auto first = ask(end, role, {});
    ASSERT_TRUE(first && first->nonce);
    const auto second = ask(end, role, first->nonce);
    ASSERT_TRUE(second);
    EXPECT_EQ(second->mapped_address, end.address());
  }
  void run() { test::run_for(io_, std::chrono::milliseconds(20)); }
  [[nodiscard]] std::uint64_t relayed(PairRole role) const { return relay_->counts(role).relayed_datagrams; }

  boost::asio::io_context io_;
  RelayTokens tokens_{meeting::Relay::Token{std::byte{1}}, meeting::Relay::Token{std::byte{2}}};
  RelayResources resources_{BitRate()};
  std::unique_ptr<DatagramRelay> relay_;
  TestEnd listener_;
  TestEnd connector_;
};

TEST_F(DatagramRelayTest, RelaysBothWaysAsItIs) {
  bind(listener_, PairRole::listener);
  bind(connector_, PairRole::connector);
  connector_.send(numbered_bytes(1452), relay_->port());
  listener_.send(numbered_bytes(7), relay_->port());
  run();
  EXPECT_EQ(listener_.take(), std::vector<Bytes>{numbered_bytes(1452)});
  EXPECT_EQ(connector_.take(), std::vector<Bytes>{numbered_bytes(7)});
  EXPECT_EQ(relay_->counts(PairRole::connector).relayed_bytes, 1452U);
  EXPECT_EQ(relay_->counts(PairRole::listener).relayed_bytes, 7U);
}

TEST_F(DatagramRelayTest, RelaysTrainsDatagramByDatagram) {
  bind(listener_, PairRole::listener);
  bind(connector_, PairRole::connector);
  constexpr std::size_t kSegmentBytes = 1400;
  const Bytes payload = numbered_bytes(30 * kSegmentBytes + 100);
  for (int i = 0; i < 10; ++i) connector_.send(payload, relay_->port(), kSegmentBytes);
  connector_.send(numbered_bytes(100), relay_->port());
  run();
  const auto datagrams = listener_.take();
  ASSERT_EQ(datagrams.size(), 311U);
  Bytes first;
  for (std::size_t i = 0; i < 31; ++i) first.insert(first.end(), datagrams[i].begin(), datagrams[i].end());
  EXPECT_EQ(first, payload);
  EXPECT_EQ(datagrams[0].size(), kSegmentBytes);
  EXPECT_EQ(datagrams[30].size(), 100U);
}

TEST_F(DatagramRelayTest, RelaysBetweenTheFamilies) {
  TestEnd listener(AddressFamily::ipv6);
  bind(listener, PairRole::listener);
  bind(connector_, PairRole::connector);
  connector_.send(numbered_bytes(500), relay_->port());
  run();
  EXPECT_EQ(listener.take(), std::vector<Bytes>{numbered_bytes(500)});
}

TEST_F(DatagramRelayTest, RelaysNothingForAddressesThatAreNotBound) {
  bind(listener_, PairRole::listener);
  bind(connector_, PairRole::connector);
  TestEnd stranger;
  for (int i = 0; i < 100; ++i) stranger.send(numbered_bytes(1000), relay_->port());
  run();
  EXPECT_TRUE(listener_.take().empty() && connector_.take().empty() && stranger.take().empty());
  EXPECT_EQ(relay_->stray_datagrams(), 100U);
}

/// Proves: meet.no-amplification
TEST_F(DatagramRelayTest, SendsNothingToAnAddressThatHasNotBroughtTheNonceBack) {
  bind(connector_, PairRole::connector);
  ASSERT_TRUE(ask(listener_, PairRole::listener, {}));
  connector_.send(numbered_bytes(1000), relay_->port());
  run();
  EXPECT_TRUE(listener_.take().empty());
  EXPECT_EQ(relay_->counts(PairRole::connector).undelivered_datagrams, 1U);
}

TEST_F(DatagramRelayTest, FollowsAnEndThatBindsAnew) {
  bind(listener_, PairRole::listener);
  bind(connector_, PairRole::connector);
  TestEnd moved;
  bind(moved, PairRole::listener);
  connector_.send(numbered_bytes(10), relay_->port());
  listener_.send(numbered_bytes(10), relay_->port());
  run();
  EXPECT_EQ(moved.take().size(), 1U);
  EXPECT_TRUE(listener_.take().empty());
  EXPECT_TRUE(connector_.take().empty()) << "from the address that it has left";
}

TEST_F(DatagramRelayTest, IsOneEndAtOneAddress) {
  bind(listener_, PairRole::listener);
  bind(connector_, PairRole::connector);
  bind(connector_, PairRole::listener);  // with the token of the other end
  EXPECT_FALSE(relay_->address_of(PairRole::connector));
  connector_.send(numbered_bytes(10), relay_->port());
  run();
  EXPECT_TRUE(connector_.take().empty()) << "nobody is sent his own";
}

TEST_F(DatagramRelayTest, PassesChecksOfTheEndsOn) {
  bind(listener_, PairRole::listener);
  bind(connector_, PairRole::connector);
  net::StunMessage check;
  check.username = "of the ends";
  for (const Bytes& each : {net::encode(check), net::binding_indication()}) {
    connector_.send(each, relay_->port());
    run();
    EXPECT_EQ(listener_.take(), std::vector<Bytes>{each});
  }
}

TEST_F(DatagramRelayTest, TakesBindingRequestsOutOfTrains) {
  bind(listener_, PairRole::listener);
  bind(connector_, PairRole::connector);
  net::StunMessage request;
  request.username = meeting::username_of(tokens_[index_of(PairRole::connector)]);
  const Bytes binding = net::encode(request, 96);
  Bytes train = numbered_bytes(960);
  std::ranges::copy(binding, train.begin() + 480);
  connector_.send(train, relay_->port(), 96);
  run();
  EXPECT_EQ(listener_.take().size(), 9U);
  EXPECT_EQ(connector_.take().size(), 1U);
}

/// Proves: meet.no-amplification
TEST_F(DatagramRelayTest, SendsStrangersLessThanTheySent) {
  bind(listener_, PairRole::listener);
  TestEnd stranger;
  net::StunMessage request;
  for (int i = 0; i < 1000; ++i) {
    request.username = i % 2 == 0 ? std::string(32, '0') : meeting::username_of(tokens_[0]);
    request.nonce = "0123456789abcdef";
    stranger.send(net::encode(request, i % 3 == 0 ? 96 : 0), relay_->port());
    if (i % 100 == 99) run();
    stranger.take();
  }
  EXPECT_LE(stranger.received_bytes, stranger.sent_bytes);
  EXPECT_EQ(relay_->address_of(PairRole::listener), listener_.address());
}

// A kilobyte a second: a burst of 65536 bytes passes, and what comes meanwhile is little however busy the host is.
constexpr BitRate kSlow = BitRate::from_bits_per_second(8'000);

TEST_F(DatagramRelayTest, DropsWhatIsOverTheRate) {
  open(kSlow);
  bind(listener_, PairRole::listener);
  bind(connector_, PairRole::connector);
  for (int i = 0; i < 200; ++i) connector_.send(numbered_bytes(1000), relay_->port());
  run();
  const RelayCounts& counts = relay_->counts(PairRole::connector);
  EXPECT_EQ(counts.relayed_bytes + counts.over_rate_bytes, 200'000U);
  EXPECT_GE(counts.relayed_bytes, 65'000U);
  EXPECT_GE(counts.over_rate_bytes, 60'000U);
}

TEST_F(DatagramRelayTest, SharesALimitWithOtherPairs) {
  resources_.bucket = RelayResources(kSlow).bucket;
  auto second =
      DatagramRelay::open(io_, {loopback(AddressFamily::ipv4)}, tokens_, bucket_of_pair(BitRate()), resources_);
  ASSERT_TRUE(second);
  for (const bool is_left : {true, false}) {
    bind(listener_, PairRole::listener);
    bind(connector_, PairRole::connector);
    for (int sent = 0; sent < 60; ++sent) connector_.send(numbered_bytes(1000), relay_->port());
    run();
    EXPECT_EQ(relay_->counts(PairRole::connector).over_rate_bytes == 0, is_left);
    listener_.take();
    std::swap(relay_, *second);
  }
}

/// Proves: threat-model.place-memory
TEST_F(DatagramRelayTest, HoldsNoMemoryOfWhatItHasRelayed) {
  bind(listener_, PairRole::listener);
  bind(connector_, PairRole::connector);
  for (int i = 0; i < 50; ++i) connector_.send(numbered_bytes(60'000), relay_->port(), 1200);
  run();
  EXPECT_EQ(resources_.chunks.in_use(), 0U);
}

}  // namespace
}  // namespace udtcat::meet
