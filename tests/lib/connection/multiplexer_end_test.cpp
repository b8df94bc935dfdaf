// SPDX-License-Identifier: Apache-2.0
/// The ends of streams and sessions that tests/models/stream_end.pml has found, by src/lib/connection/multiplexer.cpp.
#include <chrono>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "lib/connection/multiplexer_fixture.hpp"
#include "lib/core/program_exit.hpp"

namespace udtcat::connection {
namespace {

using namespace std::chrono_literals;

TEST_F(MultiplexerTest, TakesNoStreamThatCrossesItsClose) {
  connect();
  bool asked = false;
  listener.connection->on_stream([&](StreamId) { asked = true; });
  open();
  listener.connection->close();
  ASSERT_TRUE(run_until([this] { return connector.outcome && listener.closed; }));
  EXPECT_FALSE(asked) << "nothing could be said on it";
  EXPECT_EQ(connector.outcome->error->code, Errc::connection_broken);
  EXPECT_TRUE(*listener.closed);
}

TEST_F(MultiplexerTest, GivesASlowConsumerAllThatAFailedCommandWroteHoweverLongItTakes) {
  options.idle_timeout = 1s;
  connect();
  listener.script->consumer_stalled = true;
  connector.script->name = "command";
  open();
  connector.script->say("all that it wrote");
  ASSERT_TRUE(run_until([this] { return connector.script->to_send.empty(); }));
  connector.script->read_error = core::program_exit(1, 0);
  connector.script->wake();
  ASSERT_TRUE(run_until([this] { return connector.outcome.has_value(); }));
  connector.connection->close();
  test::run_for(io, 2s);  // the peer says nothing behind its CLOSE
  EXPECT_FALSE(listener.outcome) << listener.outcome->error->message();
  listener.script->stall(false);
  ASSERT_TRUE(run_until([this] { return listener.outcome.has_value(); }));
  EXPECT_EQ(listener.script->received, "all that it wrote");
  EXPECT_EQ(listener.outcome->error->code, Errc::remote_read_failed) << listener.outcome->error->message();
}

}  // namespace
}  // namespace udtcat::connection
