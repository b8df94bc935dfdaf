// SPDX-License-Identifier: Apache-2.0
/// Acceptance 5: a read or write that fails is named at both ends; a user who wants to leave may leave at once.
#include <csignal>

#include <gmock/gmock.h>

#include "e2e/support/udtcat_test.hpp"

namespace udtcat::test::e2e {
namespace {

using testing::ContainsRegex;
using testing::Not;

constexpr auto kOfTheOtherSide = "the other (host|end)|remote|peer";

class FailingDisk : public UdtcatTest {
 protected:
  /// Both exit 7 and give the reason; the one at fault says which of its files, the other that it was not its own.
  static void expect_blamed(Process& at_fault, Process& other, const std::string& file, const std::string& reason) {
    expect_exit(at_fault, kReadOrWriteFailed, kAtOnce);
    expect_exit(other, kReadOrWriteFailed, kAtOnce);
    for (const Process* process : {&at_fault, &other}) expect_says(*process, reason);
    expect_says(at_fault, file);
    EXPECT_THAT(at_fault.errors(), Not(ContainsRegex(kOfTheOtherSide)));
    EXPECT_THAT(other.errors(), ContainsRegex(kOfTheOtherSide));
  }
  static constexpr auto kFull = "/dev/full";
};

TEST_F(FailingDisk, OfTheListenerIsNamedAtBothEnds) {
  Producer producer(1, scaled(16 * kMiB), Afterwards::end);
  Process listener = listen({.out = open_for_writing(kFull)});
  Process connector = connect({.in = producer.take_stdin()});
  expect_blamed(listener, connector, "stdout", "space left on device");
}

TEST_F(FailingDisk, OfTheConnectorIsNamedAtBothEnds) {
  Producer producer(2, scaled(16 * kMiB), Afterwards::end);
  Process listener = listen({.in = producer.take_stdin()});
  Process connector = connect({.out = open_for_writing(kFull)});
  expect_blamed(connector, listener, "stdout", "space left on device");
}

TEST_F(FailingDisk, WithASingleByteIsNamedAtBothEnds) {
  Producer producer(3, 1, Afterwards::end);
  Process listener = listen({.out = open_for_writing(kFull)});
  Process connector = connect({.in = producer.take_stdin()});
  expect_blamed(listener, connector, "stdout", "space left on device");
}

TEST_F(FailingDisk, ThatCannotBeReadIsNamedAtBothEnds) {
  Process listener = listen();
  Process connector = connect({.in = open_for_reading("/")});
  expect_blamed(connector, listener, "stdin", "s a directory");
}

TEST_F(FailingDisk, OrAConsumerThatQuitsIsNamedAtBothEnds) {
  Producer producer(4, Producer::kEndless, Afterwards::end);
  Consumer consumer;
  Process listener = listen({.out = consumer.take_stdout()});
  Process connector = connect({.in = producer.take_stdin()});
  ASSERT_TRUE(eventually(kAtOnce, [&] { return consumer.bytes_read() > kMiB; })) << connector.errors();
  consumer.quit();
  expect_blamed(listener, connector, "stdout", "roken pipe");
}

/// A user's deed to one end while the other is in some state.
class Interrupted : public UdtcatTest {
 protected:
  void SetUp() override {
    two_way_.emplace(64, Afterwards::keep_open, Begin::at_once);
    listener_.emplace(listen(two_way_->listener.end()));
    connector_.emplace(connect(two_way_->connector.end()));
    ASSERT_TRUE(two_way_->both_received(64, kAtOnce)) << connector_->errors() << listener_->errors();
  }
  std::optional<TwoWay> two_way_;
  std::optional<Process> listener_;
  std::optional<Process> connector_;
  static constexpr auto kLeaves = patience(1s);
};

TEST_F(Interrupted, WithThePeerKilledLeavesAtOnce) {
  listener_->send_signal(SIGKILL);
  connector_->send_signal(SIGINT);
  expect_exit(*connector_, kInterrupted, kLeaves);
}

TEST_F(Interrupted, WithThePeerStoppedLeavesAtOnce) {
  listener_->send_signal(SIGSTOP);
  connector_->send_signal(SIGINT);
  expect_exit(*connector_, kInterrupted, kLeaves);
}

TEST_F(Interrupted, AsAListenerLeavesAtOnce) {
  connector_->send_signal(SIGSTOP);
  listener_->send_signal(SIGINT);
  expect_exit(*listener_, kInterrupted, kLeaves);
}

TEST_F(Interrupted, BySigtermSaysSo) {
  listener_->send_signal(SIGSTOP);
  connector_->send_signal(SIGTERM);
  expect_exit(*connector_, kTerminated, kLeaves);
}

TEST_F(Interrupted, TellsThePeerThatTheStreamWasCut) {
  connector_->send_signal(SIGINT);
  expect_exit(*connector_, kInterrupted, kLeaves);
  expect_exit(*listener_, kPeerLost, kAtOnce);
  expect_says(*listener_, "interrupted");
}

TEST_F(Interrupted, WhileItWaitsForAPeerLeavesAtOnce) {
  const std::uint16_t nobody = free_port();
  Process waiting = connect_to(nobody, {.args = {"-v"}});
  waiting.send_signal(SIGINT);
  expect_exit(waiting, kInterrupted, kLeaves);
}

}  // namespace
}  // namespace udtcat::test::e2e
