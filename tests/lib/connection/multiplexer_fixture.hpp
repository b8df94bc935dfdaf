// SPDX-License-Identifier: Apache-2.0
/// The words of the multiplexer's tests.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <udtcat/key.hpp>
#include <udtcat/units.hpp>

#include "lib/connection/multiplexer.hpp"
#include "support/bytes.hpp"
#include "support/memory_channel.hpp"
#include "support/run_until.hpp"
#include "support/scripted_stream.hpp"

namespace udtcat::connection {

/// Where a handshake would leave it, with keys that every test knows.
inline std::unique_ptr<session::Session> session_after_handshake(boost::asio::io_context& io, session::Role role,
                                                                 const session::NegotiatedParameters& agreed,
                                                                 std::unique_ptr<transport::Channel> channel) {
  std::optional<session::KeySchedule> keys;
  if (agreed.protection >= Protection::safe) {
    crypto::SecretBytes<session::KeySchedule::kExporterBytes> exporter;
    keys = std::move(*session::KeySchedule::from_exporter(exporter));
  }
  return std::make_unique<session::Session>(io, role, agreed, std::move(keys), std::move(channel));
}

/// A connector and a listener over a path in memory, and the words to speak of them.
class MultiplexerTest : public ::testing::TestWithParam<Protection> {
 protected:
  MultiplexerTest() { options.idle_timeout = std::chrono::seconds(3); }

  struct End {
    std::unique_ptr<Connection> connection;
    std::optional<StreamOutcome> outcome;
    std::optional<Status> closed;
    std::shared_ptr<test::Script> script = std::make_shared<test::Script>();
    StreamId accepted = 0;
  };

  void connect(Protection protection = Protection::private_, std::size_t lanes = 4, std::size_t threads = 2,
               std::size_t flows = 1) {
    options.protection = protection;
    options.threads = threads;
    session::NegotiatedParameters agreed;
    agreed.protection = protection;
    agreed.lanes = lanes;
    agreed.flows = flows;
    agreed.block_bytes = block_bytes;
    agreed.streams_to_peer = options.streams;
    agreed.peer_takes_reports = reports;
    agreed.window_to_peer_bytes = agreed.window_from_peer_bytes = session::kInitialWindowBytes;
    for (std::size_t i = 1; i < flows; ++i) {
      test::ChannelPair pair(io);
      more_to_listener.push_back(std::move(pair.connector));
      more_to_connector.push_back(std::move(pair.listener));
      more_from_connector.push_back(pair.from_connector);
    }
    from_connector = path.from_connector;
    from_listener = path.from_listener;
    make(connector, session::Role::connector, agreed, std::move(path.connector));
    make(listener, session::Role::listener, agreed, std::move(path.listener));
    listener.connection->on_stream([this](StreamId id) {
      listener.accepted = id;
      if (accepts) accept();
    });
  }
  void make(End& end, session::Role role, const session::NegotiatedParameters& agreed,
            std::unique_ptr<transport::Channel> channel) {
    auto session = session_after_handshake(io, role, agreed, std::move(channel));
    session::Session& running = *session;
    end.connection = std::move(*Multiplexer::create(io, std::move(session), options, {}));
    std::uint8_t flow = 0;
    for (auto& more : role == session::Role::connector ? more_to_listener : more_to_connector)
      running.add_flow(std::move(more), {++flow, 1}, 0);
    end.connection->on_closed([&end](const Status& status) { end.closed = status; });
  }
  void accept() {
    listener.connection->accept_stream(listener.accepted, std::make_unique<test::ScriptedStream>(io, listener.script),
                                       [this](const StreamOutcome& outcome) { listener.outcome = outcome; });
  }
  void open(const std::string& service = {}) {
    connector.connection->open_stream(
        std::make_unique<test::ScriptedStream>(io, connector.script),
        [this](const StreamOutcome& outcome) { connector.outcome = outcome; }, service);
  }
  /// As many streams come and go before the listener hears of any.
  void open_and_give_up(std::size_t count) {
    const auto held_up = std::exchange(from_connector->wake_reader, [] {});
    for (std::size_t i = 0; i < count; ++i) {
      const StreamId id = connector.connection->open_stream(
          std::make_unique<test::ScriptedStream>(io, connector.script), [](const StreamOutcome&) {}, {});
      connector.connection->refuse_stream(id, {Errc::stream_refused, "open", "given up"});
    }
    test::run_ready(io);
    from_connector->wake_reader = held_up;
    held_up();
  }
  template <typename Condition>
  [[nodiscard]] bool run_until(Condition condition) {
    return test::run_until(io, condition);
  }
  bool both_ended() {
    return run_until([this] { return connector.outcome && listener.outcome; });
  }

  SessionOptions options;  // of both ends; connect() sets the protection and the threads
  boost::asio::io_context io;
  test::ChannelPair path{io};
  std::shared_ptr<test::MemoryPipe> from_connector;
  std::shared_ptr<test::MemoryPipe> from_listener;
  std::vector<std::unique_ptr<transport::Channel>> more_to_listener;  // the flows beyond the first
  std::vector<std::unique_ptr<transport::Channel>> more_to_connector;
  std::vector<std::shared_ptr<test::MemoryPipe>> more_from_connector;
  std::size_t block_bytes = 16 * kKiB;
  bool accepts = true;
  bool reports = false;  // each end takes them
  End connector;
  End listener;
};

}  // namespace udtcat::connection
