// SPDX-License-Identifier: Apache-2.0
/// A connection without a peer: the test says what the peer does.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <udtcat/connection.hpp>

namespace udtcat::bridge {

class FakeConnection final : public Connection {
 public:
  struct Bridged {
    std::unique_ptr<LocalStream> local;
    OutcomeHandler done;
    std::string service;
  };

  explicit FakeConnection(Endpoint peer) : peer_(peer) {}

  /// The peer opens a stream. From the loop, as the interface promises.
  void peer_opens(boost::asio::io_context& io, StreamId id, const std::string& service = {}) {
    asked_for[id] = service;
    boost::asio::post(io, [this, id] { handler_(id); });
  }
  /// The peer gives up a stream that was not answered.
  void peer_gives_up(boost::asio::io_context& io, StreamId id) {
    asked_for.erase(id);
    boost::asio::post(io, [this, id] { given_up_(id); });
  }

  using Connection::accept_stream;
  using Connection::open_stream;
  StreamId open_stream(std::unique_ptr<LocalStream> local, OutcomeHandler done, const std::string& service) override {
    const auto id = static_cast<StreamId>(2 * opened.size());
    opened.push_back({std::move(local), std::move(done), service});
    return id;
  }
  [[nodiscard]] std::size_t streams_left() const override { return room; }
  [[nodiscard]] std::optional<std::string> service_of(StreamId id) const override {
    const auto asks = asked_for.find(id);
    return asks == asked_for.end() ? std::nullopt : std::optional(asks->second);
  }
  void on_stream(StreamHandler handler) override { handler_ = std::move(handler); }
  void on_stream_given_up(StreamHandler handler) override { given_up_ = std::move(handler); }
  void accept_stream(StreamId id, std::unique_ptr<LocalStream> local, OutcomeHandler done) override {
    accepted[id] = {std::move(local), std::move(done), {}};
  }
  void refuse_stream(StreamId id, const Error& reason) override { refused[id] = reason; }

  void on_closed(ClosedHandler handler) override { closed = std::move(handler); }
  void close() override { was_closed = true; }
  void abort(const Error& reason) override { aborted = reason; }
  [[nodiscard]] ConnectionStats stats() override { return current_stats; }
  void send_report() override {}
  [[nodiscard]] bool answers() const override { return answering; }
  void on_quiet(QuietHandler handler) override { quiet = std::move(handler); }
  [[nodiscard]] boost::asio::io_context& io() override { return io_; }
  [[nodiscard]] Endpoint peer() const override { return peer_; }
  [[nodiscard]] const std::string& application() const override { return application_; }
  [[nodiscard]] std::optional<PeerIdentity> peer_identity() const override { return identity; }
  [[nodiscard]] bool peer_receives() const override { return true; }
  [[nodiscard]] bool peer_sends() const override { return true; }
  [[nodiscard]] std::uint8_t peer_application_data() const override { return 0; }
  [[nodiscard]] const std::vector<std::string>& peer_services() const override { return services; }

  std::size_t room = 10;
  std::vector<std::string> services;
  ConnectionStats current_stats;
  std::string application_ = "forward";
  bool answering = true;
  std::optional<PeerIdentity> identity;
  ClosedHandler closed;
  QuietHandler quiet;
  std::optional<Error> aborted;
  bool was_closed = false;
  std::map<StreamId, std::string> asked_for;
  std::vector<Bridged> opened;
  std::map<StreamId, Bridged> accepted;
  std::map<StreamId, Error> refused;
  const std::shared_ptr<int> life = std::make_shared<int>();  // for a std::weak_ptr

 private:
  boost::asio::io_context io_;  // first: what hangs in it outlives nothing else
  const Endpoint peer_;
  StreamHandler handler_;
  StreamHandler given_up_;
};

}  // namespace udtcat::bridge
