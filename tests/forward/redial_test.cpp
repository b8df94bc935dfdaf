// SPDX-License-Identifier: Apache-2.0
#include "forward/redial.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "lib/core/duplicate.hpp"
#include "support/run_until.hpp"

namespace udtcat::forward {
namespace {

using namespace std::chrono_literals;

class RedialTest : public testing::Test {
 protected:
  void listen_by(TransportKind kind) {
    ListenRequest request;
    request.session.application = "forward";
    request.locals = resolve({"127.0.0.1", 0}, AddressFamily::any).value();
    request.credentials = key_.duplicate();
    request.transport.kind = kind;
    auto made = listen(
        io_, std::move(request),
        [this](std::unique_ptr<Connection> connection) { welcomed_.push_back(std::move(connection)); },
        [](const Endpoint&, const Error&) {});
    ASSERT_TRUE(made) << made.error().message();
    listener_ = std::move(*made);
    options_.peer = {"127.0.0.1", listener_->local_endpoints().front().port()};
    options_.session.application = "forward";
    options_.connect_timeout = 300ms;
    options_.transport.kind = TransportKind::tcp;
    redial_.emplace(
        io_, options_, key_.duplicate(),
        [this](std::unique_ptr<Connection> connection) { connections_.push_back(std::move(connection)); },
        [this](const Error&) { ++failures_; });
    redial_->start();
    ASSERT_TRUE(test::run_until(io_, [this] { return connections_.size() == 1; }));
    ASSERT_EQ(connections_.front()->stats().transport, TransportKind::tcp);
  }

  boost::asio::io_context io_;
  const Credentials key_{Key::generate().value()};
  tool::Options options_;
  std::unique_ptr<Listener> listener_;
  std::vector<std::unique_ptr<Connection>> welcomed_;
  std::vector<std::unique_ptr<Connection>> connections_;
  int failures_ = 0;
  std::optional<Redial> redial_;
};

TEST_F(RedialTest, DialsByUdpBesideASessionOverTcp) {
  listen_by(TransportKind::automatic);
  redial_->try_udp();
  ASSERT_TRUE(test::run_until(io_, [this] { return connections_.size() == 2; }));
  EXPECT_EQ(connections_.back()->stats().transport, TransportKind::native);
}

TEST_F(RedialTest, TellsNobodyThatUdpIsStillBlocked) {
  listen_by(TransportKind::tcp);
  redial_->try_udp();
  io_.run_for(2 * options_.connect_timeout);
  EXPECT_EQ(connections_.size(), 1U);
  EXPECT_EQ(failures_, 0);
  EXPECT_FALSE(redial_->is_dialling());
  EXPECT_EQ(redial_->redials(), 0U) << "nobody was dialled again";
}

TEST_F(RedialTest, CountsTheDialsAfterItsFirst) {
  listen_by(TransportKind::tcp);
  EXPECT_EQ(redial_->redials(), 0U);
  redial_->want();
  ASSERT_TRUE(test::run_until(io_, [this] { return connections_.size() == 2; }));
  EXPECT_EQ(redial_->redials(), 1U);
  listener_.reset();
  redial_->want();
  ASSERT_TRUE(test::run_until(io_, [this] { return failures_ == 2; }));
  EXPECT_GE(redial_->redials(), 3U);
}

}  // namespace
}  // namespace udtcat::forward
