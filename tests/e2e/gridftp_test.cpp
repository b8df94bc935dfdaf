// SPDX-License-Identifier: Apache-2.0
/// Our client as a peer of stock Globus: real globus-gridftp-server, every file compared. Begun by src/gridftp/command.
#include <gmock/gmock.h>

#include "e2e/support/gridftp_test.hpp"

namespace udtcat::test::e2e {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class GridftpClientTest : public GridftpTest {
 protected:
  GlobusServer stock_;
};

TEST_F(GridftpTest, RefusesOptionsThatActElsewhere) {
  const std::string elsewhere = "server that sends";
  for (const auto& [arguments, named] :
       {std::pair{Arguments{"get", "--rate", "1M", "ftp://h/f", "."}, elsewhere},
        std::pair{Arguments{"copy", "--rate", "1M", "ftp://h/f", "ftp://g/f"}, elsewhere},
        std::pair{Arguments{"get", "--exec", "x", "ftp://h/f", "."}, std::string("--exec")}}) {
    const Ran refused = gridftp(arguments);
    EXPECT_EQ(refused.status, kUsage);
    EXPECT_THAT(refused.errors, AllOf(HasSubstr(arguments[1]), HasSubstr(named)));
  }
}

TEST_F(GridftpClientTest, GetsAndPutsFilesOfAnySizeOverAnyNumberOfConnections) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{1'048'576}, std::size_t{20'000'003}}) {
    const auto source = random_file("source", bytes);
    for (const char* connections : {"1", "4", "16"}) {
      const Ran down = gridftp({"get", "-p", connections, stock_.url(source), "got"});
      EXPECT_EQ(down.status, kSuccess) << down.errors;
      EXPECT_TRUE(read_file(here("got")) == read_file(source)) << bytes << " over " << connections;
      const Ran up = gridftp({"put", "-p", connections, source, stock_.url(here("put"))});
      EXPECT_EQ(up.status, kSuccess) << up.errors;
      EXPECT_TRUE(read_file(here("put")) == read_file(source)) << bytes << " over " << connections;
      std::filesystem::remove(here("got"));
      std::filesystem::remove(here("put"));
    }
  }
}

TEST_F(GridftpTest, GetsAndPutsFilesOverIpv6OverSeveralConnections) {
  const GlobusServer stock({}, {}, "::1");
  const auto source = random_file("source", 20'000'003);
  const Ran down = gridftp({"get", "-p", "4", stock.url(source), "got"});
  EXPECT_EQ(down.status, kSuccess) << down.errors;
  const Ran up = gridftp({"put", "-p", "4", source, stock.url(here("put"))});
  EXPECT_EQ(up.status, kSuccess) << up.errors;
  for (const char* name : {"got", "put"}) EXPECT_TRUE(read_file(here(name)) == read_file(source)) << name;
}

TEST_F(GridftpClientTest, GetsAndPutsAPartOfAFile) {
  const auto source = random_file("source", 3'000'000);
  const std::string content = read_file(source);
  EXPECT_EQ(gridftp({"get", "-p", "4", "--range", "1000000-2500000", stock_.url(source), "part"}).status, kSuccess);
  EXPECT_TRUE(read_file(here("part")) == content.substr(1'000'000, 1'500'000));
  const auto target = home_.write("target", std::string(3'000'000, 'x'));
  EXPECT_EQ(gridftp({"put", "--range", "1000000-2500000", source, stock_.url(target)}).status, kSuccess);
  EXPECT_TRUE(read_file(target).substr(1'000'000, 1'500'000) == content.substr(1'000'000, 1'500'000));
}

TEST_F(GridftpClientTest, TakesSeveralPortsOfItsOwnAndOfAServers) {
  const auto source = random_file("source", 20'000'003);
  for (const char* ports : {"1", "2", "3"}) {
    EXPECT_EQ(gridftp({"get", "-p", "2", "-s", ports, stock_.url(source), "got"}).status, kSuccess);
    EXPECT_TRUE(read_file(here("got")) == read_file(source)) << ports;
  }
  EXPECT_EQ(gridftp({"put", "-p", "2", "-s", "1", source, stock_.url(here("put"))}).status, kSuccess);
  EXPECT_TRUE(read_file(here("put")) == read_file(source));
}

TEST_F(GridftpClientTest, PutsBlocksInOrderForAPipe) {
  const auto source = random_file("source", 40'000'000);
  const std::string get =
      std::string(UDTCAT_BINARY) + " gridftp get -p 16 " + stock_.url(source) + " - | cmp - " + source.string();
  EXPECT_EQ(run({.argv = {"bash", "-o", "pipefail", "-c", get}}).status, kSuccess);
  const std::string put =
      "cat " + source.string() + " | " + UDTCAT_BINARY + " gridftp put -p 4 - " + stock_.url(here("put"));
  EXPECT_EQ(run({.argv = {"bash", "-o", "pipefail", "-c", put}}).status, kSuccess);
  EXPECT_TRUE(read_file(here("put")) == read_file(source));
}

