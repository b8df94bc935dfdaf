// SPDX-License-Identifier: Apache-2.0
/// A child whose standard descriptors are pipes of the test.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <boost/asio/io_context.hpp>

#include "lib/bridge/child_process.hpp"
#include "lib/bridge/loop.hpp"

namespace udtcat::bridge {

class ChildTest : public testing::Test {
 protected:
  void start(const std::string& script, std::vector<EnvironmentVariable> variables = {}) {
    auto started = ChildProcess::start(io,
                                       {.program = "/bin/sh",
                                        .words = {"sh", "-c", script},
                                        .core_limit_bytes = {},
                                        .variables = std::move(variables)},
                                       [this](ChildExit how) { end = how; });
    ASSERT_TRUE(started) << started.error().message();
    child = std::move(*started);
    pipes = child->take_pipes();
  }

  boost::asio::io_context io;
  std::optional<ChildExit> end;
  std::unique_ptr<ChildProcess> child;
  ChildPipes pipes;
};

}  // namespace udtcat::bridge
