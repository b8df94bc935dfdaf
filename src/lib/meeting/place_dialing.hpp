// SPDX-License-Identifier: Apache-2.0
/// An attempt to have a session with a meeting place.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/peering.hpp>

#include "lib/core/lifetime.hpp"
#include "lib/net/resolver.hpp"

namespace udtcat::meeting {

/// Those of one place that a listener takes: streams of its session with it.
inline constexpr std::size_t kMaxPairsOfListener = 128;  // spec: meet.md §8

/// "meet.example.org:9000"
[[nodiscard]] std::string text_of(const MeetingPlace& place);

/// For Connection::name_paths(): names the place where the path is one of its relays.
[[nodiscard]] Connection::PathWords relay_words(const MeetingPlace& place, std::vector<Endpoint> relays);

/// Threads: confined to the io_context thread, where the handler is called, not from inside the constructor.
class PlaceDialing {
 public:
  /// The handler is called once and may destroy this.
  /// place    outlives this
  /// by       the transport and the proxy of the session that is wanted with the other end
  /// errors   Errc::cannot_reach, with what came in between; those of dial()
  PlaceDialing(boost::asio::io_context& io, const MeetingPlace& place, const TransportOptions& by,
               std::chrono::milliseconds timeout, Dialer::Handler handler);
  PlaceDialing(const PlaceDialing&) = delete;
  PlaceDialing& operator=(const PlaceDialing&) = delete;
  ~PlaceDialing() = default;

 private:
  void dial_at(const Result<std::vector<Endpoint>>& found);
  void finish(Result<std::unique_ptr<Connection>> made);

  boost::asio::io_context& io_;
  const MeetingPlace& place_;
  const TransportKind kind_;
  const std::shared_ptr<const HttpProxy> proxy_;
  const std::chrono::steady_clock::time_point deadline_;
  const Dialer::Handler handler_;
  net::Resolver resolver_;
  std::unique_ptr<Dialer> dialer_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::meeting
