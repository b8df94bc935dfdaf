// SPDX-License-Identifier: Apache-2.0
/// A command on another host: ssh's login, our transport. Real sshd in a namespace of its own.
#pragma once

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "e2e/support/udtcat_test.hpp"
#include "support/ssh_host.hpp"

namespace udtcat::test::e2e {

inline constexpr int kOwnFailure = 255;

class RshTest : public TwoHostsTest {
 protected:
  void SetUp() override {
    TwoHostsTest::SetUp();
    if (!IsSkipped()) ssh_ = std::make_unique<SshHost>(hosts_->far_host());
  }

  /// For a run over another transport: UDTCAT_TEST_TRANSPORT=tcp.
  [[nodiscard]] static std::string transport() {
    const char* const chosen = std::getenv("UDTCAT_TEST_TRANSPORT");
    return chosen == nullptr ? "" : std::string(" --transport ") + chosen;
  }
  /// There $RSH and $UDR ask for that transport, and for UDP alone no more.
  [[nodiscard]] static std::string over_transport(std::string script) {
    constexpr std::string_view kUdpAlone = "--require-udp";
    for (auto at = script.find(kUdpAlone); at != script.npos && !transport().empty(); at = script.find(kUdpAlone))
      script.erase(at, kUdpAlone.size());
    return script;
  }
  [[nodiscard]] Arguments environment() const {
    return {"HOME=" + home_.path().string(),
            "CONFIG=" + ssh_->ssh_config().string(),
            "UDTCAT=" UDTCAT_BINARY,
            "UDR=" UDTCAT_SOURCE_DIR "/wrappers/udr" + transport(),
            "RSH=" UDTCAT_BINARY " rsh -F " + ssh_->ssh_config().string() + transport(),
            "FAR=" + ssh_->far_home().path().string()};
  }
  /// A script of the near host's. $RSH is `udtcat rsh` with our configuration, $FAR the far home.
  [[nodiscard]] Ran near(const std::string& script, std::chrono::milliseconds limit = std::chrono::seconds(60)) const {
    return run({.argv = {"bash", "-c", over_transport(script)},
                .environment = environment(),
                .working_directory = home_.path(),
                .network_namespace = hosts_->near_host().file},
               patience(limit));
  }
  [[nodiscard]] Process rsh(Arguments arguments) const {
    arguments.insert(arguments.begin(), {UDTCAT_BINARY, "rsh", "-F", ssh_->ssh_config().string()});
    return Process({.argv = std::move(arguments),
                    .environment = environment(),
                    .working_directory = home_.path(),
                    .network_namespace = hosts_->near_host().file});
  }
  /// The process that a far command wrote the number of into `file`; waits for it.
  [[nodiscard]] pid_t far_process(const std::string& file) const {
    pid_t pid = 0;
    EXPECT_TRUE(eventually(patience(20s), [&] {
      std::ifstream(ssh_->far_home().path() / file) >> pid;
      return pid > 0;
    })) << "the far command did not begin";
    return pid;
  }
  static bool gone(pid_t pid) { return pid > 0 && ::kill(pid, 0) != 0; }
  /// UDP, and TCP to the far end: nothing but ssh gets through.
  void block_all_but_ssh() const {
    const Ran blocked = run(
        {.argv =
             {"bash", "-c",
              "nft add table inet f; nft 'add chain inet f i { type filter hook input priority 0; policy accept; }'; "
              "nft add rule inet f i meta l4proto udp drop; nft add rule inet f i tcp dport 9000-9200 ct state new "
              "drop"},
         .network_namespace = hosts_->far_host().file});
    ASSERT_EQ(blocked.status, 0) << blocked.errors;
  }

  std::unique_ptr<SshHost> ssh_;
};

}  // namespace udtcat::test::e2e
