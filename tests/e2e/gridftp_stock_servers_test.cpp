// SPDX-License-Identifier: Apache-2.0
/// Our GridFTP client at the servers of five other makes; every file compared.
#include <csignal>
#include <fstream>

#include <gmock/gmock.h>

#include "e2e/support/gridftp_test.hpp"
#include "e2e/support/stock_ftp_server.hpp"
#include "support/deadline.hpp"

namespace udtcat::test::e2e {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

/// A name, and how a URL writes it.
struct StrangeName {
  std::string plain;
  std::string encoded;
};

/// Globus' server drops every byte that is not ASCII, so that two names may become one.
std::vector<StrangeName> strange_names(Make make) {
  std::vector<StrangeName> names{{"two words", "two%20words"}, {"-dash", "-dash"}, {"it's \"it\"", "it's%20%22it%22"},
                                 {"100%41", "100%2541"},       {" led", "%20led"}, {"a;b#c?d", "a%3Bb%23c%3Fd"},
                                 {"[x]*", "%5Bx%5D%2A"}};
  if (make != Make::globus) names.push_back({"\xc3\xbcml\xc3\xa4ut", "%C3%BCml%C3%A4ut"});
  return names;
}

class StockServers : public GridftpTest, public testing::WithParamInterface<Make> {
 protected:
  void SetUp() override {
    if (!Namespaces::allowed()) GTEST_SKIP() << "only root may start these servers";
  }
  /// A file of the server's, which its user may replace.
  static std::filesystem::path offer(const StockFtpServer& server, const std::string& name,
                                     const std::string& content) {
    const auto file = server.file(name);
    std::filesystem::create_directories(file.parent_path());
    std::filesystem::permissions(file.parent_path(), std::filesystem::perms::all);
    std::ofstream(file, std::ios::binary) << content;
    std::filesystem::permissions(file, std::filesystem::perms(0666));
    return file;
  }
  /// Puts a tree of "a", "c" and what is refused, since `in_the_way` is there.
  void expect_the_rest(const std::vector<std::string>& names, const std::string& in_the_way,
                       const std::string& says) const {
    const StockFtpServer server(GetParam());
    offer(server, in_the_way, "theirs");
    std::filesystem::permissions(server.file("copy"), std::filesystem::perms::all);
    for (const std::string& name : names) {
      std::filesystem::create_directories(here(name).parent_path());
      home_.write(name, "content");
    }
    const Ran up = gridftp({"put", "-r", "tree", server.url("copy")});
    EXPECT_EQ(up.status, kReadOrWriteFailed) << up.errors;
    EXPECT_THAT(up.errors, HasSubstr(says));
    EXPECT_EQ(read_file(server.file("copy/a")), "content");
    EXPECT_EQ(read_file(server.file("copy/c")), "content");
  }
  void expect_both_ways(const StockFtpServer& server, const std::filesystem::path& network_namespace) const {
    const auto content = read_file(random_file("source", 300'000));
    offer(server, "theirs", content);
    const auto ended = [&](Arguments words) {
      words.insert(words.begin(), {UDTCAT_BINARY, "gridftp"});
      return run({.argv = std::move(words), .working_directory = home_.path(), .network_namespace = network_namespace});
    };
    const Ran down = ended({"get", "--retries", "0", server.url("theirs"), "got"});
    EXPECT_EQ(down.status, kSuccess) << down.errors;
    EXPECT_TRUE(read_file(here("got")) == content);
    const Ran up = ended({"put", "--retries", "0", "source", server.url("put")});
    EXPECT_EQ(up.status, kSuccess) << up.errors;
    EXPECT_TRUE(read_file(server.file("put")) == content);
  }
};

TEST_P(StockServers, GiveAndTakeFilesOfAnySize) {
  const StockFtpServer server(GetParam());
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{65'536}, std::size_t{5'000'003}}) {
    const auto source = random_file("source", bytes);
    const Ran up = gridftp({"put", source, server.url("file")});
    EXPECT_EQ(up.status, kSuccess) << bytes << ' ' << up.errors;
    EXPECT_TRUE(read_file(server.file("file")) == read_file(source)) << bytes;
    const Ran down = gridftp({"get", server.url("file"), "got"});
    EXPECT_EQ(down.status, kSuccess) << bytes << ' ' << down.errors;
    EXPECT_TRUE(std::filesystem::exists(here("got")) && read_file(here("got")) == read_file(source)) << bytes;
  }
}

TEST_P(StockServers, KeepNamesAsTheyAre) {
  const StockFtpServer server(GetParam());
  for (const auto& [plain, encoded] : strange_names(GetParam())) {
    const auto source = home_.write("source", "put as " + plain);
    const Ran up = gridftp({"put", source, server.url(encoded)});
    EXPECT_EQ(up.status, kSuccess) << plain << ' ' << up.errors;
    EXPECT_EQ(read_file(server.file(plain)), read_file(source)) << plain;
    const Ran down = gridftp({"get", server.url(encoded), "got"});
    EXPECT_EQ(down.status, kSuccess) << plain << ' ' << down.errors;
    EXPECT_EQ(read_file(here("got")), read_file(source)) << plain;
  }
}

TEST_P(StockServers, TakeATree) {
  const StockFtpServer server(GetParam());
  std::filesystem::create_directories(here("tree/below the top/empty"));
  for (const auto& [plain, encoded] : strange_names(GetParam())) home_.write("tree/below the top/" + plain, plain);
  home_.write("tree/nothing", "");
  const Ran up = gridftp({"put", "-r", "tree", server.url("copy")});
  EXPECT_EQ(up.status, kSuccess) << up.errors;
  for (const auto& [plain, encoded] : strange_names(GetParam()))
    EXPECT_EQ(read_file(server.file("copy/below the top/" + plain)), plain);
  EXPECT_TRUE(std::filesystem::is_empty(server.file("copy/nothing")));
  EXPECT_TRUE(std::filesystem::is_directory(server.file("copy/below the top/empty")));
}

TEST_P(StockServers, GiveATreeWhereTheyKnowMlsd) {
  const StockFtpServer server(GetParam());
  for (const auto& [plain, encoded] : strange_names(GetParam())) offer(server, "tree/below the top/" + plain, plain);
  offer(server, "tree/nothing", "");
  std::filesystem::create_directory(server.file("tree/empty"));
  const Ran down = gridftp({"get", "-r", server.url("tree"), "copy"});
  if (GetParam() == Make::vsftpd) {
    EXPECT_EQ(down.status, kReadOrWriteFailed);
    EXPECT_THAT(down.errors, HasSubstr("MLSD"));
    return;
  }
  EXPECT_EQ(down.status, kSuccess) << down.errors;
  for (const auto& [plain, encoded] : strange_names(GetParam()))
    EXPECT_EQ(read_file(here("copy/below the top/" + plain)), plain);
  EXPECT_TRUE(std::filesystem::is_empty(here("copy/nothing")));
  EXPECT_TRUE(std::filesystem::is_directory(here("copy/empty")));
}

TEST_P(StockServers, GiveTheRestOfATreeWhereAFileMayNotBeRead) {
  if (GetParam() == Make::vsftpd) return;  // it knows no MLSD: see above
  const StockFtpServer server(GetParam());
  for (const char* name : {"tree/a", "tree/b", "tree/c/d"}) offer(server, name, "content");
  std::filesystem::permissions(server.file("tree/a"), std::filesystem::perms::none);
  const Ran down = gridftp({"get", "-r", server.url("tree"), "copy"});
  EXPECT_EQ(down.status, kReadOrWriteFailed) << down.errors;
  EXPECT_THAT(down.errors, HasSubstr("missing: 1 of 3 files: as said above"));
  EXPECT_EQ(read_file(here("copy/b")), "content");
  EXPECT_EQ(read_file(here("copy/c/d")), "content");
  EXPECT_FALSE(std::filesystem::exists(here("copy/a")));
}

TEST_P(StockServers, TakeTheRestOfATreeWhereAFileIsRefused) {
  expect_the_rest({"tree/a", "tree/b", "tree/c"}, "copy/b/in the way", "missing: 1 of 3 files: as said above");
}

TEST_P(StockServers, TakeTheRestOfATreeWhereADirectoryIsRefused) {
  expect_the_rest({"tree/a", "tree/b/below/x", "tree/c"}, "copy/b",
                  "missing: 2 of 2 directories, and 1 file in them: as said above");
}

TEST_P(StockServers, AreQuotedWhereAFileIsMissingAndNothingIsLeftOfIt) {
  const StockFtpServer server(GetParam());
  const Ran down = gridftp({"get", server.url("no%20such"), "got"});
  EXPECT_EQ(down.status, kReadOrWriteFailed);
  EXPECT_THAT(down.errors, AllOf(HasSubstr("no such"), HasSubstr("5")));
  for (const auto& entry : std::filesystem::directory_iterator(home_.path())) ADD_FAILURE() << entry.path();
}

TEST_P(StockServers, AreQuotedWhereNobodyMayWrite) {
  const StockFtpServer server(GetParam());
  const auto source = home_.write("source", "content");
  for (const std::string& url : {server.top_url("denied"), server.url("no/such/directory")}) {
    const Ran up = gridftp({"put", source, url});
    EXPECT_EQ(up.status, kReadOrWriteFailed) << up.errors;
    EXPECT_THAT(up.errors, AllOf(HasSubstr("STOR"), AnyOf(HasSubstr(": 55"), HasSubstr(": 500 Command failed")),
                                 Not(HasSubstr("attempt"))))
        << server.errors();
  }
}

TEST_P(StockServers, GiveARangeOrItIsSaidWhyNot) {
  const StockFtpServer server(GetParam());
  const auto source = random_file("source", 1'000'000);
  offer(server, "file", read_file(source));
  const Ran down = gridftp({"get", "--range", "1000-51000", server.url("file"), "got"});
  if (GetParam() == Make::globus) {
    EXPECT_EQ(down.status, kSuccess) << down.errors;
    EXPECT_TRUE(read_file(here("got")) == read_file(source).substr(1000, 50'000));
  } else {
    EXPECT_EQ(down.status, kUsage) << down.errors;
    EXPECT_THAT(down.errors, HasSubstr("does not speak MODE E"));
    EXPECT_FALSE(std::filesystem::exists(here("got")));
  }
}

INSTANTIATE_TEST_SUITE_P(Of, StockServers,
                         testing::Values(Make::globus, Make::proftpd, Make::pure_ftpd, Make::pyftpdlib, Make::vsftpd),
                         [](const auto& made) { return name_of(made.param); });

/// They drop what is not ASCII from each command: there is a file, by another name.
class ServersThatDropBytes : public StockServers {};

TEST_P(ServersThatDropBytes, AreNotBelievedWhereTheyChangeAName) {
  const StockFtpServer server(GetParam());
  home_.write("source", "content");
  const Ran up = gridftp({"put", "source", server.url("%C3%BCml%C3%A4ut")});
  EXPECT_EQ(up.status, kReadOrWriteFailed) << up.errors;
  EXPECT_THAT(up.errors, AllOf(HasSubstr("the server has it as"), HasSubstr("mlut"), Not(HasSubstr("attempt"))));
  const Ran down = gridftp({"get", server.url("%C3%BCml%C3%A4ut"), "got"});
  EXPECT_EQ(down.status, kReadOrWriteFailed) << down.errors;
  EXPECT_THAT(down.errors, AllOf(HasSubstr("the server has it as"), HasSubstr("mlut")));
  std::filesystem::create_directories(here("tree/d\xc3\xbcr"));
  home_.write("tree/d\xc3\xbcr/file", "content");
  const Ran tree = gridftp({"put", "-r", "tree", server.url("copy")});
  EXPECT_EQ(tree.status, kReadOrWriteFailed) << tree.errors;
  EXPECT_THAT(tree.errors, AllOf(HasSubstr("make the directory"), HasSubstr("the server has it as")));
}

INSTANTIATE_TEST_SUITE_P(Of, ServersThatDropBytes, testing::Values(Make::globus),
                         [](const auto& made) { return name_of(made.param); });

// ---- What only those in stream mode do ------------------------------------------------------------------------------

class PlainFtpServers : public StockServers {
 protected:
  static constexpr std::size_t kBytes = 4'000'000;
  static constexpr unsigned kSlow = 1500;
  /// Runs it until so much of `part` is there, and stops it.
  void stop_when(const Arguments& words, const std::filesystem::path& part, std::uintmax_t bytes) const {
    Process process = start_gridftp(words);
    const auto size_now = [&] {
      std::error_code absent;
      const auto size = std::filesystem::file_size(part, absent);
      return absent ? 0 : size;
    };
    EXPECT_TRUE(eventually(std::chrono::seconds(30), [&] { return size_now() >= bytes || !process.running(); }));
    process.send_signal(SIGTERM);
    const auto ending = process.wait(std::chrono::seconds(30));
    ASSERT_TRUE(ending);
    ASSERT_EQ(ending->status, kTerminated) << process.errors();
  }
};

TEST_P(PlainFtpServers, GoOnWithAGetThatWasStopped) {
  const StockFtpServer server(GetParam(), {.kilobytes_per_second = kSlow});
  const auto source = random_file("source", kBytes);
  offer(server, "file", read_file(source));
  const Arguments get{"get", "-v", server.url("file"), "got"};
  stop_when(get, here("got.part"), kBytes / 4);
  const Ran again = gridftp(get);
  EXPECT_EQ(again.status, kSuccess) << again.errors;
  EXPECT_THAT(again.errors, HasSubstr("going on with"));
  EXPECT_TRUE(read_file(here("got")) == read_file(source));
}

TEST_P(PlainFtpServers, TakeAPutAgainThatWasStopped) {
  const StockFtpServer server(GetParam(), {.kilobytes_per_second = kSlow});
  const auto source = random_file("source", kBytes);
  const Arguments put{"put", source, server.url("file")};
  stop_when(put, server.file("file"), kBytes / 4);
  std::filesystem::permissions(server.file("file"), std::filesystem::perms(0666));
  const Ran again = gridftp(put);
  EXPECT_EQ(again.status, kSuccess) << again.errors;
  EXPECT_TRUE(read_file(server.file("file")) == read_file(source));
}

TEST_P(PlainFtpServers, AreReachedWhereTheySayAnAddressOfTheirPrivateNetwork) {
  const Namespaces hosts;
  const std::string outside = "203.0.113.2";
  for (const auto& [host, address] :
       {std::pair(hosts.near_host(), std::string("203.0.113.1")), std::pair(hosts.far_host(), outside)})
    ASSERT_EQ(run({.argv = {"ip", "-n", host.name, "address", "add", address + "/24", "dev", "veth"}}).status, 0);
  const StockFtpServer server(
      GetParam(), {.address = outside, .network_namespace = hosts.far_host().file, .address_in_pasv = "192.168.213.7"});
  expect_both_ways(server, hosts.near_host().file);
}

TEST_P(PlainFtpServers, AreReachedFromOnePrivateNetworkWhereTheySayAnAddressOfAnother) {
  const Namespaces hosts;
  const StockFtpServer server(GetParam(), {.address = hosts.far_host().ipv4,
                                           .network_namespace = hosts.far_host().file,
                                           .address_in_pasv = "192.168.213.7"});
  expect_both_ways(server, hosts.near_host().file);
}

INSTANTIATE_TEST_SUITE_P(Of, PlainFtpServers,
                         testing::Values(Make::proftpd, Make::pure_ftpd, Make::pyftpdlib, Make::vsftpd),
                         [](const auto& made) { return name_of(made.param); });

/// A filter that lets no connection of the server's out: only passive data connections work.
class FilteredServers : public StockServers {};

TEST_P(FilteredServers, GiveAndTakeFilesOnPassiveConnections) {
  const Namespaces hosts;
  const Ran filtered =
      run({.argv = {"nft",
                    "table ip f { chain o { type filter hook output priority 0; oif veth tcp flags & (syn|ack) "
                    "== syn reject with tcp reset; }; }"},
           .network_namespace = hosts.far_host().file});
  ASSERT_EQ(filtered.status, 0) << filtered.errors;
  const StockFtpServer server(GetParam(),
                              {.address = hosts.far_host().ipv4, .network_namespace = hosts.far_host().file});
  expect_both_ways(server, hosts.near_host().file);
}

INSTANTIATE_TEST_SUITE_P(Of, FilteredServers,
                         testing::Values(Make::globus, Make::proftpd, Make::pure_ftpd, Make::pyftpdlib, Make::vsftpd),
                         [](const auto& made) { return name_of(made.param); });

}  // namespace
}  // namespace udtcat::test::e2e
