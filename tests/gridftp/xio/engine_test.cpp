// SPDX-License-Identifier: Apache-2.0
/// XioEngine, acceptor and carriers together: two programs in one, over loopback.
#include "gridftp/xio/engine.hpp"

#include <future>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

#include "gridftp/xio/waiting.hpp"

namespace udtcat::gridftp::xio {
namespace {

using testing::HasSubstr;

class EngineTest : public testing::Test {
 protected:
  [[nodiscard]] std::shared_ptr<XioAcceptor> listen(UdpPortRange ports = {}) {
    auto acceptor = passive_->listen(passive_settings_, key_of(passive_settings_), ports);
    EXPECT_TRUE(acceptor) << acceptor.error().message();
    return *acceptor;
  }
  [[nodiscard]] std::shared_ptr<XioLink> dial(const XioAcceptor& to) {
    auto request = XioEngine::request_for({"127.0.0.1", to.port()}, active_settings_, key_of(active_settings_));
    auto link = active_->dial(std::move(request).value());
    EXPECT_TRUE(link) << link.error().message();
    return *link;
  }
  [[nodiscard]] static XioAcceptor::Accepted accept(XioAcceptor& acceptor) {
    return *await(acceptor.event(), [&] { return acceptor.accept(); });
  }
  [[nodiscard]] std::optional<Key> key_of(const Settings& settings) const {
    if (settings.session.protection == Protection::clear) return std::nullopt;
    return settings.key ? settings.key->duplicate() : key_.duplicate();
  }

