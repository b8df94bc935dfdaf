// SPDX-License-Identifier: Apache-2.0
/// docs/spec/meet.md: two hosts behind firewalls and address translation, and a meeting place that both reach.
#include <optional>

#include <gmock/gmock.h>

#include "e2e/support/udtcat_test.hpp"
#include "support/gateways.hpp"

namespace udtcat::test::e2e {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Ends {
  Gateway connector;
  Gateway listener;
};

class Meeting : public testing::TestWithParam<Ends> {
 protected:
  void SetUp() override {
    if (!Namespaces::allowed()) GTEST_SKIP() << "needs root";
    hosts_.emplace(GetParam().connector, GetParam().listener);
    ASSERT_EQ(run({.argv = {"bash", "-c", "umask 077; $UDTCAT keygen > key"},
                   .environment = environment(),
                   .working_directory = home_.path()})
                  .status,
              0);
  }

  [[nodiscard]] Arguments environment() const {
    return {"HOME=" + home_.path().string(), "UDTCAT=" UDTCAT_BINARY, "PLACE=" + hosts_->middle_host().ipv4,
            "LISTENER=" + hosts_->far_host().file.string(), "MIDDLE=" + hosts_->middle_host().file.string()};
  }

  /// A megabyte from the listener, and a word to it.
  [[nodiscard]] Ran meet() const {
    const std::string script = R"(
      head -c 1000000 /dev/urandom > sent
      nsenter --net=$MIDDLE $UDTCAT meet -l 9000 --public 2> place.log & place=$!
      nsenter --net=$LISTENER $UDTCAT -l -v -k key --via $PLACE < sent > word 2> listener.log & listener=$!
      echo hello | $UDTCAT -v -k key --via $PLACE > received; status=$?
      [ $status = 0 ] || { kill $listener; cat listener.log place.log >&2; }
      wait $listener
      kill -9 $place; wait $place 2> wait.log
      cmp sent received >&2 || status=99
      exit $status)";
    const Ran ran = run({.argv = {"bash", "-c", script},
                         .environment = environment(),
                         .working_directory = home_.path(),
                         .network_namespace = hosts_->near_host().file},
                        patience(std::chrono::seconds(60)));
    return ran;
  }

  TempDir home_;
  std::optional<Gateways> hosts_;
};

class MeetingDirectly : public Meeting {};

TEST_P(MeetingDirectly, ConnectsTwoHosts) {
  const Ran met = meet();
  EXPECT_EQ(met.status, kSuccess) << met.errors;
  EXPECT_THAT(met.errors, Not(HasSubstr("connected to 198.51.100.3"))) << "the relay";
}

INSTANTIATE_TEST_SUITE_P(Of, MeetingDirectly,
                         testing::Values(Ends{Gateway::open, Gateway::open}, Ends{Gateway::stateful, Gateway::stateful},
                                         Ends{Gateway::masquerading, Gateway::stateful},
                                         Ends{Gateway::stateful, Gateway::masquerading},
                                         Ends{Gateway::masquerading, Gateway::masquerading}),
                         [](const auto& its) {
                           return name_of(its.param.connector) + "To" + name_of(its.param.listener);
                         });

class MeetingByRelay : public Meeting {};

TEST_P(MeetingByRelay, ConnectsTwoHosts) {
  const Ran met = meet();
  EXPECT_EQ(met.status, kSuccess) << met.errors;
}

INSTANTIATE_TEST_SUITE_P(Of, MeetingByRelay, testing::Values(Ends{Gateway::random, Gateway::random}),
                         [](const auto& its) {
                           return name_of(its.param.connector) + "To" + name_of(its.param.listener);
                         });

}  // namespace
}  // namespace udtcat::test::e2e
