// SPDX-License-Identifier: Apache-2.0
/// The words of the transport's tests.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <boost/asio/io_context.hpp>

#include "lib/transport/engine.hpp"
#include "support/addresses.hpp"
#include "support/bytes.hpp"
#include "support/run_until.hpp"

namespace udtcat::transport {

using namespace std::chrono_literals;

using test::loopback;
using test::random_bytes;

/// Written bytes are kept until the peer has acknowledged it, which may be after the test.
inline core::SharedBytes copy_of(std::span<const std::byte> bytes) {
  return core::SharedBytes::adopt({bytes.begin(), bytes.end()});
}

inline TransportOptions options_for(TransportKind kind) {
  TransportOptions options;
  options.kind = kind;
  return options;
}
/// The parameter of every test of the seam: those of UDP, and all.
inline std::vector<TransportKind> transports_of_udp() {
  if (!has_transport(TransportKind::libudt)) return {TransportKind::native};
  return {TransportKind::native, TransportKind::libudt};
}
inline std::vector<TransportKind> transports() {
  auto all = transports_of_udp();
  all.push_back(TransportKind::tcp);
  return all;
}
inline std::string name_of(TransportKind kind) {
  if (kind == TransportKind::tcp) return "Tcp";
  return kind == TransportKind::native ? "Native" : "Libudt";
}

/// One thread, one io_context, one engine.
class TransportTest : public testing::Test {
 protected:
  using Clock = std::chrono::steady_clock;

  explicit TransportTest(const TransportOptions& options) : engine(make_engine(io, options).value()) {}

  /// Runs what is due until `done`; false when that took longer than `limit`.
  bool run_until(const std::function<bool()>& done, std::chrono::milliseconds limit = 10s) {
    return test::run_until(io, done, limit);
  }
  void run_for(std::chrono::milliseconds time) { test::run_for(io, time); }

  std::unique_ptr<Acceptor> listen(const std::vector<Endpoint>& locals) {
    auto acceptor = engine->listen(locals);
    EXPECT_TRUE(acceptor) << acceptor.error().message();
    return std::move(*acceptor);
  }

  Result<std::unique_ptr<Channel>> connect(const Endpoint& peer, std::chrono::milliseconds patience = 5s) {
    std::optional<Result<std::unique_ptr<Channel>>> got;
    engine->async_connect(peer, {}, patience, [&](auto result) { got = std::move(result); });
    EXPECT_TRUE(run_until([&] { return got.has_value(); }, patience + 5s));
    return std::move(*got);
  }

  struct Pair {
    std::unique_ptr<Channel> here;
    std::unique_ptr<Channel> there;
  };

  Pair connect_pair(Acceptor& acceptor, const Endpoint& peer) {
    std::optional<Result<std::unique_ptr<Channel>>> here;
    std::optional<Result<std::unique_ptr<Channel>>> there;
    acceptor.async_accept([&](auto result) { there = std::move(result); });
    engine->async_connect(peer, {}, 5s, [&](auto result) { here = std::move(result); });
    EXPECT_TRUE(run_until([&] { return here && there; }));
    EXPECT_TRUE(*here) << here->error().message();
    return {std::move(**here), std::move(**there)};
  }

  Pair connect_pair(AddressFamily family) {
    acceptor_ = listen({loopback(family)});
    return connect_pair(*acceptor_, acceptor_->local_endpoints().front());
  }

  Status read(Channel& channel, std::span<std::byte> into, std::chrono::milliseconds limit = 30s) {
    std::optional<Status> got;
    channel.async_read(into, [&](Status status) { got = std::move(status); });
    EXPECT_TRUE(run_until([&] { return got.has_value(); }, limit));
    return got.value_or(Status{});
  }

  Result<std::size_t> read_some(Channel& channel, std::span<std::byte> into, std::chrono::milliseconds limit = 30s) {
    std::optional<Result<std::size_t>> got;
    channel.async_read_some(into, [&](Result<std::size_t> read) { got = std::move(read); });
    EXPECT_TRUE(run_until([&] { return got.has_value(); }, limit));
    return got.value_or(fail(Errc::connection_broken, "nothing came"));
  }

  Status drained(Channel& channel, std::chrono::milliseconds limit = 30s) {
    std::optional<Status> got;
    channel.async_drained([&](Status status) { got = std::move(status); });
    EXPECT_TRUE(run_until([&] { return got.has_value(); }, limit));
    return got.value_or(fail(Errc::connection_broken, "never drained"));
  }

  Status write(Channel& channel, std::span<const std::byte> from) {
    std::optional<Status> got;
    channel.async_write(copy_of(from), [&](Status status) { got = std::move(status); });
    EXPECT_TRUE(run_until([&] { return got.has_value(); }, 30s));
    return got.value_or(Status{});
  }

  boost::asio::io_context io{1};
  std::unique_ptr<Engine> engine;

 private:
  std::unique_ptr<Acceptor> acceptor_;
};

/// Each test once with each transport.
class EachTransport : public TransportTest, public testing::WithParamInterface<TransportKind> {
 protected:
  EachTransport() : TransportTest(options_for(GetParam())) {}
};

}  // namespace udtcat::transport
