// SPDX-License-Identifier: Apache-2.0
/// Two stock GridFTP sites with two gateways between: real globus-url-copy, real globus-gridftp-server, every file
/// compared.
#include <csignal>
#include <fstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "e2e/support/globus_server.hpp"
#include "e2e/support/tcp_client.hpp"
#include "e2e/support/udtcat_test.hpp"

namespace udtcat::test::e2e {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class GridftpGateway : public UdtcatTest {
 protected:
  void SetUp() override { ASSERT_NO_FATAL_FAILURE(start(server_.port())); }
  void TearDown() override { expect_all_carried(); }

  void start(std::uint16_t server) {
    far_.emplace(start_far(server));
    near_.emplace(start_near(key_));
    ASSERT_TRUE(accepts_tcp(entrance_, kAtOnce)) << near_->errors() << far_->errors();
  }
  /// Ends the gateways. Nothing went past them: on one host that would work as well.
  void expect_all_carried() {
    if (!near_->running()) return;
    near_->send_signal(SIGTERM);
    expect_exit(*near_, kTerminated, kAtOnce);
    const auto lines = near_->error_lines();
    ASSERT_FALSE(lines.empty());
    const auto figures = nlohmann::json::parse(lines.back(), nullptr, false);
    EXPECT_GE(figures.value("bytes_sent", 0ULL) + figures.value("bytes_received", 0ULL), copied_bytes_);
    copied_bytes_ = 0;
    far_->send_signal(SIGTERM);
    expect_exit(*far_, kTerminated, kAtOnce);
  }

  [[nodiscard]] Process start_far(std::uint16_t server) const {
    return udtcat(
        {"gridftp", "gateway", "-l", host_ + ":" + std::to_string(port_), "--to", host_ + ":" + std::to_string(server)},
        {.key = key_});
  }
  [[nodiscard]] Process start_near(const std::string& key) const {
    return udtcat({"gridftp", "gateway", host_, std::to_string(port_), "--from",
                   host_ + ":" + std::to_string(entrance_), "--stats", "json"},
                  {.key = key});
  }
  /// The URL by which a stock client at the near site knows the far site's file.
  [[nodiscard]] std::string url(const std::filesystem::path& path) const {
    return "ftp://127.0.0.1:" + std::to_string(entrance_) + path.string();
  }
  [[nodiscard]] Command copy_command(Arguments words) const {
    words.insert(words.begin(), "globus-url-copy");
    return {.argv = std::move(words), .environment = environment_};
  }
  [[nodiscard]] Ran copy(Arguments words) const { return run(copy_command(std::move(words)), kTransferLimit); }
  [[nodiscard]] std::filesystem::path random_file(const std::string& name, std::size_t bytes) const {
    std::string content(bytes, '\0');
    std::ifstream("/dev/urandom", std::ios::binary).read(content.data(), static_cast<std::streamsize>(bytes));
    return home_.write(name, content);
  }
  /// Copies, and expects the same bytes there; removes them.
  void expect_copy(const Arguments& options, const std::filesystem::path& source, const std::filesystem::path& target,
                   const std::string& from, const std::string& to) {
    Arguments words = options;
    words.insert(words.end(), {from, to});
    const Ran ran = copy(words);
    EXPECT_EQ(ran.status, kSuccess) << testing::PrintToString(words) << ran.errors;
    EXPECT_TRUE(read_file(target) == read_file(source)) << testing::PrintToString(words);
    copied_bytes_ += std::filesystem::file_size(source);
    std::filesystem::remove(target);
  }
  void expect_get_and_put(const Arguments& options, const std::filesystem::path& source) {
    const auto target = home_.path() / "target";
    expect_copy(options, source, target, url(source), "file://" + target.string());
    expect_copy(options, source, target, "file://" + source.string(), url(target));
  }

  const std::uint16_t entrance_ = free_port();
  /// For data that is sealed between the ends as well.
  const Arguments environment_{"X509_CERT_DIR=" + home_.path().string(), "HOME=" + home_.path().string()};
  GlobusServer server_{{}, environment_};
  std::optional<Process> far_;
  std::optional<Process> near_;
  std::uint64_t copied_bytes_ = 0;
};

TEST_F(GridftpGateway, CarriesFilesOfAnySizeOverAnyNumberOfConnectionsBothWays) {
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{1}, std::size_t{3'000'003}, std::size_t{scaled(64 * kMiB)}}) {
    const auto source = random_file("source", bytes);
    for (const char* connections : {"1", "4", "16"}) expect_get_and_put({"-p", connections}, source);
  }
}

