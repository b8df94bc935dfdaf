// SPDX-License-Identifier: Apache-2.0
#include "lib/bridge/relay.hpp"

#include <gtest/gtest.h>

#include <udtcat/bridges.hpp>

#include "lib/bridge/loop.hpp"

namespace udtcat::bridge {
namespace {

class Relays : public testing::Test {
 protected:
  std::unique_ptr<LocalStream> reading(Descriptor from) {
    return make_stdio_stream(io, from.release(), -1, {.read = true, .write = false}).value();
  }
  std::unique_ptr<LocalStream> writing(Descriptor to) {
    return make_stdio_stream(io, -1, to.release(), {.read = false, .write = true}).value();
  }
  boost::asio::io_context io;
  Ends up = make_pipe();
  Ends down = make_pipe();
  std::optional<Relay::Outcome> outcome;
};

TEST_F(Relays, MoveEveryByteAndTheEnd) {
  const Bytes sent = random_bytes(3'000'000);
  const auto from = reading(std::move(up.read));
  const auto to = writing(std::move(down.write));
  auto written = write_all_in_background(std::move(up.write), sent);
  auto got = read_all_in_background(down.read.number());
  const Relay relay(*from, *to, [&](const Relay::Outcome& how) { outcome = how; });
  ASSERT_TRUE(run_until(io, [&] { return outcome.has_value(); }));
  EXPECT_FALSE(outcome->read_error || outcome->write_error);
  EXPECT_EQ(got.get(), sent);
}

TEST_F(Relays, SayThatTheConsumerHasLeft) {
  const auto from = reading(std::move(up.read));
  const auto to = writing(std::move(down.write));
  ASSERT_FALSE(down.read.close());
  auto written = write_all_in_background(std::move(up.write), bytes_of("for nobody"));
  const Relay relay(*from, *to, [&](const Relay::Outcome& how) { outcome = how; });
  ASSERT_TRUE(run_until(io, [&] { return outcome.has_value(); }));
  EXPECT_EQ(outcome->write_error, std::errc::broken_pipe);
}

}  // namespace
}  // namespace udtcat::bridge
