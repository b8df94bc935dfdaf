// SPDX-License-Identifier: Apache-2.0
/// Our server as a peer of stock Globus' client, of stock servers in third-party transfers, and of our own client;
/// every file compared.
#include <regex>
#include <tuple>

#include <gmock/gmock.h>

#include "e2e/support/gridftp_test.hpp"
#include "e2e/support/tcp_client.hpp"

namespace udtcat::test::e2e {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class GridftpServeTest : public GridftpTest {
 protected:
  static Arguments with(const char* verb, Arguments options, const Arguments& files) {
    options.insert(options.begin(), verb);
    options.insert(options.end(), files.begin(), files.end());
    return options;
  }
};

TEST_F(GridftpServeTest, ServesStockClientsFilesOfAnySize) {
  serve();
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{1'048'576}, std::size_t{20'000'003}}) {
    const auto source = random_file("source", bytes);
    for (const char* connections : {"1", "4", "16"}) {
      const Ran down = url_copy({"-p", connections, ours("source"), local(here("got"))});
      EXPECT_EQ(down.status, kSuccess) << down.errors;
      EXPECT_TRUE(read_file(here("got")) == read_file(source)) << bytes << " over " << connections;
      const Ran up = url_copy({"-p", connections, local(source), ours("put")});
      EXPECT_EQ(up.status, kSuccess) << up.errors;
      EXPECT_TRUE(read_file(here("put")) == read_file(source)) << bytes << " over " << connections;
      std::filesystem::remove(here("got"));
      std::filesystem::remove(here("put"));
    }
  }
}

TEST_F(GridftpServeTest, CarriesFilesOverIpv6OnSeveralConnections) {
  serve({"--third-party"}, "*");
  const std::string there = "ftp://[::1]:" + std::to_string(serve_port_) + '/';
  const auto source = random_file("source", 20'000'003);
  const auto expect_files = [&](const char* whose, const Ran& down, const Ran& up) {
    EXPECT_EQ(down.status, kSuccess) << whose << down.errors;
    EXPECT_EQ(up.status, kSuccess) << whose << up.errors;
    for (const char* name : {"got", "put"}) {
      EXPECT_TRUE(read_file(here(name)) == read_file(source)) << whose << name;
      std::filesystem::remove(here(name));
    }
  };
  expect_files("ours ", gridftp({"get", "-p", "4", there + "source", "got"}),
               gridftp({"put", "-p", "4", source, there + "put"}));
  expect_files("theirs ", url_copy({"-ipv6", "-p", "4", there + "source", local(here("got"))}),
               url_copy({"-ipv6", "-p", "4", local(source), there + "put"}));
  expect_files("between ", gridftp({"copy", "-p", "4", there + "source", there + "got"}),
               gridftp({"copy", "-p", "4", there + "source", there + "put"}));
  const Ran striped = gridftp({"get", "-s", "2", there + "source", "got"});
  EXPECT_EQ(striped.status, kUsage);
  EXPECT_THAT(striped.errors, HasSubstr("without --stripes"));
}

