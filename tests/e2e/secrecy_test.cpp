// SPDX-License-Identifier: Apache-2.0
/// Acceptance 8 and 9: who listens on the wire learns nothing at `private`; the key is nowhere but in memory.
#include <sys/resource.h>
#include <csignal>

#include "e2e/support/base64url.hpp"
#include "e2e/support/udtcat_test.hpp"

namespace udtcat::test::e2e {
namespace {

class Capture : public UdtcatTest, public testing::WithParamInterface<std::string> {
 protected:
  void SetUp() override {
    if (!Namespaces::allowed()) GTEST_SKIP() << "only root may capture";
  }

  /// The packets that tcpdump saw of a transfer of `plaintext`.
  [[nodiscard]] std::string captured(const std::string& plaintext) const {
    const auto file = home_.path() / "capture";
    Process tcpdump({.argv = {"tcpdump", "-i", "lo", "--immediate-mode", "-U", "-s", "0", "-B", "65536", "-Z", "root",
                              "-w", file.string(), "udp", "port", std::to_string(port_)}});
    EXPECT_TRUE(eventually(kAtOnce, [&] { return count_lines(tcpdump, "listening on") == 1; })) << tcpdump.errors();
    const auto source = home_.write("plaintext", plaintext);
    EXPECT_EQ(pipe_through(open_for_reading(source), {"--protect", GetParam()}).bytes, plaintext.size());
    EXPECT_TRUE(eventually(kAtOnce, [&] { return std::filesystem::file_size(file) > plaintext.size(); }))
        << "not all was captured";
    tcpdump.send_signal(SIGINT);
    expect_exit(tcpdump, kSuccess, kAtOnce);
    return read_file(file);
  }
};

/// Proves: threat-model.payload-secret
TEST_P(Capture, ContainsThePlaintextOnlyWhereItIsNotSecret) {
  const std::string marker = "udtcat-e2e: a line that an eavesdropper would know again\n";
  std::string plaintext;
  while (plaintext.size() < 64 * kKiB) plaintext += marker;
  const std::string capture = captured(plaintext);
  EXPECT_EQ(capture.find(marker) == std::string::npos, GetParam() == "private");
}

INSTANTIATE_TEST_SUITE_P(At, Capture, testing::Values("private", "safe", "auth", "clear"),
                         [](const auto& chosen) { return chosen.param; });

/// Every form in which a key could leak.
std::vector<std::string> forms_of(const std::string& key) {
  constexpr std::string_view kPrefix = "udtcat1-";  // spec: docs/spec/handshake.md, "Key text"
  constexpr std::size_t kKeyBytes = 32;
  const std::string encoded = key.substr(kPrefix.size());
  const std::string raw = decode_base64url(encoded).substr(0, kKeyBytes);
  return {encoded, raw, to_hexadecimal(raw)};
}

class KeySecrecy : public UdtcatTest {
 protected:
  static void expect_none(const std::string& where, const std::string& text, const std::string& key) {
    for (const std::string& form : forms_of(key))
      EXPECT_EQ(text.find(form), std::string::npos) << "the key is in " << where;
  }
  /// A connection over which something has gone both ways, so that every start-up code has run.
  void establish(const std::string& key, const Arguments& args = {}) {
    two_way_.emplace(64, Afterwards::keep_open, Begin::at_once);
    auto end = [&](TwoWay::Side& side) {
      End result = side.end(args);
      result.key = key;
      return result;
    };
    listener_.emplace(listen(end(two_way_->listener)));
    connector_.emplace(connect(end(two_way_->connector)));
    ASSERT_TRUE(two_way_->both_received(64, kAtOnce)) << connector_->errors() << listener_->errors();
  }
  void finish() {
    two_way_->listener.producer.end();
    two_way_->connector.producer.end();
    expect_exit(*connector_, kSuccess, kAtOnce);
    expect_exit(*listener_, kSuccess, kAtOnce);
  }

  std::optional<TwoWay> two_way_;
  std::optional<Process> listener_;
  std::optional<Process> connector_;
};

/// Proves: threat-model.key-in-memory
TEST_F(KeySecrecy, HoldsForEveryLogAndFile) {
  establish(key_, {"-vvv", "--stats", "json"});
  finish();
  for (const Process* process : {&*listener_, &*connector_}) {
    EXPECT_FALSE(process->errors().empty());
    expect_none("a log", process->errors(), key_);
  }
  for (const auto& file : home_.files()) expect_none(file.string(), read_file(file), key_);
}

/// Proves: threat-model.key-in-memory
TEST_F(KeySecrecy, HoldsForTheArgumentsOfEveryProcess) {
  establish(key_);
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string command_line = read_file(entry.path() / "cmdline");
    expect_none(entry.path().string() + "/cmdline", command_line, key_);
  }
}

/// Proves: threat-model.key-in-memory
TEST_F(KeySecrecy, HoldsForTheEnvironmentOnceItIsRead) {
  establish(key_);
  for (const Process* process : {&*listener_, &*connector_}) {
    const std::string environment = process->proc_file("environ");
    // A process that nobody may trace shows its environment to root only.
    EXPECT_TRUE(!Namespaces::allowed() || environment.find("HOME=") != std::string::npos) << "not an environment";
    expect_none("the environment", environment, key_);
  }
}

/// Proves: threat-model.key-in-memory
TEST_F(KeySecrecy, HoldsForAKeyFile) {
  const auto file = home_.write("key", key_ + "\n");
  establish("", {"--key-file", file.string(), "-vvv"});
  finish();
  std::filesystem::remove(file);
  for (const Process* process : {&*listener_, &*connector_}) expect_none("a log", process->errors(), key_);
  for (const auto& other : home_.files()) expect_none(other.string(), read_file(other), key_);
}

/// Proves: threat-model.key-in-memory
TEST_F(KeySecrecy, HoldsForACoreSinceThereIsNone) {
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_CORE, &limit), 0);
  limit.rlim_cur = limit.rlim_max;
  ASSERT_EQ(::setrlimit(RLIMIT_CORE, &limit), 0);
  establish(key_);
  // Stands for a crash; a sanitizer's own handler does not take this signal.
  connector_->send_signal(SIGQUIT);
  const auto ending = connector_->wait(kAtOnce);
  ASSERT_TRUE(ending);
  EXPECT_FALSE(ending->core_dumped);
  for (const auto& file : home_.files()) expect_none(file.string(), read_file(file), key_);
  EXPECT_NE(listener_->proc_file("limits").find("Max core file size        0                    0"), std::string::npos);
}

}  // namespace
}  // namespace udtcat::test::e2e