TEST_F(GridftpClientTest, MovesManyFilesOverTheSameConnections) {
  constexpr int kFiles = 50;
  Arguments get{"get", "-v", "-v", "-p", "2"};
  Arguments put{"put", "-v", "-v", "-p", "2"};
  std::filesystem::create_directory(here("down"));
  std::filesystem::create_directory(here("up"));
  for (int i = 0; i < kFiles; ++i) {
    const auto file = random_file(std::to_string(i), 20'000 + static_cast<std::size_t>(i));
    get.push_back(stock_.url(file));
    put.push_back(file);
  }
  get.emplace_back("down");
  put.push_back(stock_.url(here("up")) + '/');
  const auto count = [](const std::string& text, const std::string& word) {
    int found = 0;
    for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at) ++found;
    return found;
  };
  const Ran down = gridftp(get);
  EXPECT_EQ(down.status, kSuccess) << down.errors.substr(0, 2000);
  EXPECT_EQ(count(down.errors, "> PORT"), 1) << "new connections only once";
  const Ran up = gridftp(put);
  EXPECT_EQ(up.status, kSuccess) << up.errors.substr(0, 2000);
  EXPECT_EQ(count(up.errors, "> PASV"), 1);
  for (int i = 0; i < kFiles; ++i) {
    const std::string content = read_file(here(std::to_string(i)));
    EXPECT_TRUE(read_file(here("down") / std::to_string(i)) == content) << i;
    EXPECT_TRUE(read_file(here("up") / std::to_string(i)) == content) << i;
  }
}

TEST_F(GridftpClientTest, HasTwoServersMeet) {
  GlobusServer other;
  const auto source = random_file("source", 20'000'003);
  for (const char* connections : {"1", "4"}) {
    const Ran ran = gridftp({"copy", "-p", connections, stock_.url(source), other.url(here("copied"))});
    EXPECT_EQ(ran.status, kSuccess) << ran.errors;
    EXPECT_TRUE(read_file(here("copied")) == read_file(source));
    std::filesystem::remove(here("copied"));
  }
}

TEST_F(GridftpClientTest, LeavesNothingUnderTheNameOfWhatDidNotCome) {
  const Ran ran = gridftp({"get", stock_.url(here("none")), "target"});
  EXPECT_NE(ran.status, kSuccess);
  EXPECT_THAT(ran.errors, HasSubstr("No such file"));
  EXPECT_FALSE(std::filesystem::exists(here("target")));
  EXPECT_FALSE(std::filesystem::exists(here("target.part"))) << "nor an empty beginning";
}

TEST_F(GridftpClientTest, SaysThatAStockServerCannotProtect) {
  const auto source = random_file("source", 1000);
  const Ran ran = gridftp({"get", "--clear-control", "-k", key_file(), stock_.url(source), "got"});
  EXPECT_NE(ran.status, kSuccess);
  EXPECT_THAT(ran.errors, HasSubstr("not whitelisted"));
  EXPECT_FALSE(std::filesystem::exists(here("got")));
}

TEST_F(GridftpTest, NamesWhatIsWrong) {
  EXPECT_THAT(gridftp({"get", "http://host/x", "y"}).errors, HasSubstr("ftp://"));
  EXPECT_THAT(gridftp({"--help"}).output, HasSubstr("--range"));
  EXPECT_THAT(gridftp({"fetch"}).errors, AllOf(HasSubstr("fetch"), HasSubstr("get, put, copy")));
  EXPECT_THAT(gridftp({"get", "ftp://host/x"}).errors, HasSubstr("needs a URL and a file"));
  EXPECT_THAT(gridftp({"get", "--range", "5", "ftp://host/x", "y"}).errors, HasSubstr("0-1048576"));
  EXPECT_THAT(gridftp({"get", "--over", "tcp", "-k", "key", "ftp://host/x", "y"}).errors,
              HasSubstr("nothing is protected"));
  EXPECT_THAT(gridftp({"get", "ftp://host/x", "ftp://host/y", "z"}).errors, HasSubstr("into a directory"));
  EXPECT_THAT(gridftp({"serve"}).errors, HasSubstr("--root"));
  EXPECT_THAT(gridftp({"serve", "--root", here("none")}).errors, HasSubstr("no such file"));
  EXPECT_EQ(gridftp({"get", "ftp://127.0.0.1:" + std::to_string(port_) + "/x", "y"}).status, kUnreachable);
}

}  // namespace
}  // namespace udtcat::test::e2e
