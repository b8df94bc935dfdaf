// SPDX-License-Identifier: Apache-2.0
// Question: what does relaying cost a meeting place, and how much can one thread of it relay?
//
//   relay [PAIRS [MBITS [SECONDS [singly]]]]     1 pair, 2000 Mbit/s in all, 5 s: a line of JSON
//
// Each pair's connector sends trains of datagrams by the pair's relay port to its listener, over loopback. The relays
// share one thread, as those of `udtcat meet` do: the processor time is that thread's. `singly`: the kernel joins no
// datagrams, as on a path whose devices do not.
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "lib/meeting/username.hpp"
#include "lib/net/bind.hpp"
#include "lib/net/datagram_socket.hpp"
#include "lib/net/stun.hpp"
#include "meet/datagram_relay.hpp"

namespace {

using namespace udtcat;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kDatagramBytes = 1452;
constexpr std::size_t kTrainDatagrams = 44;

struct Ends {
  net::DatagramSocket connector;
  net::DatagramSocket listener;
  std::unique_ptr<meet::DatagramRelay> relay;
};

net::DatagramSocket open_end(bool offload) {
  auto socket = net::UdpSocket::open(AddressFamily::ipv4).value();
  if (!socket.bind(net::loopback(AddressFamily::ipv4))) std::abort();
  return net::DatagramSocket::make(std::move(socket), {.offload = offload, .receive_buffer_bytes = 4 * kMiB}).value();
}

double thread_cpu_seconds() {
  rusage use{};
  getrusage(RUSAGE_THREAD, &use);  // fails for no valid argument
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

void send_one(net::DatagramSocket& socket, const std::vector<std::byte>& message, const Endpoint& to) {
  net::DatagramTrain train;
  train.to = to;
  train.segment_bytes = train.total_bytes = message.size();
  train.pieces.emplace_back(message);
  train.piece_counts.push_back(1);
  std::ignore = socket.send(train);
}

/// Over loopback each answer is there once the relay has had its turn.
void bind_end(boost::asio::io_context& io, net::DatagramSocket& end, const meet::DatagramRelay& relay,
              const meeting::Relay::Token& token) {
  constexpr std::size_t kRequestBytes = 96;
  const Endpoint to = net::loopback(AddressFamily::ipv4).with_port(relay.port());
  core::ChunkPool chunks(64 * kKiB);
  net::StunMessage request;
  request.username = meeting::username_of(token);
  for (int round = 0; round < 2; ++round) {
    send_one(end, net::encode(request, kRequestBytes), to);
    std::vector<net::ReceivedTrain> answers;
    while (end.receive(answers, 1, chunks) == 0) io.run_one();
    const auto answer =
        net::decode_stun(std::span<const std::byte>(answers[0].chunk.bytes()).first(answers[0].total_bytes));
    if (!answer) std::abort();
    request.nonce = answer->nonce;
  }
}

/// Sends from all connectors in turn.
void send(std::vector<Ends>& pairs, double bytes_per_second, const std::atomic<bool>& over) {
  const std::vector<std::byte> payload(kDatagramBytes * kTrainDatagrams);
  net::DatagramTrain train;
  train.segment_bytes = kDatagramBytes;
  train.total_bytes = payload.size();
  for (std::size_t i = 0; i < kTrainDatagrams; ++i) {
    train.pieces.push_back(std::span(payload).subspan(i * kDatagramBytes, kDatagramBytes));
    train.piece_counts.push_back(1);
  }
  const auto start = Clock::now();
  for (double sent = 0; !over;) {
    for (Ends& pair : pairs) {
      train.to = net::loopback(AddressFamily::ipv4).with_port(pair.relay->port());
      std::ignore = pair.connector.send(train);
      sent += static_cast<double>(payload.size());
      const auto due =
          start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(sent / bytes_per_second));
      std::this_thread::sleep_until(due);
    }
  }
}

void receive(std::vector<Ends>& pairs, std::atomic<std::uint64_t>& bytes, const std::atomic<bool>& over) {
  core::ChunkPool chunks(64 * kKiB);
  std::vector<net::ReceivedTrain> trains;
  while (!over) {
    std::size_t came = 0;
    for (Ends& pair : pairs) {
      trains.clear();
      came += pair.listener.receive(trains, 16, chunks);
      for (const auto& each : trains) bytes += each.total_bytes;
    }
    if (came == 0) std::this_thread::sleep_for(200us);  // the reader leaves the processors to the relay
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int at, double otherwise) { return argc > at ? std::atof(argv[at]) : otherwise; };
  const auto count = static_cast<std::size_t>(number(1, 1));
  const double bytes_per_second = number(2, 2000) * 1e6 / 8;
  const std::chrono::duration<double> length(number(3, 5));
  const bool singly = argc > 4 && std::string_view(argv[4]) == "singly";

  boost::asio::io_context io;
  meet::RelayResources resources{BitRate()};
  std::vector<Ends> pairs;
  for (std::size_t i = 0; i < count; ++i) {
    const meet::RelayTokens tokens{meeting::Relay::Token{std::byte{1}}, meeting::Relay::Token{std::byte{2}}};
    auto relay = meet::DatagramRelay::open(io, {net::loopback(AddressFamily::ipv4)}, tokens,
                                           meet::bucket_of_pair(BitRate()), resources);
    if (!relay) {
      std::fprintf(stderr, "relay: %s\n", relay.error().message().c_str());
      return 1;
    }
    pairs.push_back({open_end(!singly), open_end(true), std::move(*relay)});
    bind_end(io, pairs.back().connector, *pairs.back().relay, tokens[meet::index_of(meet::PairRole::connector)]);
    bind_end(io, pairs.back().listener, *pairs.back().relay, tokens[meet::index_of(meet::PairRole::listener)]);
  }
  std::atomic<bool> over = false;
  std::atomic<std::uint64_t> bytes = 0;
  std::thread receiver([&] { receive(pairs, bytes, over); });
  std::thread sender([&] { send(pairs, bytes_per_second, over); });
  const double before = thread_cpu_seconds();
  const auto start = Clock::now();
  io.run_for(std::chrono::duration_cast<Clock::duration>(length));
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  const double cpu = thread_cpu_seconds() - before;
  over = true;
  sender.join();
  receiver.join();
  std::uint64_t relayed = 0;
  for (const Ends& pair : pairs) relayed += pair.relay->counts(meet::PairRole::connector).relayed_bytes;
  const double gigabytes = static_cast<double>(relayed) / 1e9;
  std::printf(
      "{\"pairs\": %zu, \"seconds\": %.2f, \"relayed_gbits\": %.3f, \"came_gbits\": %.3f, \"cpu_seconds\": %.3f, "
      "\"cpu_seconds_per_gb\": %.3f}\n",
      count, seconds, gigabytes * 8 / seconds, static_cast<double>(bytes) * 8e-9 / seconds, cpu,
      gigabytes > 0 ? cpu / gigabytes : 0.0);
}
