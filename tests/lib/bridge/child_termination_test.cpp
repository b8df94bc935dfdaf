// SPDX-License-Identifier: Apache-2.0
#include "lib/bridge/child_termination.hpp"

#include <csignal>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "lib/bridge/child_test.hpp"

namespace udtcat::bridge {
namespace {

using std::chrono::milliseconds;

constexpr TerminationSteps kQuick{
    {{milliseconds(0), SIGHUP}, {milliseconds(50), SIGTERM}, {milliseconds(50), SIGKILL}}};

class ChildTerminationTest : public ChildTest {
 protected:
  /// The termination begins when the script has printed "up".
  void begin_termination(const std::string& script) {
    start(script);
    Bytes up(3);
    ASSERT_EQ(::read(pipes.output.number(), up.data(), up.size()), 3);
    termination.emplace(io, *child, kQuick, [this] { gone = true; });
    EXPECT_FALSE(termination->is_over());
  }
  [[nodiscard]] bool is_gone() {
    return run_until(io, [this] { return gone; }) && termination->is_over();
  }

  std::optional<ChildTermination> termination;
  bool gone = false;
};

TEST_F(ChildTerminationTest, BeginsWithSighup) {
  begin_termination("echo up; exec sleep 60");
  ASSERT_TRUE(is_gone());
  EXPECT_EQ(end->signal, SIGHUP);
}

TEST_F(ChildTerminationTest, LetsTheChildEndByItself) {
  begin_termination("trap 'exit 3' TERM; trap '' HUP; echo up; while :; do sleep 0.01; done");
  ASSERT_TRUE(is_gone());
  EXPECT_EQ(end->status, 3);
}

TEST_F(ChildTerminationTest, KillsAChildThatIgnoresItsSignals) {
  begin_termination("trap '' HUP TERM; echo up; sleep 60");
  ASSERT_TRUE(is_gone());
  EXPECT_EQ(end->signal, SIGKILL);
}

TEST_F(ChildTerminationTest, IsNotOverBeforeTheChildsOwnChildrenHaveGone) {
  begin_termination("trap '' HUP TERM; sleep 60 & trap - HUP TERM; echo up; wait");
  ASSERT_TRUE(is_gone());
  EXPECT_EQ(end->signal, SIGHUP);
  EXPECT_EQ(read_all(pipes.output.number()), Bytes{}) << "nobody holds the pipe any more";
}

TEST_F(ChildTerminationTest, KillsTheRestOfTheGroupWhenItIsDestroyed) {
  begin_termination("trap '' HUP TERM; sleep 60 & trap - HUP TERM; echo up; wait");
  ASSERT_TRUE(run_until(io, [this] { return end.has_value(); }));
  termination.reset();
  EXPECT_EQ(read_all(pipes.output.number()), Bytes{}) << "nobody holds the pipe any more";
}

}  // namespace
}  // namespace udtcat::bridge
