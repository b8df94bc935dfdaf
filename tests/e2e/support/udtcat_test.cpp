// SPDX-License-Identifier: Apache-2.0
#include "e2e/support/udtcat_test.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace udtcat::test::e2e {

namespace {

std::string trimmed(std::string text) {
  text.erase(text.find_last_not_of(" \n") + 1);
  return text;
}

void append(Arguments& to, const Arguments& more) { to.insert(to.end(), more.begin(), more.end()); }

/// For a run of the pipe's, the forward's and the trees' scenarios over another transport: UDTCAT_TEST_TRANSPORT=tcp.
void choose_transport(const Arguments& arguments, const std::string& host, End& end) {
  const char* const chosen = std::getenv("UDTCAT_TEST_TRANSPORT");
  const std::array<std::string, 4> sessions{"-l", host, "send", "receive"};
  if (chosen == nullptr || std::ranges::find(sessions, arguments.front()) == sessions.end()) return;
  if (std::ranges::find(end.args, "--transport") == end.args.end()) append(end.args, {"--transport", chosen});
}

}  // namespace

Process UdtcatTest::udtcat(Arguments arguments, End end) const {
  choose_transport(arguments, host_, end);
  arguments.insert(arguments.begin(), UDTCAT_BINARY);
  append(arguments, end.args);
  Arguments environment = {"HOME=" + home_.path().string(), "TMPDIR=" + home_.path().string(),
                           "XDG_RUNTIME_DIR=" + home_.path().string()};
  if (end.key && !end.key->empty()) environment.push_back("UDTCAT_KEY=" + *end.key);
  append(environment, end.environment);
  return Process({.argv = std::move(arguments),
                  .environment = std::move(environment),
                  .in = std::move(end.in),
                  .out = std::move(end.out),
                  .working_directory = home_.path(),
                  .network_namespace = std::move(end.network_namespace)});
}

Process UdtcatTest::listen(End end) const {
  if (!end.key) end.key = key_;
  const std::string host = host_.find(':') == std::string::npos ? host_ : "[" + host_ + "]";
  return udtcat({"-l", host + ":" + std::to_string(port_)}, std::move(end));
}

Process UdtcatTest::connect(End end) const { return connect_to(port_, std::move(end)); }

Process UdtcatTest::connect_to(std::uint16_t port, End end) const {
  if (!end.key) end.key = key_;
  return udtcat({host_, std::to_string(port)}, std::move(end));
}

Digest UdtcatTest::pipe_through(Descriptor source, const Arguments& args_of_both) const {
  Consumer consumer;
  const bool keyless = std::find(args_of_both.begin(), args_of_both.end(), "clear") != args_of_both.end();
  const std::optional<std::string> key = keyless ? "" : key_;
  Process listener = listen({.args = args_of_both, .out = consumer.take_stdout(), .key = key});
  Process connector = connect({.args = args_of_both, .in = std::move(source), .key = key});
  expect_exit(connector, kSuccess);
  expect_exit(listener, kSuccess);
  return consumer.wait_for_end(kAtOnce) ? consumer.digest() : Digest{};
}

std::string UdtcatTest::make_key() {
  const Ran ran = run({.argv = {UDTCAT_BINARY, "keygen"}});
  EXPECT_EQ(ran.status, kSuccess) << ran.errors;
  return trimmed(ran.output);
}

void TwoHostsTest::SetUp() {
  if (!Namespaces::allowed()) GTEST_SKIP() << "only root may make network namespaces";
  hosts_ = std::make_unique<Namespaces>();
  host_ = hosts_->far_host().ipv4;
}

Process TwoHostsTest::listen_far(End end) const {
  end.network_namespace = hosts_->far_host().file;
  return listen(std::move(end));
}

Process TwoHostsTest::connect_near(End end) const {
  end.network_namespace = hosts_->near_host().file;
  return connect(std::move(end));
}

bool TwoWay::both_received(std::uint64_t bytes, std::chrono::milliseconds limit) const {
  return eventually(
      limit, [&] { return listener.consumer.bytes_read() >= bytes && connector.consumer.bytes_read() >= bytes; });
}

void expect_exit(Process& process, int status, std::chrono::milliseconds limit, std::source_location where) {
  const testing::ScopedTrace trace(where.file_name(), static_cast<int>(where.line()),
                                   "expected to exit with " + std::to_string(status));
  const auto ending = process.wait(limit);
  if (!ending) {
    ADD_FAILURE() << "still running after " << limit.count() << " ms; stderr:\n" << process.errors();
  } else {
    EXPECT_EQ(ending->status, status) << "stderr:\n" << process.errors();
  }
}

void expect_says(const Process& process, const std::string& text, std::source_location where) {
  const testing::ScopedTrace trace(where.file_name(), static_cast<int>(where.line()),
                                   "expected to say \"" + text + '"');
  EXPECT_TRUE(eventually(kAtOnce, [&] { return process.errors().find(text) != std::string::npos; }))
      << "stderr:\n"
      << process.errors();
}

int count_lines(const Process& process, const std::string& text) {
  const auto lines = process.error_lines();
  return static_cast<int>(std::count_if(lines.begin(), lines.end(),
                                        [&](const std::string& line) { return line.find(text) != std::string::npos; }));
}

}  // namespace udtcat::test::e2e
