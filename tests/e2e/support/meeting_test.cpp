// SPDX-License-Identifier: Apache-2.0
#include "e2e/support/meeting_test.hpp"

#include <algorithm>
#include <iostream>
#include <utility>

namespace udtcat::test::e2e {

namespace {

constexpr const char* kConnected = "connected to ";
constexpr const char* kRelayed = "the session goes on by the relay of ";
constexpr const char* kDirect = "the session goes on directly";
constexpr std::chrono::milliseconds kLookEvery{5};  // guess: small beside the gaps that are asked for

}  // namespace

void MeetingTest::SetUp() {
  if (!Namespaces::allowed()) GTEST_SKIP() << "needs root";
}

void MeetingTest::meet(Gateway near, Gateway far) {
  near_proxy_.reset();
  far_proxy_.reset();
  hosts_.emplace(near, far);
  if (near == Gateway::only_proxy) near_proxy_.emplace(start_proxy(hosts_->near_gateway()));
  if (far == Gateway::only_proxy) far_proxy_.emplace(start_proxy(hosts_->far_gateway()));
  start_place();
}

Process MeetingTest::start_proxy(const Namespaces::Host& gateway) const {
  const std::filesystem::path file = home_.write(
      gateway.name + ".conf", "Port 3128\nListen " + gateway.ipv4 + "\nTimeout 600\nMaxClients 50\nAllow 10.0.0.0/8\n");
  return Process({.argv = {"tinyproxy", "-d", "-c", file.string()}, .network_namespace = gateway.file});
}

Arguments MeetingTest::environment_of(const std::optional<Process>& proxy, const Namespaces::Host& gateway) {
  if (!proxy) return {};
  return {"https_proxy=http://" + gateway.ipv4 + ":3128"};
}

void MeetingTest::start_place() {
  place_.emplace(
      udtcat({"meet", "-l", "9000", "--public"}, {.key = "", .network_namespace = hosts_->middle_host().file}));
  ASSERT_TRUE(eventually(kAtOnce, [&] { return place_->errors().find("its ports are") != std::string::npos; }))
      << place_->errors();
}

Process MeetingTest::listen_via(End end) const {
  end.network_namespace = hosts_->far_host().file;
  end.environment = far_environment();
  if (!end.key) end.key = key_;
  return udtcat({"-l", "-v", "--via", place_address()}, std::move(end));
}

Process MeetingTest::connect_via(End end) const {
  end.network_namespace = hosts_->near_host().file;
  end.environment = environment_of(near_proxy_, hosts_->near_gateway());
  if (!end.key) end.key = key_;
  return udtcat({"-v", "--via", place_address()}, std::move(end));
}

Ran MeetingTest::near(const std::string& script, std::chrono::milliseconds limit) const {
  Arguments environment = environment_of(near_proxy_, hosts_->near_gateway());
  environment.insert(environment.end(), {"HOME=" + home_.path().string(), "UDTCAT=" UDTCAT_BINARY,
                                         "PLACE=" + place_address(), "UDTCAT_KEY=" + key_});
  return run({.argv = {"bash", "-c", script},
              .environment = std::move(environment),
              .working_directory = home_.path(),
              .network_namespace = hosts_->near_host().file},
             limit);
}

bool MeetingTest::is_relayed(const Process& connector) const {
  bool relayed = false;
  for (const std::string& line : connector.error_lines()) {
    if (const auto at = line.find(kConnected); at != std::string::npos)
      relayed = line.find(place_address() + ":", at) != std::string::npos;
    if (line.find(kRelayed) != std::string::npos) relayed = true;
    if (line.find(kDirect) != std::string::npos) relayed = false;
  }
  return relayed;
}

bool MeetingTest::goes_direct(const Process& connector) const {
  return connector.errors().find(kConnected) != std::string::npos && !is_relayed(connector);
}

GapWatch::GapWatch(std::vector<const Consumer*> consumers) {
  for (const Consumer* const each : consumers) seen_.push_back({each, each->bytes_read(), Clock::now()});
  thread_ = std::jthread([this](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      look();
      let_pass(kLookEvery);
    }
  });
}

void GapWatch::look() {
  const auto now = Clock::now();
  for (Seen& each : seen_) {
    const std::int64_t ms = std::chrono::duration_cast<std::chrono::milliseconds>(now - each.at).count();
    longest_ms_ = std::max(longest_ms_.load(), ms);
    const std::uint64_t bytes = each.consumer->bytes_read();
    if (bytes != each.bytes) each.at = now;
    each.bytes = bytes;
  }
}

void MeetingWithData::begin(Data data) {
  if (data != Data::to_connector) to_listener_.emplace(1, Producer::kEndless, Afterwards::keep_open);
  if (data != Data::to_listener) to_connector_.emplace(2, Producer::kEndless, Afterwards::keep_open);
  End listening{.args = {"--rate", "40M"}, .out = at_listener_.take_stdout()};
  End connecting{.args = {"--rate", "40M"}, .out = at_connector_.take_stdout()};
  if (to_connector_) listening.in = to_connector_->take_stdin();
  if (to_listener_) connecting.in = to_listener_->take_stdin();
  listener_.emplace(listen_via(std::move(listening)));
  connector_.emplace(connect_via(std::move(connecting)));
  ASSERT_TRUE(eventually(kTransferLimit,
                         [&] {
                           return (!to_listener_ || at_listener_.bytes_read() > 0) &&
                                  (!to_connector_ || at_connector_.bytes_read() > 0);
                         }))
      << connector_->errors() << listener_->errors();
}

GapWatch MeetingWithData::watch() const {
  std::vector<const Consumer*> consumers;
  if (to_listener_) consumers.push_back(&at_listener_);
  if (to_connector_) consumers.push_back(&at_connector_);
  return GapWatch(std::move(consumers));
}

void MeetingWithData::expect_all_there() {
  if (to_listener_) to_listener_->finish();
  if (to_connector_) to_connector_->finish();
  expect_exit(*connector_, kSuccess);
  expect_exit(*listener_, kSuccess);
  if (to_listener_) {
    EXPECT_EQ(at_listener_.digest(), to_listener_->digest());
  }
  if (to_connector_) {
    EXPECT_EQ(at_connector_.digest(), to_connector_->digest());
  }
}

void MeetingWithData::say(const char* what, const GapWatch& watch) {
  std::cout << what << ": nothing came for " << watch.longest().count() << " ms at most\n";
}

}  // namespace udtcat::test::e2e
