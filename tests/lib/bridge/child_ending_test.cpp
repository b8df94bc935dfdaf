#include "lib/bridge/child_ending.hpp"

#include <csignal>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "lib/bridge/child_test.hpp"

namespace udtcat::bridge {
namespace {

using std::chrono::milliseconds;

constexpr EndingSteps kQuick{{{milliseconds(0), SIGHUP}, {milliseconds(50), SIGTERM}, {milliseconds(50), SIGKILL}}};

class ChildEndingTest : public ChildTest {
 protected:
  /// Begins when the script has said "up".
  void begin_to_end(const std::string& script) {
    start(script);
    Bytes up(3);
    ASSERT_EQ(::read(pipes.output.number(), up.data(), up.size()), 3);
    ending.emplace(io, *child, kQuick, [this] { gone = true; });
    EXPECT_FALSE(ending->is_over());
  }
  [[nodiscard]] bool is_gone() {
    return run_until(io, [this] { return gone; }) && ending->is_over();
  }

  std::optional<ChildEnding> ending;
  bool gone = false;
};

TEST_F(ChildEndingTest, BeginsWithAHangup) {
  begin_to_end("echo up; exec sleep 60");
  ASSERT_TRUE(is_gone());
  EXPECT_EQ(end->signal, SIGHUP);
}

TEST_F(ChildEndingTest, LetsTheChildEndInItsOwnWay) {
  begin_to_end("trap 'exit 3' TERM; trap '' HUP; echo up; while :; do sleep 0.01; done");
  ASSERT_TRUE(is_gone());
  EXPECT_EQ(end->status, 3);
}

TEST_F(ChildEndingTest, KillsWhoHeedsNothing) {
  begin_to_end("trap '' HUP TERM; echo up; sleep 60");
  ASSERT_TRUE(is_gone());
  EXPECT_EQ(end->signal, SIGKILL);
}

TEST_F(ChildEndingTest, IsNotOverBeforeTheChildsOwnChildrenHaveGone) {
  begin_to_end("trap '' HUP TERM; sleep 60 & trap - HUP TERM; echo up; wait");
  ASSERT_TRUE(is_gone());
  EXPECT_EQ(end->signal, SIGHUP);
  EXPECT_EQ(read_all(pipes.output.number()), Bytes{}) << "nobody holds the pipe any more";
}

TEST_F(ChildEndingTest, KillsWhoIsLeftWhenItIsGivenUp) {
  begin_to_end("trap '' HUP TERM; sleep 60 & trap - HUP TERM; echo up; wait");
  ASSERT_TRUE(run_until(io, [this] { return end.has_value(); }));
  ending.reset();
  EXPECT_EQ(read_all(pipes.output.number()), Bytes{}) << "nobody holds the pipe any more";
}

}  // namespace
}  // namespace udtcat::bridge
