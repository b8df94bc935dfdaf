// SPDX-License-Identifier: Apache-2.0
// Question: what do many sessions cost a listener that have nothing to say?
//
//   sessions [COUNT [SECONDS]]     1000 sessions, each with one open stream, looked at for 10 s: a line of JSON
//
// It says how long the last took to be there, and then the listener's threads, memory and processor time.
// The listener and all connectors are a process each, so that the figures are of the listener alone.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/steady_timer.hpp>

#include <udtcat/udtcat.hpp>

#include "cpu_seconds.hpp"

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kUntilIdle{15};  // the handshakes' work is not an idle session's

[[noreturn]] void die(const udtcat::Error& error) {
  std::fprintf(stderr, "sessions: %s\n", error.message().c_str());
  std::exit(1);
}

udtcat::Endpoint here(std::uint16_t port) {
  const auto found = udtcat::resolve({"127.0.0.1", port}, udtcat::AddressFamily::ipv4);
  if (!found) die(found.error());
  return found->front();
}

/// A field of /proc/self/status: threads, or kilobytes.
long status_field(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind(name + ':', 0) == 0) return std::atol(line.c_str() + name.size() + 1);
  return 0;
}

/// Kept, so that the session stays.
struct Peer {
  std::unique_ptr<udtcat::Connection> connection;
  std::unique_ptr<udtcat::Stream> stream;
};

void connect(const udtcat::Endpoint& to, const udtcat::Key& key, std::size_t count) {
  constexpr std::size_t kAtOnce = 16;
  boost::asio::io_context io;
  std::vector<std::unique_ptr<udtcat::Dialer>> dialers;
  std::vector<Peer> peers;
  const std::function<void()> next = [&] {
    if (dialers.size() == count) return;
    udtcat::DialRequest request;
    request.addresses = {to};
    request.credentials = key.duplicate();
    request.session.application = "forward";
    dialers.push_back(udtcat::dial(io, std::move(request), [&](auto made) {
      if (!made) die(made.error());
      auto stream = (*made)->open_stream();
      peers.push_back({std::move(*made), std::move(stream)});
      next();
    }));
  };
  while (dialers.size() < std::min(kAtOnce, count)) next();
  io.run();
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t count = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1000;
  const double seconds = argc > 2 ? std::atof(argv[2]) : 10;
  auto key = udtcat::Key::generate();
  if (!key) die(key.error());
  int told[2]{};
  if (pipe(told) != 0) return 1;
  const pid_t connector = fork();
  if (connector == 0) {
    std::uint16_t port = 0;
    if (read(told[0], &port, sizeof port) == sizeof port) connect(here(port), *key, count);
    return 1;
  }

  boost::asio::io_context io;
  boost::asio::steady_timer looked_at(io);
  std::vector<Peer> peers;
  udtcat::ListenRequest request;
  request.credentials = key->duplicate();
  request.session.application = "forward";
  request.locals = {here(0)};
  const long before_kb = status_field("VmRSS");
  const auto begin = Clock::now();
  const auto on_peer = [&](std::unique_ptr<udtcat::Connection> connection) {
    udtcat::Connection& peer = *peers.emplace_back(Peer{std::move(connection), nullptr}).connection;
    peer.on_stream([&, at = peers.size() - 1](udtcat::StreamId id) { peers[at].stream = peer.accept_stream(id); });
    if (peers.size() < count) return;
    const double setup = std::chrono::duration<double>(Clock::now() - begin).count();
    looked_at.expires_after(kUntilIdle);
    looked_at.async_wait([&, setup](auto) {
      const double before = cpu_seconds();
      looked_at.expires_after(std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds)));
      looked_at.async_wait([&, setup, before](auto) {
        const double busy = (cpu_seconds() - before) / seconds;
        const double kib = static_cast<double>(status_field("VmRSS") - before_kb);
        std::printf(
            "{\"sessions\": %zu, \"setup_seconds\": %.2f, \"threads\": %ld, \"memory_mib\": %.1f, "
            "\"kib_each\": %.1f, \"idle_core_percent\": %.2f}\n",
            count, setup, status_field("Threads"), kib / 1024, kib / static_cast<double>(count), 100 * busy);
        std::fflush(stdout);
        io.stop();
      });
    });
  };
  const auto listener = udtcat::listen(io, std::move(request), on_peer, [](auto&, auto& why) { die(why); });
  if (!listener) die(listener.error());
  const std::uint16_t port = (*listener)->local_endpoints().front().port();
  if (write(told[1], &port, sizeof port) != sizeof port) return 1;
  io.run();
  kill(connector, SIGTERM);
  waitpid(connector, nullptr, 0);
}
