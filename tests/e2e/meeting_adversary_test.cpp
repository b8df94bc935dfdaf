// SPDX-License-Identifier: Apache-2.0
/// docs/threat-model.md, "The meeting place": strangers against a real `udtcat meet` that has a pair.
#include <array>
#include <functional>
#include <map>
#include <random>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <gmock/gmock.h>

#include "e2e/support/meeting_test.hpp"
#include "support/ports.hpp"

namespace udtcat::test::e2e {
namespace {

using Bytes = std::vector<unsigned char>;

void append_words(Bytes& to, std::initializer_list<std::uint32_t> words) {
  for (const std::uint32_t word : words)
    for (const unsigned shift : {24U, 16U, 8U, 0U}) to.push_back(static_cast<unsigned char>(word >> shift));
}

/// A Binding request with one more attribute of zeros, as many as make `bytes` of all; none below 24.
Bytes binding(std::uint32_t transaction, std::size_t bytes, std::uint32_t attribute) {
  Bytes request;
  const std::uint32_t body = bytes < 24 ? 0 : static_cast<std::uint32_t>(bytes - 20);
  append_words(request, {0x0001'0000 | body, 0x2112'a442, 0, 0, transaction});
  if (body > 0) append_words(request, {attribute << 16U | (body - 4)});
  request.resize(20 + body);
  return request;
}

/// UDT4's first packet.
Bytes induction(std::uint32_t id) {
  Bytes packet;
  append_words(packet, {0x8000'0000, 0, 0, 0, 4, 1, 1000, 1500, 25'600, 1, id, 0, 0x0100'007f, 0, 0, 0});
  return packet;
}

/// Each kind, by the number of the packet.
const std::map<std::string, std::function<Bytes(std::uint32_t)>> kPacketKinds{
    {"a bare Binding request", [](std::uint32_t i) { return binding(i / 4, 20, 0); }},
    {"a padded one", [](std::uint32_t i) { return binding(i, 96, 0x0026); }},
    {"one with an attribute that nobody knows", [](std::uint32_t i) { return binding(i, 28, 0x7777); }},
    {"one with a name that is no token", [](std::uint32_t i) { return binding(i, 56, 0x0006); }},
    {"a handshake", [](std::uint32_t i) { return induction(i + 1); }},
    {"garbage",
     [](std::uint32_t i) {
       std::minstd_rand random(i + 1);
       Bytes bytes(random() % 1400);
       for (auto& each : bytes) each = static_cast<unsigned char>(random());
       return bytes;
     }},
};

/// A host that speaks to a place on this one.
class Stranger {
 public:
  void send(const Bytes& bytes, std::uint16_t port) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    // SAFETY: every sockaddr_* begins as sockaddr does; that is the sockets interface.
    const auto went =
        ::sendto(udp_.socket.fd(), bytes.data(), bytes.size(), 0, reinterpret_cast<const sockaddr*>(&to), sizeof to);
    if (went > 0) sent += static_cast<std::size_t>(went);
    take();
  }
  void take() {
    std::array<unsigned char, 2048> answer{};
    for (;;) {
      const auto got = ::recv(udp_.socket.fd(), answer.data(), answer.size(), MSG_DONTWAIT);
      if (got < 0) return;
      received += static_cast<std::size_t>(got);
    }
  }

  std::size_t sent = 0;
  std::size_t received = 0;

 private:
  BoundUdp udp_ = bind_udp();
};

class MeetingAdversary : public UdtcatTest {};

/// Proves: meet.no-amplification
TEST_F(MeetingAdversary, GetsNoMoreBytesThanItSendsOfAnyKindAtAnyPort) {
  const std::string here = host_ + ":" + std::to_string(port_);
  Process place = udtcat({"meet", "-l", here, "--public", "--pairs", "1"}, {.key = ""});
  ASSERT_TRUE(eventually(kAtOnce, [&] { return place.errors().find("its ports are") != std::string::npos; }));
  Producer producer(1, 1'000'000, Afterwards::keep_open);
  Consumer consumer;
  Process listener = udtcat({"-l", "--via", here}, {.out = consumer.take_stdout(), .key = key_});
  Process connector = udtcat({"--via", here}, {.in = producer.take_stdin(), .key = key_});
  ASSERT_TRUE(eventually(kTransferLimit, [&] { return consumer.bytes_read() == 1'000'000; })) << connector.errors();
  for (const auto& [kind, packet] : kPacketKinds)
    for (const auto port : {port_, static_cast<std::uint16_t>(port_ + 1)}) {
      Stranger stranger;
      for (std::uint32_t i = 0; i < 4000; ++i) stranger.send(packet(i), port);
      let_pass(300ms);  // for what is answered late
      stranger.take();
      EXPECT_LE(stranger.received, stranger.sent) << kind << (port == port_ ? "" : ", at a relay");
      std::cout << kind << (port == port_ ? "" : ", at a relay") << ": " << stranger.sent << " bytes in, "
                << stranger.received << " out\n";
    }
  producer.end();
  expect_exit(connector, kSuccess);
  expect_exit(listener, kSuccess);
  EXPECT_EQ(consumer.digest(), producer.digest());
}

class FloodedPlace : public MeetingWithData {};

TEST_F(FloodedPlace, GoesOnForThoseThatItServes) {
  meet(Gateway::random, Gateway::random);
  ASSERT_NO_FATAL_FAILURE(begin(Data::both_ways));
  ASSERT_TRUE(is_relayed(*connector_)) << connector_->errors();
  const Process flood({.argv = {"python3", "-c", R"(
import os, random, socket, struct, time
flood = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
handshake = struct.pack(">16I", 0x80000000, 0, 0, 0, 4, 1, 1000, 1500, 25600, 1, 1, 0, 0x0100007f, 0, 0, 0)
began, sent = time.monotonic(), 0
while True:
  binding = struct.pack(">HHI", 1, 0, 0x2112a442) + os.urandom(12)
  for port in 9000, 9001:
    for each in handshake, binding, os.urandom(random.randrange(1400)):
      flood.sendto(each, ("198.51.100.3", port))
      sent += 1
  time.sleep(max(0, sent / 5000 - (time.monotonic() - began)))
)"},
                       .network_namespace = hosts().near_host().file});
  const GapWatch gap = watch();
  GapWatch::for_a_while(2s);
  Consumer consumer;
  Producer producer(3, 1'000'000, Afterwards::end);
  const std::string other_key = make_key();
  Process listener = listen_via({.out = consumer.take_stdout(), .key = other_key});
  Process connector = connect_via({.in = producer.take_stdin(), .key = other_key});
  EXPECT_TRUE(eventually(kTransferLimit, [&] { return !connector.running() && !listener.running(); }));
  expect_exit(connector, kSuccess);
  expect_exit(listener, kSuccess);
  EXPECT_EQ(consumer.digest(), producer.digest());
  say("beside a flood", gap);
  EXPECT_LE(gap.longest(), patience(1s));
  expect_all_there();
}

}  // namespace
}  // namespace udtcat::test::e2e