TEST_F(GridftpServeTest, ServesDirectoriesAndPartsOfFiles) {
  serve();
  std::filesystem::create_directory(here("tree"));
  std::filesystem::create_directory(here("tree/below"));
  const auto one = random_file("tree/one", 100'000);
  const auto two = random_file("tree/below/two", 200'000);
  const Ran down = url_copy({"-cd", "-r", ours("tree/"), local(here("copy")) + '/'});
  EXPECT_EQ(down.status, kSuccess) << down.errors;
  EXPECT_TRUE(read_file(here("copy/one")) == read_file(one));
  EXPECT_TRUE(read_file(here("copy/below/two")) == read_file(two));
  const Ran up = url_copy({"-cd", "-r", local(here("tree")) + '/', ours("again/")});
  EXPECT_EQ(up.status, kSuccess) << up.errors;
  EXPECT_TRUE(read_file(here("again/below/two")) == read_file(two));
  EXPECT_EQ(url_copy({"-off", "1000", "-len", "5000", ours("tree/one"), local(here("part"))}).status, kSuccess);
  EXPECT_TRUE(read_file(here("part")).substr(1000) == read_file(one).substr(1000, 5000));
}

TEST_F(GridftpServeTest, MeetsAStockServerBothWays) {
  serve();
  GlobusServer stock;
  const auto source = random_file("source", 20'000'003);
  const auto target = here("copied");
  for (const bool theirs : {true, false}) {
    const std::string from = theirs ? stock.url(source) : ours("source");
    const std::string to = theirs ? ours("copied") : stock.url(target);
    const Ran by_stock = url_copy({"-p", "4", from, to});
    EXPECT_EQ(by_stock.status, kSuccess) << by_stock.errors;
    EXPECT_TRUE(read_file(target) == read_file(source));
    std::filesystem::remove(target);
    const Ran by_us = gridftp({"copy", "-p", "4", from, to});
    EXPECT_EQ(by_us.status, kSuccess) << by_us.errors;
    EXPECT_TRUE(read_file(target) == read_file(source));
    std::filesystem::remove(target);
  }
}

TEST_F(GridftpServeTest, SpeaksPlainUdtWithStockServersAndWithOurClient) {
  serve();
  GlobusServer stock({"-threads", "2", "-dc-whitelist", "udt,tcp,gsi"});
  const auto source = random_file("source", 20'000'003);
  for (const char* connections : {"1", "4"}) {
    for (const auto& [from, to] :
         std::vector<std::pair<std::string, std::string>>{{stock.url(source), ours("copied")},
                                                          {ours("source"), stock.url(here("copied"))},
                                                          {stock.url(source), stock.url(here("copied"))}}) {
      const Ran ran = gridftp({"copy", "--over", "udt", "-p", connections, from, to});
      EXPECT_EQ(ran.status, kSuccess) << from << ' ' << ran.errors;
      EXPECT_TRUE(read_file(here("copied")) == read_file(source));
      std::filesystem::remove(here("copied"));
    }
    for (const std::string& url : {stock.url(source), ours("source")}) {
      EXPECT_EQ(gridftp({"get", "--over", "udt", "-p", connections, url, "got"}).status, kSuccess) << url;
      EXPECT_TRUE(read_file(here("got")) == read_file(source));
      std::filesystem::remove(here("got"));
    }
    const Ran put = gridftp({"put", "--over", "udt", "-p", connections, source, stock.url(here("put"))});
    EXPECT_EQ(put.status, kSuccess) << put.errors;
    EXPECT_TRUE(read_file(here("put")) == read_file(source));
    std::filesystem::remove(here("put"));
  }
}

TEST_F(GridftpServeTest, ProtectsDataForWhoHasTheKey) {
  serve({"--auth", "anonymous", "-k", key_file(), "--protect", "auth"});
  const auto source = random_file("source", 20'000'003);
  for (const char* level : {"private", "safe", "auth"})
    for (const char* connections : {"1", "4"}) {
      const Arguments sealed{"--clear-control", "-k", key_file(), "--protect", level, "-p", connections};
      const Ran down = gridftp(with("get", sealed, {ours("source"), "got"}));
      EXPECT_EQ(down.status, kSuccess) << level << down.errors;
      EXPECT_TRUE(read_file(here("got")) == read_file(source));
      const Ran up = gridftp(with("put", sealed, {source, ours("put")}));
      EXPECT_EQ(up.status, kSuccess) << level << up.errors;
      EXPECT_TRUE(read_file(here("put")) == read_file(source));
      std::filesystem::remove(here("got"));
      std::filesystem::remove(here("put"));
    }
}

TEST_F(GridftpServeTest, OffersProtectionWithoutAskingForItWhereItIsToldSo) {
  serve({"--auth", "anonymous", "-k", key_file(), "--protect", "clear"});
  const auto source = random_file("source", 1'000'000);
  EXPECT_EQ(url_copy({ours(source.filename()), local(here("clear"))}).status, kSuccess);
  const Ran ran = gridftp({"get", "--clear-control", "-k", key_file(), ours(source.filename()), "private"});
  EXPECT_EQ(ran.status, kSuccess) << ran.errors;
  EXPECT_TRUE(read_file(here("clear")) == read_file(source) && read_file(here("private")) == read_file(source));
}

/// A server and a client with key pairs.
class GridftpPairs : public GridftpServeTest {
 protected:
  std::string make_pair(const std::string& name) const {
    const Ran made = run({.argv = {UDTCAT_BINARY, "keygen", "--pair", here(name).string()}});
    return made.output.substr(0, made.output.find('\n'));
  }
  void list(const std::string& purpose) const { home_.write("peers", "alice " + alice_ + " " + purpose + "\n"); }
  [[nodiscard]] Process start_server() const {
    return start_gridftp({"serve", "--root", home_.path(), "-l", "127.0.0.1:" + std::to_string(serve_port_), "-k",
                          here("server"), "--peers", here("peers"), "-v"});
  }
  [[nodiscard]] Arguments words(const char* verb, Arguments files) const {
    return with(verb, {"-k", here("alice"), "--peer", server_key_, "-p", "4"}, files);
  }
  const std::string server_key_ = make_pair("server");
  const std::string alice_ = make_pair("alice");
  const std::string url_ = "udtcat://127.0.0.1:" + std::to_string(serve_port_) + '/';
};

TEST_F(GridftpPairs, CarryFilesForWhomTheListAllowsIt) {
  list("gridftp");
  const auto source = random_file("source", 5'000'000);
  Process server = start_server();
  const Ran down = gridftp(words("get", {url_ + "source", "got"}));
  EXPECT_EQ(down.status, kSuccess) << down.errors << server.errors();
  EXPECT_EQ(gridftp(words("put", {source, url_ + "put"})).status, kSuccess) << server.errors();
  EXPECT_TRUE(read_file(here("got")) == read_file(source) && read_file(here("put")) == read_file(source));
  expect_says(server, " is alice");
  list("pipe");
  server.send_signal(SIGHUP);
  expect_says(server, "again: 1 peer");
  EXPECT_EQ(gridftp(words("get", {url_ + "source", "not"})).status, kRefused);
}

TEST_F(GridftpPairs, AreCutOffInTheMiddleOfAFile) {
  list("gridftp");
  Process server = start_server();
  Producer producer(1, kMiB, Producer::Afterwards::keep_open);
  Arguments put = words("put", {"--retries", "0", "-", url_ + "put"});
  put.insert(put.begin(), "gridftp");
  Process client = udtcat(put, {.in = producer.take_stdin()});
  ASSERT_TRUE(eventually(kAtOnce, [&] { return std::filesystem::exists(here("put.part")); })) << server.errors();
  list("rsh");
  server.send_signal(SIGHUP);
  EXPECT_TRUE(eventually(patience(std::chrono::seconds(2)), [&] { return count_lines(server, " left") == 1; }))
      << server.errors();
  EXPECT_TRUE(client.wait(kAtOnce)) << client.errors() << server.errors();
  EXPECT_TRUE(server.running());
}

TEST_F(GridftpServeTest, LetsInOnlyWhoHasTheKeyWhereItIsAskedFor) {
  const auto source = random_file("source", 5'000'000);
  Process server = start_gridftp({"serve", "--root", home_.path(), "-l", "127.0.0.1:" + std::to_string(serve_port_),
                                  "--auth", "key", "-k", key_file()});
  const std::string url = "udtcat://127.0.0.1:" + std::to_string(serve_port_) + '/';
  const Ran down = gridftp({"get", "-k", key_file(), "-p", "4", url + "source", "got"});
  EXPECT_EQ(down.status, kSuccess) << down.errors << server.errors();
  EXPECT_TRUE(read_file(here("got")) == read_file(source));
  const Ran up = gridftp({"put", "-k", key_file(), source, url + "put"});
  EXPECT_EQ(up.status, kSuccess) << up.errors;
  EXPECT_TRUE(read_file(here("put")) == read_file(source));
  const std::string other = home_.write("other", make_key());
  EXPECT_EQ(gridftp({"get", "-k", other, url + "source", "not"}).status, kRefused);
  const TcpClient ftp_client(serve_port_, kAtOnce);
  EXPECT_TRUE(ftp_client.send("USER anonymous\r\n"));
  EXPECT_EQ(ftp_client.receive(1), "");
}

bool has_open(const Process& process, const std::filesystem::path& file) {
  std::error_code gone;  // a descriptor may be closed while one looks
  for (const auto& each : std::filesystem::directory_iterator("/proc/" + std::to_string(process.pid()) + "/fd"))
    if (std::filesystem::read_symlink(each, gone) == file) return true;
  return false;
}

TEST_F(GridftpServeTest, DoesNotLetAStockClientTakeAShortenedFileForWhole) {
  serve({"-v", "-v"});
  constexpr std::uintmax_t kLong = 6'000'000'000;  // a hole: seconds to send, nothing to store
  const auto source = random_file("source", 0);
  std::filesystem::resize_file(source, kLong);
  Process client({.argv = {"globus-url-copy", ours("source"), local("/dev/null")}});
  EXPECT_TRUE(eventually(kAtOnce, [&] { return has_open(*server_, source); })) << server_->errors();
  std::filesystem::resize_file(source, kLong / 2);
  const auto ended = client.wait(kTransferLimit);
  ASSERT_TRUE(ended);
  EXPECT_NE(ended->status, kSuccess);
  expect_says(client, "451");
}

TEST_F(GridftpServeTest, ServesPlainFtpClients) {
  serve();
  const auto source = random_file("source", 5'000'000);
  EXPECT_EQ(run({.argv = {"curl", "-sS", ours("source"), "-o", here("got")}}).status, kSuccess);
  EXPECT_TRUE(read_file(here("got")) == read_file(source));
  EXPECT_EQ(run({.argv = {"curl", "-sS", "-T", source, ours("put")}}).status, kSuccess);
  EXPECT_TRUE(read_file(here("put")) == read_file(source));
  EXPECT_THAT(run({.argv = {"curl", "-sS", ours("")}}).output, HasSubstr("source"));
}

TEST_F(GridftpServeTest, TellsACopyHowFarItIs) {
  serve({"--rate", "16M"});
  std::ignore = random_file("source", 8'000'000);
  const Ran ran = gridftp({"copy", "--over", "udt", "--progress", ours("source"), ours("copied")});
  EXPECT_EQ(ran.status, kSuccess) << ran.errors;
  EXPECT_TRUE(std::regex_search(ran.errors, std::regex(R"(\[ [1-9]\d %\] [\d.]+ MB of 8\.00 MB)"))) << ran.errors;
}

TEST_F(GridftpServeTest, KnowsWhyATransferIsNotFasterWhereItsOwnTransportCarriesIt) {
  serve({"--auth", "anonymous", "--anonymous-writable", "-k", key_file(), "--protect", "clear", "--rate", "20M"});
  std::ignore = random_file("source", 3'000'000);
  const Arguments asks{"--why", "--stats", "json"};
  const Arguments sealed{"--why", "--stats", "json", "--clear-control", "-k", key_file()};
  const Ran get = gridftp(with("get", sealed, {ours("source"), "got"}));
  EXPECT_THAT(get.errors, AllOf(HasSubstr("udtcat: since it began, limited by --rate 20.0 Mbit/s there\n"),
                                HasSubstr("\"limited_by\":\"peer_rate_cap\"")));
  const Ran put = gridftp(with("put", sealed, {"--rate", "10M", here("source"), ours("put")}));
  EXPECT_THAT(put.errors, HasSubstr("\"limited_by\":\"rate_cap\""));
  const Ran udt = gridftp(with("put", asks, {"--over", "udt", "--rate", "10M", here("source"), ours("udt")}));
  EXPECT_THAT(udt.errors, HasSubstr("\"limited_by\":\"rate_cap\""));
  for (const Arguments& elsewhere : {with("get", asks, {ours("source"), "tcp"}),
                                     with("copy", asks, {"--over", "udt", ours("source"), ours("copied")})})
    EXPECT_THAT(gridftp(elsewhere).errors, HasSubstr("udtcat: what limits is not known: nobody has measured it\n"));
}

TEST_F(GridftpServeTest, EndsACopyThatTheTargetRefuses) {
  serve({"--read-only"});
  GlobusServer stock;
  const auto source = random_file("source", 64'000'000);
  const Ran ran = gridftp({"copy", "-p", "2", stock.url(source), ours("target")});
  EXPECT_EQ(ran.status, kReadOrWriteFailed);
  EXPECT_THAT(ran.errors, HasSubstr("read-only"));
}

TEST_F(GridftpServeTest, SaysWhyItTookNoMore) {
  serve();
  std::filesystem::create_directory(here("target.part"));
  const auto source = random_file("source", 20'000'000);
  const Ran ran = gridftp({"put", "-p", "4", source, ours("target")});
  EXPECT_EQ(ran.status, kReadOrWriteFailed);
  EXPECT_THAT(ran.errors, HasSubstr("is a directory"));
}

}  // namespace
}  // namespace udtcat::test::e2e
