// SPDX-License-Identifier: Apache-2.0
/// Each test is a process of its own that ends: what is tested is what it says last and with which status.
#include "tool/run/session_run.hpp"

#include <csignal>
#include <cstdlib>
#include <string_view>
#include <tuple>

#include <gtest/gtest.h>
#include <unistd.h>
#include <boost/asio/post.hpp>

#include "support/failing_calls.hpp"

namespace udtcat::tool {
namespace {

using testing::ExitedWithCode;

const Error kLost{Errc::peer_lost, "hear from the peer", "silence"};

class SessionRunDeathTest : public testing::Test {
 protected:
  SessionRunDeathTest() { testing::FLAGS_gtest_death_test_style = "threadsafe"; }

  /// A whole run; `begin` sets it up.
  template <typename Begin>
  void run_and_exit(Begin begin) {
    options_.progress = false;
    SessionRun run(options_, console_);
    begin(run);
    ::_exit(to_int(run.run()));
  }
  static PeerSnapshot peer() {
    PeerSnapshot made;
    made.address = "192.0.2.7:5555";
    made.stats.bytes_sent = 42;
    return made;
  }

  Options options_;
  Console console_{STDERR_FILENO};
};

TEST_F(SessionRunDeathTest, PrintsNothingOnSuccess) {
  EXPECT_EXIT(run_and_exit([](SessionRun& run) { run.finish(std::nullopt); }), ExitedWithCode(0), "^$");
}

TEST_F(SessionRunDeathTest, PrintsTheError) {
  const Error unreachable{Errc::cannot_reach, "reach example.org:9000", "nobody answered"};
  EXPECT_EXIT(::_exit(to_int(SessionRun(options_, console_).fail_to_start(unreachable))), ExitedWithCode(3),
              "^udtcat: reach example.org:9000: nobody answered\n$");
}

TEST_F(SessionRunDeathTest, EndsAtItsStartWhereTheSystemDoesNotWatchItsDescriptors) {
  const auto end = [this] {
    test::fail_calls({SYS_epoll_ctl}, ENOSPC);
    run_and_exit([](const SessionRun&) {});
  };
  EXPECT_EXIT(end(), ExitedWithCode(7),
              "^udtcat: make an event loop: cannot watch descriptors: raise fs.epoll.max_user_watches .*\n$");
}

TEST_F(SessionRunDeathTest, EndsAtItsStartWhereMetricsCannotBeServed) {
  options_.metrics = HostPort{"192.0.2.1", 9109};  // an address of no host
  const auto go_on = [](SessionRun& run) { run.publish([](ProcessSnapshot&) { ::_exit(1); }); };
  EXPECT_EXIT(
      run_and_exit(go_on), ExitedWithCode(3),
      "^udtcat: serve metrics at 192.0.2.1:9109: bind tcp 192.0.2.1:9109: .*; give --metrics an address of this "
      "host and a port that is free\n$");
}

TEST_F(SessionRunDeathTest, EndsAtItsStartWhereThereIsNoGroupThatMayAsk) {
  options_.status_group = "no-such-group";
  EXPECT_EXIT(run_and_exit([](SessionRun&) {}), ExitedWithCode(2),
              "^udtcat: --status-group \"no-such-group\": this host has no such group");
}

TEST_F(SessionRunDeathTest, CountsATransferThatNoLineTells) {
  const auto transfer = [](SessionRun& run) {
    set_event_observer([](const LogEvent& event) { ::_exit(event.kind == EventKind::transfer ? 0 : 1); });
    run.log_transfer({.address = "192.0.2.1:1", .object = "stream", .bytes_received = 1});
    ::_exit(2);
  };
  EXPECT_EXIT(run_and_exit(transfer), ExitedWithCode(0), "^$");
}

TEST_F(SessionRunDeathTest, NamesThePeerThatIsLost) {
  const auto lose = [&](SessionRun& run) {
    run.watch_peer(peer);
    run.finish(kLost);
  };
  EXPECT_EXIT(run_and_exit(lose), ExitedWithCode(5), "^udtcat: hear from the peer: silence .peer 192.0.2.7:5555.\n$");
}

TEST_F(SessionRunDeathTest, SaysHowToResumeAnInterruptedTransfer) {
  const auto lose = [&](bool has_begun, const Error& why) {
    options_.progress = false;
    SessionRun run(options_, console_, {.says_moved_when_cut = true, .how_to_go_on = kSameCommand});
    if (has_begun) run.watch_peer(peer);
    run.finish(why);
    ::_exit(to_int(run.run()));
  };
  EXPECT_EXIT(lose(true, kLost), ExitedWithCode(5),
              "silence .*\nudtcat: 42 B sent in .*\nudtcat: the same command goes on where .* cut\n$");
  EXPECT_EXIT(lose(false, kLost), ExitedWithCode(5), "^udtcat: hear from the peer: silence\n$");
  EXPECT_EXIT(lose(true, {Errc::local_write_failed, "write", "full"}), ExitedWithCode(7), "^udtcat: write: full\n$");
}

TEST_F(SessionRunDeathTest, SaysNothingAboutResumingWhereNothingHasMoved) {
  const auto lose = [&] {
    options_.progress = false;
    SessionRun run(options_, console_, {.says_moved_when_cut = true, .how_to_go_on = kSameCommand});
    run.watch([] { return ConnectionStats(); });
    run.finish(kLost);
    ::_exit(to_int(run.run()));
  };
  EXPECT_EXIT(lose(), ExitedWithCode(5), "^udtcat: hear from the peer: silence\n$");
}

TEST_F(SessionRunDeathTest, SaysWhatItHasMovedWhenASignalEndsIt) {
  const auto stopped = [&] {
    options_.progress = false;
    SessionRun run(options_, console_, {.says_moved_when_cut = true});
    run.watch_peer(peer);
    ::kill(::getpid(), SIGTERM);
    ::_exit(to_int(run.run()));
  };
  EXPECT_EXIT(stopped(), ExitedWithCode(143), "^udtcat: 42 B sent in [^\n]*\n$");
}

TEST_F(SessionRunDeathTest, LeavesNoUnfinishedLineForAProgramOfTheUser) {
  const auto waiting = [&] {
    options_.progress = true;
    SessionRun run(options_, console_);
    run.watch_peer(peer);
    run.progress().wait_for_program("waiting for 'zfs recv' to end");
    boost::asio::steady_timer later(run.io(), std::chrono::milliseconds(1'200));
    later.async_wait([&run](const boost::system::error_code&) {
      const std::string_view its_own = "its words\n";
      std::ignore = ::write(STDERR_FILENO, its_own.data(), its_own.size());
      run.finish(std::nullopt);
    });
    ::_exit(to_int(run.run()));
  };
  EXPECT_EXIT(waiting(), ExitedWithCode(0), "^udtcat: waiting for 'zfs recv' to end\nits words\n");
}

TEST_F(SessionRunDeathTest, KeepsTheFirstError) {
  const auto twice = [](SessionRun& run) {
    run.finish(kLost);
    run.finish(std::nullopt);
  };
  EXPECT_EXIT(run_and_exit(twice), ExitedWithCode(5), "silence");
}

TEST_F(SessionRunDeathTest, EndsWithTheStatisticsIfAsked) {
  options_.stats_json = true;
  const auto lose = [](SessionRun& run) {
    run.watch_peer(peer);
    run.finish(kLost);
  };
  EXPECT_EXIT(run_and_exit(lose), ExitedWithCode(5),
              "silence.*\n\\{\"version\":1,\"bytes_sent\":42,.*\"exit_status\":5,.*silence.*\\}\n$");
}

TEST_F(SessionRunDeathTest, SumsUpWhenVerbose) {
  options_.verbosity = 1;
  const auto end_well = [](SessionRun& run) {
    run.watch_peer(peer);
    run.finish(std::nullopt);
  };
  EXPECT_EXIT(run_and_exit(end_well), ExitedWithCode(0), "^udtcat: 42 B sent in ");
}

TEST_F(SessionRunDeathTest, TellsThePeersOfASignalBeforeItEnds) {
  const auto stopped = [this](SessionRun& run) {
    run.on_interrupt([&](const Error& why) {
      console_.line(why.message());
      boost::asio::post(run.io(), [&] { run.finish(kLost); });
    });
    ::kill(::getpid(), SIGTERM);
  };
  EXPECT_EXIT(run_and_exit(stopped), ExitedWithCode(143), "^interrupted: by SIGTERM\n$");
}

TEST_F(SessionRunDeathTest, DoesNotWaitForPeersThatAreNotThere) {
  const auto stopped = [](SessionRun& run) {
    run.on_interrupt([](const Error&) {});
    ::kill(::getpid(), SIGINT);
  };
  EXPECT_EXIT(run_and_exit(stopped), ExitedWithCode(130), "^$");
}

TEST_F(SessionRunDeathTest, ReloadsAtAHangupIfItCan) {
  const auto reloaded = [this](SessionRun& run) {
    run.on_reload([&] {
      console_.line("read again");
      run.finish(std::nullopt);
    });
    ::kill(::getpid(), SIGHUP);
  };
  EXPECT_EXIT(run_and_exit(reloaded), ExitedWithCode(0), "^read again\n$");
}

TEST_F(SessionRunDeathTest, IsEndedByAHangupOtherwise) {
  EXPECT_EXIT(run_and_exit([](SessionRun&) { ::kill(::getpid(), SIGHUP); }), ExitedWithCode(129), "^$");
}

TEST_F(SessionRunDeathTest, PrintsALineForSigusr1) {
  const auto asked = [](SessionRun& run) {
    run.watch_peer(peer);
    ::kill(::getpid(), SIGUSR1);
    ::kill(::getpid(), SIGTERM);
  };
  EXPECT_EXIT(run_and_exit(asked), ExitedWithCode(143), "udtcat: 42 B sent");
}

// A forward dials again: what its last session was limited by says nothing of the present one.
TEST_F(SessionRunDeathTest, JudgesEachConnectionFromItsBeginning) {
  const auto asked = [](SessionRun& run) {
    run.watch([calls = 0]() mutable {
      if (++calls == 2) ::kill(::getpid(), SIGUSR1);
      if (calls == 4) ::kill(::getpid(), SIGTERM);
      const std::chrono::seconds age(calls);
      ConnectionStats another;
      another.made_at += age;
      another.ends.here = {.elapsed = age, .bytes_sent = 1};
      return another;
    });
    ::kill(::getpid(), SIGUSR1);
  };
  EXPECT_EXIT(run_and_exit(asked), ExitedWithCode(143), "since it began, .*since it began, ");
}

}  // namespace
}  // namespace udtcat::tool
