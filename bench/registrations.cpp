// SPDX-License-Identifier: Apache-2.0
// Question: what do registered listeners cost a meeting place?
//
//   registrations [COUNT]     200 sessions with a place on this host, each with one registration: a line of JSON
//
// It says how long all took, and how much memory the place has for each. The place is a process, all listeners another.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <list>
#include <memory>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>

#include <udtcat/udtcat.hpp>

#include "lib/meeting/message_stream.hpp"
#include "lib/meeting/names.hpp"
#include "lib/meeting/signed_messages.hpp"
#include "meet/place.hpp"

namespace {

using namespace udtcat;
using Clock = std::chrono::steady_clock;

[[noreturn]] void die(const std::string& why) {
  std::fprintf(stderr, "registrations: %s\n", why.c_str());
  std::exit(1);
}

/// Of this process.
long resident_kilobytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmRSS:", 0) == 0) return std::atol(line.c_str() + 6);
  return 0;
}

/// A listener's registration.
struct Registrant {
  std::unique_ptr<Dialer> dialer;
  std::unique_ptr<Connection> connection;
  KeyPair name = KeyPair::generate().value();
  std::unique_ptr<meeting::MessageStream> stream;
  bool registered = false;

  void take(const meeting::Message& message) {
    if (const auto* const challenge = std::get_if<meeting::Challenge>(&message))
      return stream->send(meeting::Proof{meeting::sign_registration(name, challenge->nonce).value()});
    registered = std::holds_alternative<meeting::Registered>(message);
    if (!registered) die("refused");
  }
};

DialRequest request_to(std::uint16_t port) {
  DialRequest request{.addresses = resolve({"127.0.0.1", port}, AddressFamily::ipv4).value(),
                      .peer_name = "the place",
                      .timeout = std::chrono::seconds(60),
                      .credentials = meeting::public_place_key().value(),
                      .session = {},
                      .transport = {}};
  request.session.application = meeting::kApplication;
  meet::make_small(request.session, request.transport);
  return request;
}

}  // namespace

[[noreturn]] void register_all(std::uint16_t port, std::size_t count) {
  boost::asio::io_context io;
  std::list<Registrant> all;
  while (all.size() < count) {
    Registrant& each = all.emplace_back();
    each.dialer = dial(io, request_to(port), [&each](Result<std::unique_ptr<Connection>> connection) {
      if (!connection) die(connection.error().message());
      each.connection = std::move(*connection);
      each.stream = std::make_unique<meeting::MessageStream>(
          each.connection->open_stream(),
          meeting::MessageStream::Handlers{
              .on_message = [&each](const meeting::Message& message) { each.take(message); },
              .on_over = [](const Status&) { die("the place ended a stream"); }});
      each.stream->send(meeting::Register{each.name.public_key()});
    });
    while (!each.registered) io.run_one();
  }
  for (;;) io.run_one();
}

int main(int argc, char** argv) {
  const std::size_t count = argc > 1 ? static_cast<std::size_t>(std::atoi(argv[1])) : 200;
  boost::asio::io_context io;
  std::unique_ptr<meet::Place> place;
  ListenRequest request{.locals = resolve({"127.0.0.1", 0}, AddressFamily::ipv4).value(),
                        .credentials = meeting::public_place_key().value(),
                        .session = {},
                        .transport = {}};
  request.session.application = meeting::kApplication;
  meet::make_small(request.session, request.transport);
  request.limits = {.peers = count, .sessions_per_peer = count};
  const auto listener = listen(
      io, std::move(request), [&place](std::unique_ptr<Connection> connection) { place->add(std::move(connection)); },
      [](const Endpoint&, const Error& why) { die(why.message()); });
  if (!listener) die(listener.error().message());
  const auto locals = (*listener)->local_endpoints();
  place = std::make_unique<meet::Place>(io, meet::PlaceLimits{.registrations = count, .registrations_of_one = count},
                                        meet::PairTable::Settings{.locals = locals, .any_ports = true},
                                        [](const Connection&, const Error& why) { die(why.message()); });
  const pid_t child = ::fork();
  if (child == 0) register_all(locals.front().port(), count);
  const long before = resident_kilobytes();
  const auto start = Clock::now();
  while (place->registrations() < count && ::waitpid(child, nullptr, WNOHANG) == 0) io.run_one();
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  io.run_for(std::chrono::seconds(5));
  const long more = resident_kilobytes() - before;
  ::kill(child, SIGKILL);
  std::printf("{\"registrations\": %zu, \"seconds\": %.2f, \"kilobytes_before\": %ld, \"kilobytes_of_each\": %.1f}\n",
              place->registrations(), seconds, before, static_cast<double>(more) / static_cast<double>(count));
  std::fflush(stdout);
  std::_Exit(0);  // the sessions have nobody to part from
}
