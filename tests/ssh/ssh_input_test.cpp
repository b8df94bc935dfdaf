// SPDX-License-Identifier: Apache-2.0
#include "ssh/ssh_input.hpp"

#include <string>

#include <gtest/gtest.h>

#include "lib/bridge/loop.hpp"

namespace udtcat::ssh {
namespace {

class SshInputs : public testing::Test {
 protected:
  void start() {
    input = SshInput::start(io, pipe.read.number(),
                            {.on_request = [this](const ControlMessage& message) { request = message; },
                             .on_end = [this] { ended = true; }})
                .value();
  }
  void write(std::span<const std::byte> bytes) const {
    ASSERT_EQ(::write(pipe.write.number(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  boost::asio::io_context io;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{io.get_executor()};
  bridge::Ends pipe = bridge::make_pipe();
  std::unique_ptr<SshInput> input;
  std::optional<ControlMessage> request;
  bool ended = false;
};

TEST_F(SshInputs, GiveTheRequestAndLeaveTheRest) {
  start();
  write(encode(RunCommand{"cat"}));
  write(bridge::bytes_of("for cat"));
  ASSERT_TRUE(bridge::run_until(io, [&] { return request.has_value(); }));
  EXPECT_EQ(std::get<RunCommand>(*request).text, "cat");
  ASSERT_FALSE(pipe.write.close());
  EXPECT_EQ(bridge::read_all(pipe.read.number()), bridge::bytes_of("for cat"));
  EXPECT_FALSE(ended);
}

TEST_F(SshInputs, SayThatSshHasEnded) {
  start();
  const auto whole = encode(RunCommand{"cat"});
  write(std::span(whole).first(3));
  ASSERT_FALSE(pipe.write.close());
  EXPECT_TRUE(bridge::run_until(io, [&] { return ended; }));
  EXPECT_FALSE(request);
}

TEST_F(SshInputs, EndAtInvalidBytes) {
  start();
  write(bridge::bytes_of("hello, far end"));
  EXPECT_TRUE(bridge::run_until(io, [&] { return ended; }));
}

TEST_F(SshInputs, StopOnDestruction) {
  start();
  input.reset();
  write(encode(RunCommand{"cat"}));
  bridge::run_ready(io);
  EXPECT_FALSE(request || ended);
}

}  // namespace
}  // namespace udtcat::ssh
