// SPDX-License-Identifier: Apache-2.0
/// Each test is a process of its own that ends: what is tested is how.
#include "tool/cli/signal_watch.hpp"

#include <csignal>
#include <future>
#include <tuple>

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

namespace udtcat::tool {
namespace {

using namespace std::chrono_literals;
using testing::ExitedWithCode;

/// Blocks for ever, as a destructor or a system call that hangs would.
[[noreturn]] void hang() {
  for (;;) ::pause();
}

class SignalWatchDeathTest : public testing::Test {
 protected:
  SignalWatchDeathTest() { testing::FLAGS_gtest_death_test_style = "threadsafe"; }
  /// Signals this process and waits until the handler has heard.
  static void signal_and_wait(SignalWatch::Handler also, int signal) {
    std::promise<int> heard;
    const SignalWatch watch([&](int number) {
      also(number);
      heard.set_value(number);
    });
    ::kill(::getpid(), signal);
    if (heard.get_future().get() != signal) ::_exit(99);
  }
};

TEST_F(SignalWatchDeathTest, EndsAProcessThatHangsAfterASignal) {
  const auto hanging = [] {
    const SignalWatch watch([](int) {});
    ::kill(::getpid(), SIGTERM);
    hang();
  };
  EXPECT_EXIT(hanging(), ExitedWithCode(143), "");
}

TEST_F(SignalWatchDeathTest, LetsSignalsThatWereIgnoredEndNothing) {
  const auto ignoring = [] {
    for (const int ignored : {SIGINT, SIGTERM, SIGHUP}) std::ignore = ::signal(ignored, SIG_IGN);
    block_signals();
    std::promise<int> heard;
    const SignalWatch watch([&](int number) { heard.set_value(number); });
    for (const int sent : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) ::kill(::getpid(), sent);
    ::_exit(heard.get_future().get() == SIGUSR1 ? 0 : 99);
  };
  EXPECT_EXIT(ignoring(), ExitedWithCode(0), "");
}

TEST_F(SignalWatchDeathTest, EndsTheProcessAtTheSecondSignal) {
  const auto twice = [] {
    std::promise<void> heard;
    const SignalWatch watch([&](int) { heard.set_value(); });
    ::kill(::getpid(), SIGTERM);
    heard.get_future().wait();
    ::kill(::getpid(), SIGINT);
    hang();
  };
  EXPECT_EXIT(twice(), ExitedWithCode(130), "");
}

// timeout(1) sends SIGTERM to the process it started, and at once to the group that this process is in.
TEST_F(SignalWatchDeathTest, CountsTheSameSignalTwiceAtOnceAsOne) {
  const auto twice = [] {
    std::promise<void> asked;
    std::promise<void> other;
    const SignalWatch watch([&](int number) { (number == SIGTERM ? asked : other).set_value(); });
    ::kill(::getpid(), SIGTERM);
    asked.get_future().wait();
    ::kill(::getpid(), SIGTERM);
    for (sigset_t pending; ::sigpending(&pending) == 0 && sigismember(&pending, SIGTERM) == 1;) ::sched_yield();
    ::kill(::getpid(), SIGUSR1);
    other.get_future().wait();  // what came before it has been dealt with
    ::_exit(0);
  };
  EXPECT_EXIT(twice(), ExitedWithCode(0), "");
}

TEST_F(SignalWatchDeathTest, CallsTheHandlerForSigusr1) {
  const auto watched = [] {
    signal_and_wait([](int) {}, SIGUSR1);
    ::_exit(0);
  };
  EXPECT_EXIT(watched(), ExitedWithCode(0), "");
}

TEST_F(SignalWatchDeathTest, CallsTheHandlerForEachHangupThatIsHandled) {
  const auto watched = [] {
    std::promise<void> heard[2];
    int count = 0;
    SignalWatch watch([&](int) { heard[count++].set_value(); }, 10ms);
    watch.handle_hangup();
    for (auto& each : heard) {
      ::kill(::getpid(), SIGHUP);
      each.get_future().wait();
    }
    ::_exit(0);
  };
  EXPECT_EXIT(watched(), ExitedWithCode(0), "");
}

// nohup(1) starts programs so, services among them whose list of peers is to be read again.
TEST_F(SignalWatchDeathTest, CallsTheHandlerForAHandledHangupThatWasIgnored) {
  const auto watched = [] {
    ::signal(SIGHUP, SIG_IGN);
    block_signals();
    std::promise<void> heard;
    SignalWatch watch([&](int) { heard.set_value(); });
    watch.handle_hangup();
    ::kill(::getpid(), SIGHUP);
    heard.get_future().wait();
    ::_exit(0);
  };
  EXPECT_EXIT(watched(), ExitedWithCode(0), "");
}

TEST_F(SignalWatchDeathTest, EndsAProcessThatHangsAtItsEndWithTheStatusItHad) {
  const auto hanging = [] {
    {
      SignalWatch watch([](int) {});
      watch.end_process_after(10ms, ExitStatus::peer_lost);
    }
    hang();
  };
  EXPECT_EXIT(hanging(), ExitedWithCode(5), "");
}

TEST_F(SignalWatchDeathTest, EndsTheProcessAfterTheWatchIsGone) {
  const auto hanging = [] {
    {
      const SignalWatch watch([](int) {});
    }
    ::kill(::getpid(), SIGINT);
    hang();
  };
  EXPECT_EXIT(hanging(), ExitedWithCode(130), "");
}

TEST_F(SignalWatchDeathTest, TakesSignalsThatCameBeforeItWasMade) {
  const auto early = [] {
    block_signals();
    ::kill(::getpid(), SIGTERM);
    const SignalWatch watch([](int number) { ::_exit(number); });
    hang();
  };
  EXPECT_EXIT(early(), ExitedWithCode(SIGTERM), "");
}

TEST_F(SignalWatchDeathTest, LetsUnblockedSignalsEndTheProcess) {
  const auto waiting = [] {
    block_signals();
    ::kill(::getpid(), SIGTERM);
    const UnblockedSignals meanwhile;
    hang();
  };
  EXPECT_EXIT(waiting(), testing::KilledBySignal(SIGTERM), "");
}

TEST_F(SignalWatchDeathTest, LeavesAHangupIgnoredThatWasIgnored) {
  const auto nohup = [] {
    std::ignore = ::signal(SIGHUP, SIG_IGN);
    const SignalWatch watch([](int number) { ::_exit(number); });
    ::kill(::getpid(), SIGHUP);
    ::kill(::getpid(), SIGUSR1);
    hang();
  };
  EXPECT_EXIT(nohup(), ExitedWithCode(SIGUSR1), "");
}

TEST_F(SignalWatchDeathTest, TakesAHangup) {
  const auto hanging = [] {
    std::ignore = ::signal(SIGHUP, SIG_DFL);
    const SignalWatch watch([](int) {});
    ::kill(::getpid(), SIGHUP);
    hang();
  };
  EXPECT_EXIT(hanging(), ExitedWithCode(129), "");
}

}  // namespace
}  // namespace udtcat::tool
