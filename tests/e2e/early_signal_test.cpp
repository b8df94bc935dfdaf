// SPDX-License-Identifier: Apache-2.0
/// A signal finds no moment that is too early for an orderly end.
#include <csignal>
#include <thread>

#include "e2e/support/udtcat_test.hpp"

namespace udtcat::test::e2e {
namespace {

class EarlySignal : public UdtcatTest {
 protected:
  [[nodiscard]] Process connect_to_nobody() const { return connect({.args = {"--stats", "json"}}); }
  /// Whether the program itself runs, no longer the test's fork or the loader: it ignores SIGPIPE first of all.
  [[nodiscard]] static bool has_begun(const Process& process) {
    if (!process.proc_file("cmdline").starts_with(UDTCAT_BINARY)) return false;
    const std::string status = process.proc_file("status");
    const auto at = status.find("SigIgn:");
    constexpr unsigned long long kSigpipe = 1ULL << (SIGPIPE - 1);
    return at != std::string::npos && (std::stoull(status.substr(at + 8), nullptr, 16) & kSigpipe) != 0;
  }
};

TEST_F(EarlySignal, IsHeardAsSoonAsTheProgramRuns) {
  for (int i = 0; i < scaled_count(30); ++i) {
    Process process = connect_to_nobody();
    const auto deadline = Clock::now() + kAtOnce;
    while (!has_begun(process) && Clock::now() < deadline) std::this_thread::yield();
    process.send_signal(SIGTERM);
    expect_exit(process, kTerminated, kAtOnce);
    expect_says(process, "\"exit_status\":143");
  }
}

TEST_F(EarlySignal, LeavesNoProcessHangingWheneverItComes) {
  for (int i = 0; i < scaled_count(40); ++i) {
    Process process = connect_to_nobody();
    const auto moment = Clock::now() + i * 250us;
    while (Clock::now() < moment) std::this_thread::yield();
    process.send_signal(SIGTERM);
    expect_exit(process, kTerminated, kAtOnce);
  }
}

TEST_F(EarlySignal, EndsAProcessThatWaitsForItsKey) {
  const std::string pipe = (home_.path() / "key").string();
  ASSERT_EQ(run({.argv = {"mkfifo", "-m", "600", pipe}}).status, 0);
  Process process = udtcat({"127.0.0.1", std::to_string(port_), "-k", pipe});
  EXPECT_FALSE(process.wait(200ms));
  process.send_signal(SIGINT);
  expect_exit(process, kInterrupted, kAtOnce);
}

}  // namespace
}  // namespace udtcat::test::e2e