TEST_F(GridftpGateway, CarriesModeSToo) { expect_get_and_put({}, random_file("source", 1'000'000)); }

TEST_F(GridftpGateway, LetsDataConnectionsBeUsedAgain) {
  const auto there = home_.path() / "there";
  const auto back = home_.path() / "back";
  std::string put;
  std::string get;
  for (int i = 0; i < 5; ++i) {
    const auto source = random_file("source" + std::to_string(i), 1'500'000 + static_cast<std::size_t>(i));
    const auto name = std::to_string(i);
    put += "file://" + source.string() + " " + url(there / name) + "\n";
    get += url(there / name) + " file://" + (back / name).string() + "\n";
  }
  for (const char* ordering : {"-fast", "-pp"}) {
    std::filesystem::create_directory(there);
    std::filesystem::create_directory(back);
    const Ran up = copy({"-fast", ordering, "-p", "4", "-f", home_.write("puts", put)});
    EXPECT_EQ(up.status, kSuccess) << up.errors;
    const Ran down = copy({"-fast", ordering, "-p", "4", "-f", home_.write("gets", get)});
    EXPECT_EQ(down.status, kSuccess) << down.errors;
    for (int i = 0; i < 5; ++i)
      EXPECT_TRUE(read_file(back / std::to_string(i)) == read_file(home_.path() / ("source" + std::to_string(i)))) << i;
    copied_bytes_ += std::size_t{2 * 5 * 1'500'000};
    std::filesystem::remove_all(there);
    std::filesystem::remove_all(back);
  }
}

TEST_F(GridftpGateway, CarriesDataThatItsEndsSeal) {
  const auto source = random_file("source", 3'000'003);
  for (const char* level : {"-dcsafe", "-dcpriv"}) expect_get_and_put({"-data-cred", "auto", level, "-p", "4"}, source);
  expect_get_and_put({"-data-cred", "auto", "-p", "2"}, source);
}

TEST_F(GridftpGateway, CarriesDataPortsThatTheServerPutsOff) {
  expect_get_and_put({"-dp", "-p", "2"}, random_file("source", 1'000'000));
}

TEST_F(GridftpGateway, CarriesTheDataOfEveryHostOfAStripedServer) {
  const Arguments node{"-dn", "-ipc-interface", "127.0.0.1"};
  const GlobusServer one(node);
  const GlobusServer two(node);
  const GlobusServer front(
      {"-r", "127.0.0.1:" + std::to_string(one.port()) + ",127.0.0.1:" + std::to_string(two.port())});
  expect_all_carried();
  ASSERT_NO_FATAL_FAILURE(start(front.port()));
  const auto source = random_file("source", 8 * kMiB);
  const auto target = home_.path() / "target";
  expect_copy({"-stripe", "-sbs", "1048576", "-p", "2"}, source, target, "file://" + source.string(), url(target));
  expect_copy({"-p", "2"}, source, target, url(source), "file://" + target.string());
}

TEST_F(GridftpGateway, CarriesTransfersBetweenServersOfWhichOneOrBothAreBehindIt) {
  const GlobusServer local;
  const auto source = random_file("source", 5'000'000);
  const auto target = home_.path() / "target";
  for (const char* connections : {"1", "4"}) {
    const Arguments options{"-p", connections};
    expect_copy(options, source, target, url(source), local.url(target));
    expect_copy(options, source, target, local.url(source), url(target));
    expect_copy(options, source, target, url(source), url(target));
  }
}

TEST_F(GridftpGateway, ServesManyClientsAndManyNearGatewaysAtOnce) {
  const std::uint16_t second_entrance = free_port();
  const Process second = udtcat(
      {"gridftp", "gateway", host_, std::to_string(port_), "--from", host_ + ":" + std::to_string(second_entrance)},
      {.key = key_});
  ASSERT_TRUE(accepts_tcp(second_entrance, kAtOnce)) << second.errors();
  const auto source = random_file("source", 20'000'003);
  std::vector<Process> clients;
  for (int i = 0; i < 6; ++i) {
    const auto target = "file://" + (home_.path() / std::to_string(i)).string();
    const std::string from =
        "ftp://127.0.0.1:" + std::to_string(i % 2 == 0 ? entrance_ : second_entrance) + source.string();
    clients.emplace_back(copy_command({"-p", "4", from, target}));
  }
  for (int i = 0; i < 6; ++i) {
    expect_exit(clients[static_cast<std::size_t>(i)], kSuccess);
    EXPECT_TRUE(read_file(home_.path() / std::to_string(i)) == read_file(source)) << i;
  }
}

