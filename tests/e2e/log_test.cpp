// SPDX-License-Identifier: Apache-2.0
/// Logs of listeners and forwards, as text and as JSON: what a reader sees who sees nothing else.
#include <algorithm>
#include <csignal>
#include <filesystem>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "e2e/support/gridftp_test.hpp"
#include "e2e/support/tcp_client.hpp"
#include "e2e/support/tcp_services.hpp"
#include "e2e/support/trees_test.hpp"

namespace udtcat::test::e2e {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::Contains;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::MatchesRegex;

constexpr const char* kTime = "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}[.][0-9]{3}[+-][0-9]{2}:[0-9]{2} ";
constexpr const char* kTimeInUtc = "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}[.][0-9]{3}Z";

/// The objects that the lines of stderr are; fails the test at a line that is none, or lacks what each has.
std::vector<json> objects_of(const Process& process) {
  std::vector<json> objects;
  for (const std::string& line : process.error_lines()) {
    json object = json::parse(line, nullptr, false);
    EXPECT_TRUE(object.is_object()) << line;
    if (!object.is_object()) continue;
    EXPECT_THAT(object.value("time", ""), MatchesRegex(kTimeInUtc)) << line;
    EXPECT_THAT(object.value("level", ""), MatchesRegex("error|warning|notice|info|debug")) << line;
    EXPECT_TRUE(object.contains("service")) << line;
    EXPECT_FALSE(object.value("message", "").empty()) << line;
    objects.push_back(std::move(object));
  }
  return objects;
}

std::vector<json> events_of(const Process& process, const std::string& name) {
  std::vector<json> events = objects_of(process);
  std::erase_if(events, [&](const json& each) { return each.value("event", "") != name; });
  return events;
}

/// The only event of that name, waited for; null where there is none, or several.
json event_of(const Process& process, const std::string& name) {
  const std::string field = "\"event\":\"" + name + "\"";
  EXPECT_TRUE(eventually(kAtOnce, [&] { return count_lines(process, field) > 0; })) << process.errors();
  const auto events = events_of(process, name);
  EXPECT_EQ(events.size(), 1U) << process.errors();
  return events.size() == 1 ? events.front() : json();
}

void expect_times(const Process& process) {
  for (const std::string& line : process.error_lines()) EXPECT_THAT(line, ContainsRegex(kTime));
}

const Arguments kJson{"--log-format", "json"};

class TreeLog : public TreesTest {};

TEST_F(TreeLog, HasALineForEachTransferOfAListener) {
  std::filesystem::create_directories(here("photos/below"));
  const std::string one = home_.write("photos/one", std::string(100'000, '1'));
  const std::string two = home_.write("photos/below/two", std::string(50'000, '2'));
  Process listener = receive_into("dst", {.args = {}});
  Process sender = send({here("photos").string()});
  expect_exit(sender, kSuccess);
  expect_says(listener, ": photos: 2 files, 150 kB");
  listener.send_signal(SIGTERM);
  expect_exit(listener, kTerminated);
  expect_says(listener, "udtcat: stopped by SIGTERM");
  expect_times(listener);
}

TEST_F(TreeLog, AsJsonSaysWhoSentWhatHowMuchHowLongAndHowItEnded) {
  std::filesystem::create_directories(here("photos"));
  const std::string one = home_.write("photos/one", std::string(100'000, '1'));
  Process listener = receive_into("dst", {.args = kJson});
  Process sender = send({here("photos").string()}, {.args = kJson});
  expect_exit(sender, kSuccess);
  EXPECT_EQ(event_of(sender, "exit").value("exit_status", -1), 0);
  const json transfer = event_of(listener, "transfer");
  EXPECT_TRUE(transfer["peer"].is_null()) << "only a key pair gives a name";
  EXPECT_THAT(transfer.value("address", ""), HasSubstr("127.0.0.1:"));
  EXPECT_EQ(transfer["object"], "photos");
  EXPECT_EQ(transfer["direction"], "received");
  EXPECT_EQ(transfer["bytes_received"], 100'000);
  EXPECT_EQ(transfer["files"], 1);
  EXPECT_GT(transfer["duration_seconds"], 0.0);
  EXPECT_EQ(transfer["result"], "complete");
  Process stranger = send({here("photos").string()}, {.key = make_key()});
  expect_exit(stranger, kRefused);
  const json refused = event_of(listener, "refused");
  EXPECT_EQ(refused["reason"], "the keys do not match");
  EXPECT_EQ(refused["level"], "warning");
  listener.send_signal(SIGTERM);
  expect_exit(listener, kTerminated);
  const json end = event_of(listener, "exit");
  EXPECT_EQ(end["exit_status"], kTerminated);
  EXPECT_THAT(end.value("message", ""), HasSubstr("SIGTERM"));
}

class PipeLog : public UdtcatTest {};

TEST_F(PipeLog, OfAListenerThatIsNotAtATerminalHasItsTransfer) {
  const std::string file = home_.write("file", std::string(100'000, '1'));
  Process listener = listen({.args = {"--name", "web"}});
  Process connector = connect({.in = open_for_reading(file)});
  expect_exit(connector, kSuccess);
  expect_exit(listener, kSuccess);
  EXPECT_THAT(listener.errors(), ContainsRegex("udtcat [(]web[)]: 127.0.0.1:[0-9]+: stream: 100 kB received in 0:0"));
  expect_times(listener);
  EXPECT_EQ(connector.errors(), "");
}

TEST_F(PipeLog, AsJsonIsJsonToTheLastLine) {
  const std::string file = home_.write("file", std::string(100'000, '1'));
  Process listener = listen({.args = {"--log-format=json", "-vv", "--name", "web"}});
  Process connector = connect({.args = {"--log-format=json", "--why"}, .in = open_for_reading(file)});
  expect_exit(connector, kSuccess);
  expect_exit(listener, kSuccess);
  const json transfer = event_of(listener, "transfer");
  EXPECT_EQ(transfer["service"], "web");
  EXPECT_EQ(transfer["object"], "stream");
  EXPECT_EQ(transfer["direction"], "received");
  EXPECT_EQ(transfer["bytes_received"], 100'000);
  EXPECT_TRUE(transfer["files"].is_null());
  EXPECT_EQ(transfer["result"], "complete");
  EXPECT_EQ(event_of(connector, "transfer")["bytes_sent"], 100'000);
  EXPECT_FALSE(event_of(listener, "peer_up").is_null());
  EXPECT_FALSE(event_of(listener, "listening").is_null());
}

TEST_F(PipeLog, AsJsonHasTheErrorOfARunAndOfItsOptions) {
  Process unreachable = connect({.args = {"--log-format=json", "--connect-timeout", "200ms", "--no-tcp"}});
  expect_exit(unreachable, kUnreachable);
  const json end = event_of(unreachable, "exit");
  EXPECT_EQ(end["level"], "error");
  EXPECT_EQ(end["exit_status"], kUnreachable);
  EXPECT_THAT(end.value("result", ""), HasSubstr("127.0.0.1"));
  Process wrong = udtcat({"--log-format=json", "-l", "9000", "--nonsense"});
  expect_exit(wrong, kUsage);
  EXPECT_THAT(event_of(wrong, "exit").value("message", ""), HasSubstr("--nonsense"));
  const std::string configuration = home_.write("pipe.conf", "listen 9000\nlog-format json\nnonsense\n");
  Process configured = udtcat({"--config", configuration});
  expect_exit(configured, kUsage);
  EXPECT_THAT(event_of(configured, "exit").value("message", ""), HasSubstr("pipe.conf"));
  Process both = udtcat({"--log-format=json", "-l", "9000", "--progress"});
  expect_exit(both, kUsage);
}

class ForwardLog : public UdtcatTest {
 protected:
  void SetUp() override { ASSERT_TRUE(http_.ready()); }
  [[nodiscard]] Arguments with(Arguments args, const Arguments& more) const {
    args.insert(args.end(), more.begin(), more.end());
    return args;
  }
  [[nodiscard]] Arguments to_service() const { return {"--to", "127.0.0.1:" + std::to_string(http_.port())}; }
  [[nodiscard]] Arguments from_entrance() const { return {"--from", "127.0.0.1:" + std::to_string(entrance_)}; }
  /// A client has asked for a page, and has it.
  [[nodiscard]] bool is_answered() const {
    return eventually(patience(std::chrono::seconds(10)), [&] {
      return run({.argv = {"curl", "-sf", "-m", "5", "http://127.0.0.1:" + std::to_string(entrance_) + "/small"}})
                 .status == 0;
    });
  }
  const HttpServer http_;
  const std::uint16_t entrance_ = free_port();
};

TEST_F(ForwardLog, TellsOnceWhereItListens) {
  for (const bool is_chosen : {false, true}) {
    const std::string port = is_chosen ? "0" : std::to_string(port_);
    Process far = udtcat({"-l", "127.0.0.1:" + port}, {.args = with(to_service(), kJson), .key = key_});
    const json told = event_of(far, "listening");
    EXPECT_THAT(told.value("address", ""), HasSubstr("127.0.0.1:"));
    EXPECT_EQ(told["level"], "notice");
    far.send_signal(SIGTERM);
    expect_exit(far, kTerminated);
    EXPECT_EQ(events_of(far, "listening").size(), 1U) << far.errors();
  }
}

TEST_F(ForwardLog, TellsOfAPeerThatComesAndGoesAtBothEnds) {
  Process far = listen({.args = with(to_service(), kJson)});
  {
    Process near = connect({.args = with(from_entrance(), kJson)});
    ASSERT_TRUE(is_answered()) << near.errors() << far.errors();
    EXPECT_FALSE(event_of(near, "peer_up").is_null());
    EXPECT_FALSE(event_of(near, "listening").is_null());
    near.send_signal(SIGTERM);
    expect_exit(near, kTerminated);
  }
  const json gone = event_of(far, "peer_gone");
  EXPECT_EQ(gone["direction"], "both");
  EXPECT_GT(gone["bytes_sent"], 0U);
  EXPECT_GT(gone["bytes_received"], 0U);
  EXPECT_GT(gone["duration_seconds"], 0.0);
  EXPECT_FALSE(event_of(far, "peer_up").is_null());
}

TEST_F(ForwardLog, TellsOfAnOutageAndItsEnd) {
  Process near = connect({.args = with(from_entrance(), kJson)});
  {
    Process far = listen({.args = to_service()});
    ASSERT_TRUE(is_answered()) << near.errors();
    far.send_signal(SIGTERM);
    expect_exit(far, kTerminated);
    expect_times(far);
    expect_says(far, "stopped by SIGTERM");
  }
  const json gone = event_of(near, "peer_gone");
  EXPECT_EQ(gone["level"], "warning");
  EXPECT_NE(gone["result"], "complete");
  EXPECT_GT(gone["bytes_received"], 0U);
  EXPECT_TRUE(eventually(patience(std::chrono::seconds(20)), [&] { return count_lines(near, "\"redial\"") > 0; }))
      << near.errors();
  const json redial = events_of(near, "redial").at(0);
  EXPECT_GE(redial["duration_seconds"], 0.0);
  EXPECT_TRUE(redial["reason"].is_string());
  Process again = listen({.args = to_service()});
  EXPECT_TRUE(eventually(patience(std::chrono::seconds(20)), [&] { return count_lines(near, "is back after") == 1; }))
      << near.errors();
  EXPECT_EQ(events_of(near, "peer_up").size(), 2U);
}

class GridftpLog : public GridftpTest {};

TEST_F(GridftpLog, HasALineForEachFileOfAClientOfAnotherMake) {
  serve();
  const auto source = random_file("source", 1'000'003);
  EXPECT_EQ(run({.argv = {"curl", "-sS", "-T", source, ours("put")}}).status, kSuccess);
  EXPECT_EQ(run({.argv = {"curl", "-sS", ours("put"), "-o", here("got")}}).status, kSuccess);
  expect_says(*server_, "/put: 1 file, 1.00 MB received in 0:0");
  expect_says(*server_, "/put: 1 file, 1.00 MB sent in 0:0");
  expect_times(*server_);
}

TEST_F(GridftpLog, AsJsonHasTransfersAndChanges) {
  serve(kJson);
  const auto source = random_file("source", 1'000'003);
  EXPECT_EQ(run({.argv = {"curl", "-sS", "-T", source, ours("put")}}).status, kSuccess);
  const json put = event_of(*server_, "transfer");
  EXPECT_EQ(put["object"], "/put");
  EXPECT_EQ(put["direction"], "received");
  EXPECT_EQ(put["bytes_received"], 1'000'003);
  EXPECT_EQ(put["files"], 1);
  EXPECT_EQ(put["result"], "complete");
  EXPECT_EQ(run({.argv = {"curl", "-sS", "-Q", "DELE put", ours("")}}).status, kSuccess);
  const json change = event_of(*server_, "change");
  EXPECT_EQ(change["object"], "/put");
  EXPECT_EQ(change["level"], "warning") << "by somebody without a key";
  server_->send_signal(SIGTERM);
  expect_exit(*server_, kTerminated);
  EXPECT_GE(events_of(*server_, "peer_gone").size(), 2U);
}

TEST_F(GridftpLog, OfAFloodOfSmallFilesIsShortAndCountsThemAll) {
  serve(kJson);
  constexpr int kFiles = 200;
  home_.write("small", "ten bytes.");
  Arguments words{"curl", "-sS"};
  for (int i = 0; i < kFiles; ++i)
    words.insert(words.end(), {"-T", here("small").string(), ours("put" + std::to_string(i))});
  EXPECT_EQ(run({.argv = std::move(words)}).status, kSuccess);
  server_->send_signal(SIGTERM);
  expect_exit(*server_, kTerminated);
  const auto transfers = events_of(*server_, "transfer");
  EXPECT_LE(transfers.size(), 70U);
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  for (const json& each : transfers) {
    files += each.value("files", std::uint64_t{0});
    bytes += each.value("bytes_received", std::uint64_t{0});
  }
  EXPECT_EQ(files, std::uint64_t{kFiles});
  EXPECT_EQ(bytes, std::uint64_t{10 * kFiles});
}

}  // namespace
}  // namespace udtcat::test::e2e
