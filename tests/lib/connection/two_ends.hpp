// SPDX-License-Identifier: Apache-2.0
/// A listener and dialers on loopback, over the real transport.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <udtcat/peering.hpp>

#include "support/run_until.hpp"

namespace udtcat::connection {

class TwoEnds : public ::testing::Test {
 protected:
  void SetUp() override { key = std::move(*Key::generate()); }

  ListenRequest listen_request(const char* address = "127.0.0.1") {
    ListenRequest request;
    request.session.application = "pipe";
    request.locals = std::move(*resolve({address, 0}, AddressFamily::any));
    request.credentials = key->duplicate();
    request.session.threads = 1;
    return request;
  }
  void start_listening(ListenRequest request) {
    auto made = listen(
        io, std::move(request),
        [this](std::unique_ptr<Connection> connection) { welcomed.push_back(std::move(connection)); },
        [this](const Endpoint&, const Error& why) { refusals.push_back(why); });
    ASSERT_TRUE(made) << made.error().message();
    listener = std::move(*made);
  }
  DialRequest dial_request() {
    DialRequest request;
    request.session.application = "pipe";
    request.addresses = listener->local_endpoints();
    request.peer_name = "the listener";
    request.credentials = key->duplicate();
    request.session.threads = 1;
    return request;
  }
  void start_dialing(DialRequest request) {
    result.reset();
    dialer =
        dial(io, std::move(request), [this](Result<std::unique_ptr<Connection>> made) { result = std::move(made); });
  }
  template <typename Condition>
  void run_until(Condition condition) {
    ASSERT_TRUE(test::run_until(io, condition));
  }
  void run_until_dialed() {
    run_until([this] { return result.has_value(); });
  }
  [[nodiscard]] Errc error() const { return result->error().code; }

  boost::asio::io_context io;
  std::optional<Credentials> key;
  std::unique_ptr<Listener> listener;
  std::vector<std::unique_ptr<Connection>> welcomed;
  std::vector<Error> refusals;
  std::unique_ptr<Dialer> dialer;
  std::optional<Result<std::unique_ptr<Connection>>> result;
};

}  // namespace udtcat::connection
