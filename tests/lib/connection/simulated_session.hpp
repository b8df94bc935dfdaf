// SPDX-License-Identifier: Apache-2.0
/// Two multiplexers and the path between them, in virtual time, and the streams that share it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "lib/connection/multiplexer_fixture.hpp"
#include "lib/connection/simulated_channel.hpp"
#include "support/run_until.hpp"
#include "support/scripted_stream.hpp"

namespace udtcat::connection {

/// Has always more to say, or nothing, and counts what comes.
class BulkStream final : public LocalStream {
 public:
  BulkStream(boost::asio::io_context& io, bool speaks, std::uint64_t& received_bytes)
      : io_(io), speaks_(speaks), received_bytes_(received_bytes) {}

  ReadResult read_some(std::span<std::byte> into) override {
    if (!speaks_) return {ReadState::would_block};
    std::memset(into.data(), 'x', into.size());
    return {ReadState::data, into.size()};
  }
  void async_wait_readable(WaitHandler /*handler*/) override {}
  void async_write_some(std::span<const std::byte> from, WriteHandler handler) override {
    received_bytes_ += from.size();
    boost::asio::post(io_,
                      lifetime_.guard([handler = std::move(handler), bytes = from.size()] { handler({}, bytes); }));
  }
  void async_finish(FinishHandler /*handler*/) override {}
  void abort() override { lifetime_.end(); }
  [[nodiscard]] std::string source_name() const override { return "bulk"; }
  [[nodiscard]] std::string sink_name() const override { return "bulk"; }

 private:
  boost::asio::io_context& io_;
  const bool speaks_;
  std::uint64_t& received_bytes_;
  core::Lifetime lifetime_;
};

/// Each run is the same: blocks are sealed on the test's thread, and too little real time passes for the multiplexer to
/// send a PING.
class SimulatedSession {
 public:
  using Path = SimulatedChannel::Path;
  using Duration = transport::native::Duration;
  enum class Way { out, back };

  /// word_bytes   of a question
  explicit SimulatedSession(const transport::native::PathSettings& link, Protection protection = Protection::private_,
                            std::size_t word_bytes = 64)
      : path_(link), word_bytes_(word_bytes) {
    options_.protection = protection;
    options_.threads = 0;
    near_ = make(session::Role::connector, Path::kNear);
    far_ = make(session::Role::listener, Path::kFar);
    far_->on_stream([this](StreamId id) {
      far_->accept_stream(id, std::move(awaited_.front()), [](const StreamOutcome&) {});
      awaited_.pop_front();
    });
  }

  [[nodiscard]] Path& path() { return path_; }

  /// A stream that carries all it can.  returns   its number among those
  std::size_t add_bulk(Way way) {
    std::uint64_t& bytes = received_.emplace_back(0);
    open(std::make_unique<BulkStream>(io_, way == Way::out, bytes),
         std::make_unique<BulkStream>(io_, way == Way::back, bytes));
    return received_.size() - 1;
  }
  [[nodiscard]] std::uint64_t received_bytes(std::size_t bulk) const { return received_.at(bulk); }

  /// A stream whose far end answers with what it gets.  returns   its number among those
  std::size_t add_echo() {
    Echo& echo = echoes_.emplace_back();
    open(std::make_unique<test::ScriptedStream>(io_, echo.asker),
         std::make_unique<test::ScriptedStream>(io_, echo.answerer));
    return echoes_.size() - 1;
  }
  void ask(std::size_t echo) { echoes_.at(echo).asker->say(std::string(word_bytes_, '?')); }
  [[nodiscard]] std::size_t answers(std::size_t echo) const {
    return echoes_.at(echo).asker->received.size() / word_bytes_;
  }
  /// The time from a question to its answer.
  [[nodiscard]] std::optional<Duration> ask_and_wait(std::size_t echo) {
    const std::size_t wanted = answers(echo) + 1;
    const auto begin = path_.now();
    ask(echo);
    if (!run_until([&] { return answers(echo) == wanted; }, std::chrono::minutes(1))) return std::nullopt;
    return path_.now() - begin;
  }

  template <typename Done>
  [[nodiscard]] bool run_until(Done done, Duration limit) {
    const auto end = path_.now() + limit;
    for (settle(); !done(); settle()) {
      if (path_.now() >= end) return false;
      bool moved = false;
      path_.run_until([&moved] { return std::exchange(moved, true); }, end - path_.now());
      progress();
    }
    return true;
  }
  void run_for(Duration time) {
    std::ignore = run_until([] { return false; }, time);
  }

 private:
  struct Echo {
    std::shared_ptr<test::Script> asker = std::make_shared<test::Script>();
    std::shared_ptr<test::Script> answerer = std::make_shared<test::Script>();
  };

  [[nodiscard]] std::unique_ptr<Connection> make(session::Role role, Path::End end) {
    session::NegotiatedParameters agreed;
    agreed.protection = options_.protection;
    agreed.window_to_peer_bytes = agreed.window_from_peer_bytes = session::kInitialWindowBytes;
    auto channel = std::make_unique<SimulatedChannel>(io_, path_, end);
    channels_.push_back(channel.get());
    return std::move(
        *Multiplexer::create(io_, session_after_handshake(io_, role, agreed, std::move(channel)), options_, {}));
  }
  void open(std::unique_ptr<LocalStream> near, std::unique_ptr<LocalStream> far) {
    awaited_.push_back(std::move(far));
    near_->open_stream(std::move(near), [](const StreamOutcome&) {}, {});
  }
  bool progress() {
    bool posted = false;
    for (SimulatedChannel* channel : channels_) posted = channel->progress() || posted;
    return posted;
  }
  /// All that happens at this moment.
  void settle() {
    do {
      test::run_ready(io_);
      for (Echo& echo : echoes_)
        if (!echo.answerer->received.empty()) echo.answerer->say(std::exchange(echo.answerer->received, {}));
      test::run_ready(io_);
      path_.run_until([] { return true; }, {});  // sends what may leave
    } while (progress());
  }

  SessionOptions options_;
  boost::asio::io_context io_;
  Path path_;
  std::size_t word_bytes_;
  std::vector<SimulatedChannel*> channels_;
  std::deque<std::unique_ptr<LocalStream>> awaited_;  // by the far end, in the order of their streams
  std::deque<std::uint64_t> received_;
  std::deque<Echo> echoes_;
  std::unique_ptr<Connection> near_;
  std::unique_ptr<Connection> far_;
};

}  // namespace udtcat::connection
