// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include <gtest/gtest.h>

#include <udtcat/plain.hpp>

#include "lib/connection/two_ends.hpp"
#include "support/scripted_stream.hpp"

namespace udtcat::plain {
namespace {

using test::Script;
using test::ScriptedStream;

/// One end of a bare connection, and what became of it.
struct PlainEnd {
  explicit PlainEnd(std::string text) {
    script->to_send = std::move(text);
    script->source_ended = true;
  }
  void bridge(boost::asio::io_context& io, std::unique_ptr<PlainPipe> made) {
    pipe = std::move(made);
    pipe->bridge(std::make_unique<ScriptedStream>(io, script), true,
                 [this](StreamOutcome how) { outcome = std::move(how); });
  }
  std::shared_ptr<Script> script = std::make_shared<Script>();
  std::unique_ptr<PlainPipe> pipe;
  std::optional<StreamOutcome> outcome;
};

class PlainListenerTest : public connection::TwoEnds {
 protected:
  void start_listening_plain() {
    auto made = listen_plain(io, listen_request(), [this](std::unique_ptr<PlainPipe> pipe) {
      listener->stop();
      far.bridge(io, std::move(pipe));
    });
    ASSERT_TRUE(made) << made.error().message();
    listener = std::move(*made);
  }
  void start_dialing_plain(DialRequest request) {
    dialer = dial_plain(io, std::move(request), [this](Result<std::unique_ptr<PlainPipe>> pipe) {
      if (!pipe) failure = pipe.error();
      if (pipe) near.bridge(io, std::move(*pipe));
    });
  }

  PlainEnd near{"hello"};
  PlainEnd far{""};
  std::optional<Error> failure;
};

TEST_F(PlainListenerTest, AcceptsAnyPeerAndCarriesBareBytes) {
  start_listening_plain();
  start_dialing_plain(dial_request());
  run_until([this] { return near.outcome && far.outcome; });
  EXPECT_FALSE(near.outcome->error || far.outcome->error);
  EXPECT_EQ(far.script->received, "hello");
  EXPECT_EQ(near.pipe->stats().bytes_sent, 5U);
  EXPECT_GT(near.pipe->stats().packets_sent, 0U);
}

TEST_F(PlainListenerTest, IsDialledByAPlainDialer) {
  start_listening_plain();
  auto request = dial_request();
  listener.reset();
  start_dialing_plain(std::move(request));
  run_until([this] { return failure.has_value(); });
  EXPECT_EQ(failure->code, Errc::cannot_reach);
}

TEST_F(PlainListenerTest, SaysWhichPortIsTaken) {
  start_listening_plain();
  auto again = listen_request();
  again.locals = listener->local_endpoints();
  const auto second = listen_plain(io, std::move(again), [](std::unique_ptr<PlainPipe>) {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::cannot_bind);
}

}  // namespace
}  // namespace udtcat::plain