TEST_F(GridftpGateway, RefusesALoginThatItCouldNotReadInWords) {
  const auto source = random_file("source", 1000);
  const Ran ran = copy({"gsiftp://127.0.0.1:" + std::to_string(entrance_) + source.string(), "file:///dev/null"});
  EXPECT_NE(ran.status, kSuccess);
  EXPECT_THAT(ran.errors, HasSubstr("534 Not through this gateway"));
}

/// A client that a test steers line by line.
class Dialogue {
 public:
  explicit Dialogue(std::uint16_t port) : client_(port, kAtOnce) { std::ignore = line(); }
  std::string line() {
    std::string text;
    while (!text.ends_with("\r\n")) {
      const std::string next = client_.receive(1);
      if (next.empty()) break;
      text += next;
    }
    return text;
  }
  std::string ask(const std::string& command) {
    EXPECT_TRUE(client_.send(command + "\r\n"));
    return line();
  }
  void log_in() {
    EXPECT_THAT(ask("USER anonymous"), StartsWith("331 "));
    EXPECT_THAT(ask("PASS x"), StartsWith("230 "));
  }
  [[nodiscard]] const TcpClient& client() const { return client_; }

 private:
  TcpClient client_;
};

/// The port of "227 Entering Passive Mode (127,0,0,1,p,q)".
std::uint16_t passive_port(const std::string& reply) {
  const auto low = reply.rfind(',');
  const auto high = reply.rfind(',', low - 1);
  return static_cast<std::uint16_t>(std::stoi(reply.substr(high + 1)) * 256 + std::stoi(reply.substr(low + 1)));
}

TEST_F(GridftpGateway, AnswersItselfWhatWouldLeadDataPastIt) {
  Dialogue dialogue(entrance_);
  dialogue.log_in();
  EXPECT_THAT(dialogue.ask("EPSV"), StartsWith("502 "));
  EXPECT_THAT(dialogue.ask("EPRT |2|::1|50000|"), StartsWith("502 "));
  EXPECT_THAT(dialogue.ask("SITE SETNETSTACK udt"), StartsWith("504 "));
  EXPECT_THAT(dialogue.ask("PORT 127,0,0,1,0,22"), StartsWith("504 "));
  EXPECT_THAT(dialogue.ask("PORT 127.0.0.1:50000"), StartsWith("501 "));
  EXPECT_THAT(dialogue.ask("NOOP"), StartsWith("200 "));
}

TEST_F(GridftpGateway, KeepsADataPortOpenAsLongAsItsControlConnection) {
  std::optional<Dialogue> dialogue(entrance_);
  dialogue->log_in();
  const std::string first = dialogue->ask("PASV");
  ASSERT_THAT(first, StartsWith("227 Entering Passive Mode (127,0,0,1,"));
  EXPECT_TRUE(TcpClient(passive_port(first), kAtOnce).connected());
  const std::string second = dialogue->ask("PASV");
  ASSERT_THAT(second, StartsWith("227 "));
  EXPECT_FALSE(TcpClient(passive_port(first), kAtOnce).connected());
  EXPECT_TRUE(TcpClient(passive_port(second), kAtOnce).connected());
  dialogue.reset();
  EXPECT_TRUE(eventually(kAtOnce, [&] { return !TcpClient(passive_port(second), kAtOnce).connected(); }));
}

