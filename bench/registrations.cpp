// SPDX-License-Identifier: Apache-2.0
// Question: what do registered listeners cost a meeting place?
//
//   registrations PORT PID [COUNT]     200 sessions with the place of everybody at PORT of this host, each with one
//                                      registration; PID is its process: a line of JSON
//
// It says how long the last took, and how much memory the place has for each more than before.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <list>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>

#include <udtcat/udtcat.hpp>

#include "lib/meeting/names.hpp"
#include "lib/meeting/signed_messages.hpp"
#include "meet/message_stream.hpp"
#include "meet/place.hpp"

namespace {

using namespace udtcat;
using Clock = std::chrono::steady_clock;

[[noreturn]] void die(const std::string& why) {
  std::fprintf(stderr, "registrations: %s\n", why.c_str());
  std::exit(1);
}

long resident_kilobytes(const std::string& pid) {
  std::ifstream status("/proc/" + pid + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmRSS:", 0) == 0) return std::atol(line.c_str() + 6);
  die("no process " + pid);
}

/// A listener's registration.
struct Registrant {
  std::unique_ptr<Dialer> dialer;
  std::unique_ptr<Connection> connection;
  KeyPair name = KeyPair::generate().value();
  std::unique_ptr<meet::MessageStream> stream;
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

int main(int argc, char** argv) {
  if (argc < 3) die("needs PORT and PID");
  const auto port = static_cast<std::uint16_t>(std::atoi(argv[1]));
  const std::size_t count = argc > 3 ? static_cast<std::size_t>(std::atoi(argv[3])) : 200;
  boost::asio::io_context io;
  std::list<Registrant> all;
  const long before = resident_kilobytes(argv[2]);
  const auto start = Clock::now();
  while (all.size() < count) {
    Registrant& each = all.emplace_back();
    each.dialer = dial(io, request_to(port), [&each](Result<std::unique_ptr<Connection>> connection) {
      if (!connection) die(connection.error().message());
      each.connection = std::move(*connection);
      each.stream = std::make_unique<meet::MessageStream>(
          each.connection->open_stream(),
          meet::MessageStream::Handlers{.on_message = [&each](const meeting::Message& message) { each.take(message); },
                                        .on_over = [] { die("the place ended a stream"); }});
      each.stream->send(meeting::Register{each.name.public_key()});
    });
    while (!each.registered) io.run_one();
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  io.run_for(std::chrono::seconds(5));
  const long more = resident_kilobytes(argv[2]) - before;
  std::printf("{\"registrations\": %zu, \"seconds\": %.2f, \"kilobytes_before\": %ld, \"kilobytes_more_of_each\": %.1f}\n",
              count, seconds, before, static_cast<double>(more) / static_cast<double>(count));
}
