// SPDX-License-Identifier: Apache-2.0
#include "rsh/datagram_relay.hpp"

#include <string>
#include <tuple>

#include <poll.h>
#include <unistd.h>

#include <gtest/gtest.h>
#include <boost/asio/buffer.hpp>

#include <udtcat/bridges.hpp>

#include "lib/bridge/loop.hpp"
#include "support/addresses.hpp"

namespace udtcat::rsh {
namespace {

using boost::asio::ip::udp;

/// Two relays with pipes between them, and the engines of two ends.
class DatagramRelays : public testing::Test {
 protected:
  struct Engine {
    explicit Engine(boost::asio::io_context& io) : socket(io, {boost::asio::ip::address_v4::loopback(), 0}) {
      socket.non_blocking(true);
    }
    void send(const std::string& text, const Endpoint& to) {
      socket.send_to(boost::asio::buffer(text), {boost::asio::ip::address_v4::loopback(), to.port()});
    }
    /// What has come; empty: nothing.
    std::string receive() {
      std::string text(DatagramRelay::kMaxDatagramBytes, '\0');
      boost::system::error_code error;
      text.resize(socket.receive_from(boost::asio::buffer(text), from, 0, error));
      return text;
    }
    [[nodiscard]] Endpoint address() const {
      return test::loopback(AddressFamily::ipv4, socket.local_endpoint().port());
    }

    udp::socket socket;
    udp::endpoint from;
  };

  std::unique_ptr<LocalStream> stream(bridge::Descriptor& read, bridge::Descriptor& write) {
    return make_stdio_stream(io, read.release(), write.release(), {.until_read = false}).value();
  }
  bool receives(Engine& engine, const std::string& text) {
    return bridge::run_until(io, [&] { return engine.receive() == text; });
  }

  /// The next `bytes` that the near relay writes to its pipe; fewer where they do not come.
  std::string written(std::size_t bytes) {
    std::string text;
    std::ignore = bridge::run_until(io, [&] {
      pollfd readable{.fd = upwards.read.number(), .events = POLLIN, .revents = 0};
      char byte = 0;
      if (::poll(&readable, 1, 0) > 0 && ::read(upwards.read.number(), &byte, 1) == 1) text += byte;
      return text.size() == bytes;
    });
    return text;
  }
  /// The text of the next datagram, of three bytes.
  std::string next_text() {
    const std::string framed = written(5);
    return framed.size() < 2 ? framed : framed.substr(2);
  }

  boost::asio::io_context io;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{io.get_executor()};
  bridge::Ends upwards = bridge::make_pipe();
  bridge::Ends downwards = bridge::make_pipe();
  Engine near_engine{io};
  Engine far_engine{io};
  Engine stranger{io};
  int ends = 0;
};

TEST_F(DatagramRelays, CarryDatagramsBothWaysAndKeepTheirSizes) {
  const auto near_pipe = stream(downwards.read, upwards.write);
  const auto far_pipe = stream(upwards.read, downwards.write);
  DatagramRelay near_relay(io, *near_pipe, [] {});
  DatagramRelay far_relay(io, *far_pipe, [] {});
  const Endpoint path = near_relay.listen(AddressFamily::ipv4).value();
  ASSERT_TRUE(far_relay.connect(far_engine.address()));
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{1472}, std::size_t{65'507}}) {
    const std::string text(bytes, 'x');
    near_engine.send(text, path);
    EXPECT_TRUE(receives(far_engine, text)) << bytes;
    far_engine.socket.send_to(boost::asio::buffer(text), far_engine.from);
    EXPECT_TRUE(receives(near_engine, text)) << bytes;
  }
}

TEST_F(DatagramRelays, TakeNothingFromAnotherSocketThanTheFirst) {
  const auto near_pipe = stream(downwards.read, upwards.write);
  DatagramRelay relay(io, *near_pipe, [] {});
  const Endpoint path = relay.listen(AddressFamily::ipv4).value();
  near_engine.send("one", path);
  EXPECT_EQ(next_text(), "one");
  stranger.send("bad", path);
  near_engine.send("two", path);
  EXPECT_EQ(next_text(), "two");
  const Endpoint fresh = relay.listen(AddressFamily::ipv4).value();
  EXPECT_FALSE(fresh == path);
  stranger.send("new", fresh);
  EXPECT_EQ(next_text(), "new") << "a new socket has a new other end";
}

TEST_F(DatagramRelays, WriteWhatIsToComeFirstBeforeTheDatagrams) {
  const auto near_pipe = stream(downwards.read, upwards.write);
  DatagramRelay relay(io, *near_pipe, [] {});
  const Endpoint path = relay.listen(AddressFamily::ipv4).value();
  near_engine.send("x", path);
  relay.write_first(bridge::bytes_of("first"));
  EXPECT_EQ(written(8).substr(0, 5), "first");
}

TEST_F(DatagramRelays, LoseDatagramsWhereThePipeIsFullAndGoOnAfterwards) {
  const auto near_pipe = stream(downwards.read, upwards.write);
  auto relay = std::make_unique<DatagramRelay>(io, *near_pipe, [] {});
  const Endpoint path = relay->listen(AddressFamily::ipv4).value();
  constexpr int kSent = 2'000;
  const std::string text(1'400, 'x');
  for (int i = 0; i < kSent; ++i) {
    near_engine.send(text, path);
    bridge::run_ready(io);
  }
  auto all = bridge::read_all_in_background(upwards.read.number());
  const auto took_last = [&, more = 0]() mutable {
    if (++more % 1'000 == 0) near_engine.send("last", path);
    return more > 20'000;
  };
  EXPECT_TRUE(bridge::run_until(io, took_last));
  relay.reset();
  const auto bytes = all.get();
  EXPECT_LT(bytes.size(), kSent * text.size() / 2);
  const std::string carried = bridge::text_of(bytes);
  EXPECT_NE(carried.find("last"), std::string::npos);
}

TEST_F(DatagramRelays, StayOpenWhenThePipeHasEnded) {
  const auto near_pipe = stream(downwards.read, upwards.write);
  DatagramRelay relay(io, *near_pipe, [this] { ++ends; });
  const Endpoint path = relay.listen(AddressFamily::ipv4).value();
  ASSERT_FALSE(downwards.write.close());
  ASSERT_TRUE(bridge::run_until(io, [&] { return ends == 1; }));
  boost::system::error_code error;
  near_engine.socket.connect({boost::asio::ip::address_v4::loopback(), path.port()});
  for (int i = 0; i < 3; ++i) near_engine.socket.send(boost::asio::buffer("x", 1), 0, error);
  EXPECT_FALSE(error) << "a closed port answers: " << error.message();
}

TEST_F(DatagramRelays, TakeNonsenseForAnEnd) {
  const auto near_pipe = stream(downwards.read, upwards.write);
  DatagramRelay relay(io, *near_pipe, [this] { ++ends; });
  const char nothing[] = {0, 0};
  ASSERT_EQ(::write(downwards.write.number(), nothing, sizeof nothing), 2);
  EXPECT_TRUE(bridge::run_until(io, [&] { return ends == 1; }));
}

}  // namespace
}  // namespace udtcat::rsh
