/// A file from a sender to a receiver over real TCP connections, and what hostile senders do.
#include "gridftp/receiver.hpp"

#include <algorithm>
#include <random>
#include <utility>

#include <gmock/gmock.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include <udtcat/bridges.hpp>

#include "gridftp/block_header.hpp"
#include "gridftp/sender.hpp"

namespace udtcat::gridftp {
namespace {

using boost::asio::ip::tcp;
using namespace std::chrono_literals;

class ModeE : public testing::Test {
 protected:
  std::pair<tcp::socket, tcp::socket> connected_pair() {
    tcp::acceptor acceptor(io, {boost::asio::ip::address_v4::loopback(), 0});
    tcp::socket here(io);
    here.connect(acceptor.local_endpoint());
    return {std::move(here), acceptor.accept()};
  }
  Receiver& expect(std::optional<ByteRange> range) {
    receiver = std::make_unique<Receiver>(io, range, [this](std::uint64_t offset, std::span<const std::byte> bytes) {
      if (offset + bytes.size() > stored.size()) stored.resize(offset + bytes.size());
      std::ranges::copy(bytes, stored.begin() + static_cast<std::ptrdiff_t>(offset));
      return Status{};
    });
    return *receiver;
  }
  /// Bytes as a peer sends them; the connection is then closed.
  void send_raw(const std::vector<BlockHeader>& headers, std::size_t payload_bytes = 0) {
    auto [here, there] = connected_pair();
    std::vector<std::byte> bytes;
    for (const BlockHeader& header : headers) {
      const auto encoded = encode(header);
      bytes.insert(bytes.end(), encoded.begin(), encoded.end());
      bytes.resize(bytes.size() + std::min<std::uint64_t>(header.payload_bytes(), payload_bytes));
    }
    boost::asio::write(here, boost::asio::buffer(bytes));
    receiver->take(make_tcp_stream(std::move(there)));
  }
  Status outcome() {
    std::optional<Status> got;
    boost::asio::co_spawn(
        io, [&]() -> Task<void> { got = co_await receiver->result(); }, boost::asio::detached);
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    while (!got && std::chrono::steady_clock::now() < deadline) io.run_one_for(100ms);
    return got.value_or(fail(Errc::peer_lost, "wait", "no outcome"));
  }

  boost::asio::io_context io;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{io.get_executor()};
  std::vector<std::byte> stored;
  std::unique_ptr<Receiver> receiver;
};

TEST_F(ModeE, CarriesAFileOverAnyNumberOfConnections) {
  std::mt19937 random(3);
  std::vector<std::byte> bytes(3'000'017);
  for (std::byte& each : bytes) each = static_cast<std::byte>(random());
  for (const std::size_t connections : {1U, 4U, 16U}) {
    stored.clear();
    expect(ByteRange{0, bytes.size()});
    std::vector<std::unique_ptr<StreamIo>> outgoing;
    for (std::size_t i = 0; i < connections; ++i) {
      auto [here, there] = connected_pair();
      outgoing.push_back(std::make_unique<StreamIo>(make_tcp_stream(std::move(here))));
      receiver->take(make_tcp_stream(std::move(there)));
    }
    std::optional<Result<std::uint64_t>> sent;
    SendRequest request;
    request.ranges.push_back({0, bytes.size()});
    request.block_bytes = 65'536;
    boost::asio::co_spawn(
        io,
        [&]() -> Task<void> {
          sent = co_await send_file(io, outgoing, std::move(request),
                                    [&](std::uint64_t offset, std::span<std::byte> into) {
                                      std::ranges::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset),
                                                          static_cast<std::ptrdiff_t>(into.size()), into.begin());
                                      return Result<std::size_t>(into.size());
                                    });
        },
        boost::asio::detached);
    const Status whole = outcome();
    EXPECT_TRUE(whole) << whole.error().message();
    EXPECT_TRUE(stored == bytes) << connections;
    ASSERT_TRUE(sent && *sent);
    EXPECT_EQ(**sent, bytes.size());
    EXPECT_EQ(receiver->received_bytes(), bytes.size());
  }
}

TEST_F(ModeE, IsNotEndedByStrangersWhoSayNothing) {
  expect(ByteRange{0, 10});
  for (int i = 0; i < 3; ++i) send_raw({});
  send_raw({{0, 10, 0}, {BlockHeader::kEof | BlockHeader::kEod, 0, 1}}, 10);
  EXPECT_TRUE(outcome());
}

TEST_F(ModeE, DoesNotCallAShortFileWhole) {
  expect(ByteRange{0, 20});
  send_raw({{0, 10, 0}, {BlockHeader::kEof | BlockHeader::kEod, 0, 1}}, 10);
  EXPECT_EQ(outcome().error().code, Errc::connection_broken);
}

TEST_F(ModeE, EndsWhereAConnectionBreaksBeforeItsEnd) {
  for (const auto& headers : std::vector<std::vector<BlockHeader>>{{{0, 10, 0}}, {{0, 20, 0}}}) {
    expect(ByteRange{0, 20});
    send_raw(headers, 10);
    EXPECT_EQ(outcome().error().code, Errc::connection_broken);
  }
}

TEST_F(ModeE, RefusesWhatCannotBeTrue) {
  const std::uint64_t most = ~std::uint64_t{0};
  for (const BlockHeader& header :
       {BlockHeader{0, most, 0}, BlockHeader{0, 1, most}, BlockHeader{0, 21, 0}, BlockHeader{BlockHeader::kEof, 0, 0},
        BlockHeader{BlockHeader::kEof, 0, most}, BlockHeader{BlockHeader::kClose, 0, 0}}) {
    expect(ByteRange{0, 20});
    send_raw({header});
    EXPECT_EQ(outcome().error().code, Errc::protocol_violated) << header.count << ' ' << header.offset;
  }
}

TEST_F(ModeE, CanBeGivenUpAtAnyTime) {
  expect(ByteRange{0, 20});
  auto [here, there] = connected_pair();
  receiver->take(make_tcp_stream(std::move(there)));
  io.poll();
  receiver->fail({Errc::interrupted, "wait", "enough"});
  EXPECT_EQ(outcome().error().code, Errc::interrupted);
  receiver.reset();
  io.poll();
}

}  // namespace
}  // namespace udtcat::gridftp