  const Key key_ = *Key::generate();
  Settings active_settings_;
  Settings passive_settings_;
  std::unique_ptr<XioEngine> passive_ = *XioEngine::start();
  std::unique_ptr<XioEngine> active_ = *XioEngine::start();
};

TEST_F(EngineTest, CarriesBytesBothWaysAndTheirEnds) {
  const auto acceptor = listen();
  const auto near = dial(*acceptor);
  EXPECT_FALSE(wait_open(*near).error);
  const auto far = accept(*acceptor).link;
  ASSERT_TRUE(far);
  EXPECT_FALSE(wait_open(*far).error);
  EXPECT_FALSE(write_all(*near, "ping").error);
  EXPECT_EQ(read_some(*far, 100, 4).text, "ping");
  EXPECT_FALSE(write_all(*far, "pong!").error);
  EXPECT_EQ(read_some(*near, 100, 5).text, "pong!");
  auto closing = std::async(std::launch::async, [&] { return close(*near); });
  EXPECT_TRUE(read_some(*far, 100, 1).progress.ended);
  EXPECT_FALSE(closing.get().error);
  EXPECT_FALSE(close(*far).error);
  passive_->release(acceptor);
}

TEST_F(EngineTest, ShowsALinkToItsAcceptorBeforeAnythingIsWritten) {
  const auto acceptor = listen();
  const auto near = dial(*acceptor);
  EXPECT_TRUE(accept(*acceptor).link);
}

TEST_F(EngineTest, PutsLinksToOneContactIntoOneSession) {
  const auto acceptor = listen();
  std::vector<std::shared_ptr<XioLink>> near;
  std::vector<std::shared_ptr<XioLink>> far;
  for (int i = 0; i < 8; ++i) near.push_back(dial(*acceptor));
  for (int i = 0; i < 8; ++i) far.push_back(accept(*acceptor).link);
  for (const auto& link : far) {
    EXPECT_FALSE(wait_open(*link).error);
    EXPECT_EQ(link->peer(), far.front()->peer());
  }
}

TEST_F(EngineTest, PutsLinksWithOtherOptionsIntoAnotherSession) {
  const auto acceptor = listen();
  const auto one = dial(*acceptor);
  active_settings_.session.lanes = 2;
  const auto other = dial(*acceptor);
  const auto far_one = accept(*acceptor).link;
  const auto far_other = accept(*acceptor).link;
  EXPECT_FALSE(wait_open(*far_one).error);
  EXPECT_FALSE(wait_open(*far_other).error);
  EXPECT_NE(far_one->peer(), far_other->peer());
}

TEST_F(EngineTest, DialsAgainOnceASessionIsOver) {
  const auto acceptor = listen();
  for (int i = 0; i < 3; ++i) {
    const auto near = dial(*acceptor);
    const auto far = accept(*acceptor).link;
    EXPECT_FALSE(write_all(*near, "again").error);
    EXPECT_EQ(read_some(*far, 5, 5).text, "again");
    EXPECT_FALSE(close(*near).error);
    EXPECT_FALSE(close(*far).error);
  }
}

TEST_F(EngineTest, LosesNothingOfAProgramThatEndsAfterItsClose) {
  const auto acceptor = listen();
  auto near = dial(*acceptor);
  const auto far = accept(*acceptor).link;
  const std::string much(3 * kRingBytes + 17, 'x');
  auto sender = std::async(std::launch::async, [&] {
    EXPECT_FALSE(write_all(*near, much).error);
    EXPECT_FALSE(close(*near).error);
    near.reset();
    active_.reset();
  });
  EXPECT_EQ(read_some(*far, much.size(), much.size()).text, much);
  EXPECT_TRUE(read_some(*far, 1, 1).progress.ended);
  sender.get();
}

TEST_F(EngineTest, SaysThatAPeerWhichEndedWithoutACloseIsAnError) {
  const auto acceptor = listen();
  const auto near = dial(*acceptor);
  const auto far = accept(*acceptor).link;
  EXPECT_FALSE(write_all(*near, "half").error);
  EXPECT_EQ(read_some(*far, 4, 4).text, "half");
  active_.reset();
  const OperationState progress = read_some(*far, 1, 1).progress;
  EXPECT_TRUE(progress.error);
  EXPECT_FALSE(progress.ended);
}

TEST_F(EngineTest, RefusesAnotherKeyAndTellsBothEnds) {
  active_settings_.key = *Key::generate();
  const auto acceptor = listen();
  const auto near = dial(*acceptor);
  const OperationState opened = wait_open(*near);
  ASSERT_TRUE(opened.error);
  EXPECT_EQ(opened.error->code, Errc::authentication_failed);
  const auto accepted = accept(*acceptor);
  EXPECT_FALSE(accepted.link);
  ASSERT_TRUE(accepted.error);
  EXPECT_EQ(accepted.error->code, Errc::authentication_failed);
}

TEST_F(EngineTest, DoesNotLetAStrangerEndWhatHasBegun) {
  const auto acceptor = listen();
  const auto near = dial(*acceptor);
  EXPECT_TRUE(accept(*acceptor).link);
  active_settings_.key = *Key::generate();
  EXPECT_TRUE(wait_open(*dial(*acceptor)).error);
  active_settings_.key.reset();
  const auto second = dial(*acceptor);
  EXPECT_TRUE(accept(*acceptor).link);
}

TEST_F(EngineTest, AgreesOnTheProtectionOrOpensNothing) {
  for (const char* theirs : {"protection=auth", "protection=safe", "protection=none"}) {
    ASSERT_TRUE(active_settings_.set_all(theirs));
    const auto acceptor = listen();
    const auto near = dial(*acceptor);
    const OperationState opened = wait_open(*near);
    ASSERT_TRUE(opened.error) << theirs;
    const auto accepted = accept(*acceptor);
    EXPECT_TRUE(accepted.error) << theirs;
  }
}

TEST_F(EngineTest, CarriesEveryProtectionBothEndsAskFor) {
  for (const char* both : {"protection=none", "protection=auth", "protection=safe", "protection=private"}) {
    ASSERT_TRUE(active_settings_.set_all(both));
    ASSERT_TRUE(passive_settings_.set_all(both));
    const auto acceptor = listen();
    const auto near = dial(*acceptor);
    const auto far = accept(*acceptor).link;
    EXPECT_FALSE(write_all(*near, both).error);
    EXPECT_EQ(read_some(*far, 100, std::string(both).size()).text, both);
  }
}

TEST_F(EngineTest, SaysThatNobodyListens) {
  const auto acceptor = listen();
  auto gone = XioEngine::request_for({"127.0.0.1", acceptor->port()}, active_settings_, key_.duplicate());
  passive_.reset();
  const auto link = active_->dial(std::move(gone).value());
  ASSERT_TRUE(link);
  const OperationState opened = wait_open(**link);
  ASSERT_TRUE(opened.error);
  EXPECT_EQ(opened.error->code, Errc::cannot_reach);
}

TEST_F(EngineTest, RefusesWhatComesAfterTheTransfer) {
  const auto acceptor = listen();
  const auto near = dial(*acceptor);
  const auto far = accept(*acceptor).link;
  passive_->release(acceptor);
  const auto late = dial(*acceptor);
  std::ignore = wait_open(*late);
  EXPECT_TRUE(read_some(*late, 1, 1).progress.error);
  EXPECT_FALSE(write_all(*near, "on").error) << "what was accepted goes on";
  EXPECT_EQ(read_some(*far, 2, 2).text, "on");
}

TEST_F(EngineTest, ListensWithinARangeOfPorts) {
  const std::uint16_t taken = listen()->port();
  const auto first = listen({taken, static_cast<std::uint16_t>(taken + 20)});
  EXPECT_GT(first->port(), taken);
  EXPECT_LE(first->port(), taken + 20);
  EXPECT_FALSE(passive_->listen(passive_settings_, key_.duplicate(), {taken, taken}));
}

}  // namespace
}  // namespace udtcat::gridftp::xio
