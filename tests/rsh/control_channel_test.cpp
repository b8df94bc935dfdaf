// SPDX-License-Identifier: Apache-2.0
#include "rsh/control_channel.hpp"

#include <gtest/gtest.h>

#include "lib/bridge/loop.hpp"

namespace udtcat::rsh {
namespace {

class ControlChannels : public testing::Test {
 protected:
  boost::asio::io_context io;
  std::vector<ssh::ControlMessage> heard;
  std::optional<Error> violation;
  std::unique_ptr<ControlChannel> channel = std::make_unique<ControlChannel>(
      io, [this](const ssh::ControlMessage& message) { heard.push_back(message); },
      [this](const Error& error) { violation = error; });
  std::unique_ptr<LocalStream> stream = channel->stream();
};

TEST_F(ControlChannels, GiveMessagesInOrderAndThenTheEnd) {
  channel->send(ssh::RunCommand{"one"});
  channel->send(ssh::DeliverSignal{"INT"});
  channel->finish_sending();
  auto expected = ssh::encode(ssh::RunCommand{"one"});
  const auto second = ssh::encode(ssh::DeliverSignal{"INT"});
  expected.insert(expected.end(), second.begin(), second.end());
  const auto drained = bridge::drain(io, *stream, 5);
  EXPECT_EQ(drained.bytes, expected);
  EXPECT_EQ(drained.last.state, LocalStream::ReadState::end);
}

TEST_F(ControlChannels, WakeTheirReader) {
  bool readable = false;
  stream->async_wait_readable([&] { readable = true; });
  bridge::run_ready(io);
  EXPECT_FALSE(readable);
  channel->send(ssh::Started{});
  EXPECT_TRUE(bridge::run_until(io, [&] { return readable; }));
}

TEST_F(ControlChannels, DeliverMessagesInOrder) {
  auto bytes = ssh::encode(ssh::Started{});
  const auto second = ssh::encode(ssh::Exited{3});
  bytes.insert(bytes.end(), second.begin(), second.end());
  EXPECT_FALSE(bridge::write_all(io, *stream, std::span(bytes).first(6)));
  EXPECT_FALSE(bridge::write_all(io, *stream, std::span(bytes).subspan(6)));
  ASSERT_EQ(heard.size(), 2U);
  EXPECT_EQ(std::get<ssh::Exited>(heard[1]).status, 3);
}

TEST_F(ControlChannels, ReportAViolationOnceAndDeliverNothingMore) {
  EXPECT_FALSE(bridge::write_all(io, *stream, bridge::bytes_of("nonsense")));
  ASSERT_TRUE(violation);
  EXPECT_EQ(violation->code, Errc::protocol_violated);
  EXPECT_FALSE(bridge::write_all(io, *stream, ssh::encode(ssh::Started{})));
  EXPECT_TRUE(heard.empty());
}

TEST_F(ControlChannels, CallNoHandlerAfterDestruction) {
  stream->async_write_some(ssh::encode(ssh::Started{}), [](std::error_code, std::size_t) {});
  channel.reset();
  bridge::run_ready(io);
  EXPECT_TRUE(heard.empty());
}

}  // namespace
}  // namespace udtcat::rsh
