// SPDX-License-Identifier: Apache-2.0
#include "ssh/datagram_pipe.hpp"

#include <string>
#include <vector>

#include <unistd.h>

#include <gtest/gtest.h>

#include <udtcat/bridges.hpp>

#include "lib/bridge/loop.hpp"

namespace udtcat::ssh {
namespace {

/// Two of them with pipes in between.
class DatagramPipes : public testing::Test {
 protected:
  std::unique_ptr<LocalStream> stream(bridge::Descriptor& read, bridge::Descriptor& write) {
    return make_stdio_stream(io, read.release(), write.release(), {.until_read = false}).value();
  }
  DatagramPipe::DatagramHandler into(std::vector<std::string>& texts) {
    return [&texts](std::span<const std::byte> datagram) { texts.push_back(bridge::text_of(datagram)); };
  }
  static void send(DatagramPipe& pipe, const std::string& text) { pipe.send(bridge::bytes_of(text)); }
  void expect_arrives(const std::vector<std::string>& texts, const std::string& text) {
    EXPECT_TRUE(bridge::run_until(io, [&] { return !texts.empty() && texts.back() == text; })) << text.size();
  }

  boost::asio::io_context io;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{io.get_executor()};
  bridge::Ends upwards = bridge::make_pipe();
  bridge::Ends downwards = bridge::make_pipe();
  std::vector<std::string> at_near;
  std::vector<std::string> at_far;
  int ends = 0;
};

TEST_F(DatagramPipes, CarryDatagramsBothWaysAndKeepTheirSizes) {
  const auto near_pipe = stream(downwards.read, upwards.write);
  const auto far_pipe = stream(upwards.read, downwards.write);
  DatagramPipe near(*near_pipe, into(at_near), [] {});
  DatagramPipe far(*far_pipe, into(at_far), [] {});
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{1472}, DatagramPipe::kMaxDatagramBytes}) {
    send(near, std::string(bytes, 'x'));
    expect_arrives(at_far, std::string(bytes, 'x'));
    send(far, std::string(bytes, 'y'));
    expect_arrives(at_near, std::string(bytes, 'y'));
  }
}

TEST_F(DatagramPipes, WriteWhatIsToComeFirstBeforeTheDatagrams) {
  const auto near_pipe = stream(downwards.read, upwards.write);
  DatagramPipe near(*near_pipe, into(at_near), [] {});
  near.write_first(bridge::bytes_of("first"));
  send(near, "x");
  std::string text;
  ASSERT_TRUE(bridge::run_until(io, [&] {
    char byte = 0;
    if (::read(upwards.read.number(), &byte, 1) == 1) text += byte;
    return text.size() == 8;
  }));
  EXPECT_EQ(text.substr(0, 5), "first");
}

TEST_F(DatagramPipes, LoseDatagramsWhereThePipeIsFullAndGoOnAfterwards) {
  const auto near_pipe = stream(downwards.read, upwards.write);
  DatagramPipe near(*near_pipe, into(at_near), [] {});
  constexpr std::size_t kSent = 2'000;
  for (std::size_t i = 0; i < kSent; ++i) send(near, std::string(1'400, 'x'));
  const auto far_pipe = stream(upwards.read, downwards.write);
  DatagramPipe far(*far_pipe, into(at_far), [] {});
  EXPECT_TRUE(bridge::run_until(io, [&] {
    send(near, "last");
    return !at_far.empty() && at_far.back() == "last";
  }));
  EXPECT_LT(at_far.size(), kSent / 2);
}

TEST_F(DatagramPipes, EndWithThePipe) {
  const auto near_pipe = stream(downwards.read, upwards.write);
  DatagramPipe near(*near_pipe, into(at_near), [this] { ++ends; });
  ASSERT_FALSE(downwards.write.close());
  ASSERT_TRUE(bridge::run_until(io, [&] { return ends == 1; }));
  send(near, "lost");
  EXPECT_EQ(ends, 1);
}

TEST_F(DatagramPipes, EndAtInvalidBytes) {
  const auto near_pipe = stream(downwards.read, upwards.write);
  DatagramPipe near(*near_pipe, into(at_near), [this] { ++ends; });
  const char nothing[] = {0, 0};
  ASSERT_EQ(::write(downwards.write.number(), nothing, sizeof nothing), 2);
  EXPECT_TRUE(bridge::run_until(io, [&] { return ends == 1; }));
  EXPECT_TRUE(at_near.empty());
}

}  // namespace
}  // namespace udtcat::ssh