TEST_F(GridftpGateway, EndsAControlConnectionWithEndlessLinesAndNoOther) {
  Dialogue other(entrance_);
  const Dialogue endless(entrance_);
  EXPECT_TRUE(endless.client().send(std::string(200'000, 'x')));
  EXPECT_TRUE(endless.client().receive_end());
  EXPECT_TRUE(eventually(kAtOnce, [&] { return count_lines(*near_, "longer than 131072 bytes") == 1; }))
      << near_->errors();
  other.log_in();
}

TEST_F(GridftpGateway, WithAnotherKeyIsRefused) {
  Process stranger =
      udtcat({"gridftp", "gateway", host_, std::to_string(port_), "--from", "127.0.0.1:" + std::to_string(free_port())},
             {.key = make_key()});
  expect_exit(stranger, kRefused, kAtOnce);
  expect_get_and_put({"-p", "2"}, random_file("source", 1000));
}

/// A copy without an end, which has begun.
class InterruptedTransfer : public GridftpGateway {
 protected:
  void SetUp() override {
    GridftpGateway::SetUp();
    endless_.emplace(
        copy_command({"-p", "4", "-len", std::to_string(kGiB * 1024), url("/dev/zero"), "file://" + got_.string()}));
    const auto begun = [&] {
      std::error_code none_yet;
      return std::filesystem::file_size(got_, none_yet) > kMiB && !none_yet;
    };
    ASSERT_TRUE(eventually(kAtOnce, begun)) << endless_->errors();
  }
  void expect_error_at_the_client() {
    const auto ending = endless_->wait(patience(20s));
    ASSERT_TRUE(ending) << "it hangs: " << near_->errors();
    EXPECT_NE(ending->status, kSuccess);
  }
  // It grows by some hundred MB until the test has done its deed.
  const std::filesystem::path got_ = home_.path() / "endless";
  std::optional<Process> endless_;
};

TEST_F(InterruptedTransfer, IsAnErrorAtTheClientWhenTheFarGatewayDies) {
  far_->send_signal(SIGKILL);
  expect_error_at_the_client();
  EXPECT_TRUE(eventually(patience(15s), [&] { return count_lines(*near_, "is gone") == 1; })) << near_->errors();
  near_->send_signal(SIGTERM);
  expect_exit(*near_, kTerminated, kAtOnce);
}

TEST_F(InterruptedTransfer, IsAnErrorAtTheClientWhenTheNearGatewayDies) {
  near_->send_signal(SIGKILL);
  expect_error_at_the_client();
  expect_exit(*near_, 128 + SIGKILL, kAtOnce);
}

TEST_F(InterruptedTransfer, IsTheEndOfNoGatewayWhenTheClientDies) {
  endless_->send_signal(SIGKILL);
  expect_exit(*endless_, 128 + SIGKILL, kAtOnce);
  expect_get_and_put({"-p", "4"}, random_file("source", 3'000'003));
}

using GatewayUsage = UdtcatTest;

TEST_F(GatewayUsage, IsExplainedAndNamesWhatIsWrong) {
  const auto gateway = [](Arguments words) {
    words.insert(words.begin(), {UDTCAT_BINARY, "gridftp", "gateway"});
    return run({.argv = std::move(words)});
  };
  EXPECT_THAT(gateway({"--help"}).output, HasSubstr("beside the FTP server"));
  for (const Arguments& words : {Arguments{}, Arguments{"-l", "9000"}, Arguments{"host", "9000"}, Arguments{"keygen"},
                                 Arguments{"--plain", "-l", "9000"}}) {
    const Ran ran = gateway(words);
    EXPECT_EQ(ran.status, kUsage) << ran.errors;
  }
  EXPECT_THAT(gateway({"-l", "9000"}).errors, HasSubstr("--to HOST:PORT beside the server"));
}

TEST_F(GatewayUsage, NeedsIpv4ForFtpOnly) {
  Process far = udtcat({"gridftp", "gateway", "-l", "127.0.0.1:0", "--to", "[::1]:2811"}, {.key = key_});
  expect_exit(far, kUnreachable, kAtOnce);
  expect_says(far, "IPv4");
  const GlobusServer server;
  Process listener = udtcat({"gridftp", "gateway", "-l", "[::1]:" + std::to_string(port_), "--to",
                             "localhost:" + std::to_string(server.port())},
                            {.key = key_});
  const std::uint16_t entrance = free_port();
  Process near =
      udtcat({"gridftp", "gateway", "::1", std::to_string(port_), "--from", std::to_string(entrance)}, {.key = key_});
  ASSERT_TRUE(accepts_tcp(entrance, kAtOnce)) << near.errors() << listener.errors();
  const auto source = home_.write("source", "bytes");
  const Ran ran = run({.argv = {"globus-url-copy", "ftp://127.0.0.1:" + std::to_string(entrance) + source.string(),
                                "file://" + (home_.path() / "target").string()}});
  EXPECT_EQ(ran.status, kSuccess) << ran.errors;
  EXPECT_EQ(read_file(home_.path() / "target"), "bytes");
}

TEST_F(GatewayUsage, InvitesTheOtherGateway) {
  const auto log = home_.path() / "log";
  const std::string command = std::string("exec ") + UDTCAT_BINARY +
                              " gridftp gateway -l 127.0.0.1:" + std::to_string(port_) + " --to 127.0.0.1:2811 2> " +
                              log.string();
  const Process far({.argv = {"script", "-qfec", command, (home_.path() / "screen").string()}});
  const std::string invitation = "udtcat gridftp gateway 127.0.0.1 " + std::to_string(port_) + " --from 2811\n";
  EXPECT_TRUE(eventually(kAtOnce, [&] { return read_file(log).find(invitation) != std::string::npos; }))
      << read_file(log);
}

}  // namespace
}  // namespace udtcat::test::e2e
