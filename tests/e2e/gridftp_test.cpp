// SPDX-License-Identifier: Apache-2.0
/// src/gridftp/command: our client as a peer of stock Globus, of our server and of plain FTP servers: files, and
/// directories with all that is below them. Every file is compared.
#include <csignal>

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "e2e/support/gridftp_test.hpp"
#include "e2e/support/line_relay.hpp"
#include "support/deadline.hpp"

namespace udtcat::test::e2e {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

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

class GridftpTreeTest : public GridftpTest {
 protected:
  void SetUp() override {
    GridftpTest::SetUp();
    std::filesystem::create_directories(here("tree/a/b/c"));
    std::filesystem::create_directories(here("tree/empty"));
    home_.write("tree/file", "content");
    home_.write("tree/a/with blank;", "more");
    home_.write("tree/a/none", "");
    std::ignore = random_file("tree/a/b/c/big", 3'000'000);  // its place is known
  }
  /// Both trees are the same.
  void expect_same(const std::string& one, const std::string& other) const {
    const Ran ran = run({.argv = {"diff", "-r", here(one).string(), here(other).string()}});
    EXPECT_EQ(ran.status, 0) << ran.output << ran.errors;
  }
  void add_links() const {
    home_.write("secret", "outside");
    std::filesystem::create_symlink("../secret", here("tree/link"));
    std::filesystem::create_directory_symlink("..", here("tree/up"));
    ASSERT_EQ(::mkfifo(here("tree/a/pipe").c_str(), 0600), 0);
  }
};

TEST_F(GridftpTreeTest, GoesToAndFromOurServer) {
  serve();
  for (int twice = 0; twice < 2; ++twice) {
    const Ran get = gridftp({"get", "--recursive", ours("tree/"), "got/"});
    EXPECT_EQ(get.status, kSuccess) << get.errors;
    expect_same("tree", "got");
    const Ran put = gridftp({"put", "--recursive", "tree/", ours("put/")});
    EXPECT_EQ(put.status, kSuccess) << put.errors;
    expect_same("tree", "put");
  }
  EXPECT_EQ(url_copy({"-r", ours("tree/"), local(here("theirs")) + '/'}).status, kSuccess);
  expect_same("tree", "theirs");
}

TEST_F(GridftpTreeTest, IsToldFromAFileByAHint) {
  serve();
  const auto complaint = [&](const Arguments& words) { return gridftp(words).errors; };
  EXPECT_THAT(complaint({"get", ours("tree"), "got"}), HasSubstr("is a directory; -r is for directories"));
  EXPECT_THAT(complaint({"get", "-r", ours("tree/file"), "got"}),
              HasSubstr("not a directory; for a file leave -r out"));
  EXPECT_THAT(complaint({"put", "tree", ours("put")}), HasSubstr("is a directory; -r is for directories"));
  EXPECT_THAT(complaint({"put", "-r", "tree/file", ours("put")}),
              HasSubstr("not a directory; for a file leave -r out"));
}

TEST_F(GridftpTreeTest, OverTcpIsNotMeasuredAsALineSays) {
  serve();
  const Ran ran = gridftp({"get", "--why", ours("tree/file"), "got"});
  EXPECT_EQ(ran.status, kSuccess);
  EXPECT_THAT(ran.errors, HasSubstr("--why: nobody measures a path over tcp; --over udt, or a key"));
}

TEST_F(GridftpTreeTest, GoesOverUdtAndSessions) {
  const std::string key = key_file();
  serve({"-k", key, "--protect", "clear"});
  for (const Arguments& over : {Arguments{"--over", "udt"}, Arguments{"-k", key, "--clear-control"}}) {
    Arguments get{"get", "-r", ours("tree"), "got"};
    get.insert(get.begin() + 1, over.begin(), over.end());
    Arguments put{"put", "-r", "tree", ours("put")};
    put.insert(put.begin() + 1, over.begin(), over.end());
    for (const Arguments& words : {get, put}) {
      const Ran ran = gridftp(words);
      EXPECT_EQ(ran.status, kSuccess) << ran.errors;
    }
    expect_same("tree", "got");
    expect_same("tree", "put");
    std::filesystem::remove_all(here("got"));
    std::filesystem::remove_all(here("put"));
  }
}

TEST_F(GridftpTreeTest, GoesInStreamModeWhereTheServerHasNoOther) {
  serve();
  const LineRelay plain(
      serve_port_, [](const std::string& line) { return line == "MODE E\r\n" ? "MODE B\r\n" : line; },
      [](const std::string& line) { return line; });
  const std::string root = "ftp://127.0.0.1:" + std::to_string(plain.port()) + '/';
  const Ran get = gridftp({"get", "-v", "-r", root + "tree", "got"});
  EXPECT_EQ(get.status, kSuccess) << get.errors;
  EXPECT_THAT(get.errors, HasSubstr("does not speak MODE E"));
  const Ran put = gridftp({"put", "-r", "tree", root + "put"});
  EXPECT_EQ(put.status, kSuccess) << put.errors;
  expect_same("tree", "got");
  expect_same("tree", "put");
}

TEST_F(GridftpTreeTest, HasTheNameThatItHasThereWhereNoOtherIsGiven) {
  serve({"--read-only"});
  std::filesystem::create_directory(here("here"));
  const Ran get =
      run({.argv = {UDTCAT_BINARY, "gridftp", "get", "-r", ours("tree")}, .working_directory = here("here")});
  EXPECT_EQ(get.status, kSuccess) << get.errors;
  expect_same("tree", "here/tree");
  for (const Arguments& words :
       {Arguments{"get", "-r", ours("")}, Arguments{"get", "-r", ours("tree"), "-"}, Arguments{"put", "-r", "tree"},
        Arguments{"put", "-r", "a", "b", ours("")}, Arguments{"get", "-r", "--range", "0-1", ours("tree"), "got"},
        Arguments{"copy", "-r", ours("tree"), ours("other")}})
    EXPECT_EQ(gridftp(words).status, kUsage) << words.front();
}

TEST_F(GridftpTreeTest, PassesOverLinksAndPipesAndSaysHowMany) {
  const GlobusServer stock;
  serve();
  add_links();
  const Ran from_stock = gridftp({"get", "-r", stock.url(here("tree")), "got"});
  EXPECT_EQ(from_stock.status, kSuccess) << from_stock.errors;
  EXPECT_THAT(from_stock.errors, HasSubstr("1 symbolic link is passed over, as FTP has no form for that: "));
  EXPECT_THAT(from_stock.errors, HasSubstr("1 special file is passed over, as FTP has no form for that: a/pipe"));
  const Ran from_ours = gridftp({"get", "-r", ours("tree"), "got2"});
  EXPECT_EQ(from_ours.status, kSuccess) << from_ours.errors;
  EXPECT_THAT(from_ours.errors, HasSubstr("1 special file is passed over"));
  const Ran put = gridftp({"put", "-r", "tree", ours("put")});
  EXPECT_EQ(put.status, kSuccess) << put.errors;
  EXPECT_THAT(put.errors, HasSubstr("2 symbolic links are passed over"));
  for (const char* tree : {"got", "got2"}) {
    EXPECT_EQ(read_file(here(tree) / "link"), "outside") << "a link to a file is that file";
    std::filesystem::remove(here(tree) / "link");
  }
  for (const char* name : {"link", "up", "a/pipe"}) {
    EXPECT_FALSE(std::filesystem::exists(here("got") / name)) << name;
    std::filesystem::remove(here("tree") / name);
  }
  for (const char* tree : {"got", "got2", "put"}) expect_same("tree", tree);
}

TEST_F(GridftpTreeTest, WritesNothingBehindLocalLinks) {
  serve();
  for (const char* name : {"a", "file"}) {
    std::filesystem::create_directories(here("got"));
    std::filesystem::create_directories(here("outside"));
    std::filesystem::create_symlink(here("outside"), here("got") / name);
    const Ran get = gridftp({"get", "-r", ours("tree"), "got"});
    EXPECT_EQ(get.status, kReadOrWriteFailed) << get.errors;
    EXPECT_THAT(get.errors, HasSubstr("got/" + std::string(name)));
    EXPECT_TRUE(std::filesystem::is_empty(here("outside")));
    std::filesystem::remove_all(here("got"));
  }
}

TEST_F(GridftpTreeTest, NamesTheFirstFileThatFails) {
  const GlobusServer stock;
  serve();
  const Ran none = gridftp({"get", "-r", stock.url(here("none")), "got"});
  EXPECT_EQ(none.status, kReadOrWriteFailed) << none.errors;
  EXPECT_THAT(none.errors, HasSubstr("/none"));
  EXPECT_FALSE(std::filesystem::exists(here("got")));
  for (const std::string& url : {stock.url(here("tree/file")), ours("tree/file")}) {
    const Ran file = gridftp({"get", "-r", url, "got"});
    EXPECT_NE(file.status, kSuccess) << "a file is no directory: " << url;
    std::filesystem::remove_all(here("got"));
  }
  home_.write("tree/a/bad\nname", "x");
  const Ran put = gridftp({"put", "-r", "tree", ours("put")});
  EXPECT_EQ(put.status, kReadOrWriteFailed) << put.errors;
  EXPECT_THAT(put.errors, HasSubstr("FTP cannot carry"));
  EXPECT_THAT(put.errors, HasSubstr("a/bad?name"));
  std::filesystem::remove(here("tree/a/bad\nname"));
  home_.write("occupied", "x");
  EXPECT_EQ(gridftp({"put", "-r", "tree", ours("occupied")}).status, kReadOrWriteFailed);
}

TEST_F(GridftpTreeTest, ShowsNoNameOfAServerThatATerminalWouldObey) {
  serve();
  home_.write("tree/\033[31mred", "x");
  std::filesystem::create_directories(here("got/\033[31mred"));
  const Ran get = gridftp({"get", "-r", ours("tree"), "got"});
  EXPECT_EQ(get.status, kReadOrWriteFailed) << get.errors;
  EXPECT_THAT(get.errors, HasSubstr("got/?[31mred"));
  EXPECT_THAT(get.errors, Not(HasSubstr("\033")));
}

TEST_F(GridftpTreeTest, GoesOnAfterACut) {
  serve();
  std::ignore = random_file("tree/large", 200'000'000);  // its place is known
  Process cut = start_gridftp({"get", "-r", ours("tree"), "got"});
  kill_when_some_has_come(cut, "got/large");
  const Ran again = gridftp({"get", "-v", "-r", ours("tree"), "got"});
  EXPECT_EQ(again.status, kSuccess) << again.errors;
  EXPECT_THAT(again.errors, HasSubstr("going on with"));
  expect_same("tree", "got");
}

// A stock server keeps no journal of an upload: the client has its own beside the file.
TEST_F(GridftpTreeTest, LeavesAUsersFileAloneThatHasTheNameOfAJournal) {
  const GlobusServer stock;
  home_.write("tree/note", "a note");
  for (const char* name : {"tree/note.sent", "tree/note.sent.new"}) home_.write(name, "a letter");
  EXPECT_EQ(gridftp({"put", "-r", "tree", stock.url(here("put"))}).status, kSuccess);
  for (const char* folder : {"tree", "put"}) {
    EXPECT_EQ(read_file(here(folder) / "note"), "a note");
    for (const char* name : {"note.sent", "note.sent.new"}) EXPECT_EQ(read_file(here(folder) / name), "a letter");
  }
}

TEST_F(GridftpTreeTest, LeavesOutTheJournalsOfAnEarlierPut) {
  serve();
  home_.write("tree/file.sent", "udtcat restart 1\nboot x\nof y\nhave 0-1\n");
  home_.write("tree/note.sent", "a letter");
  EXPECT_EQ(gridftp({"put", "-r", "tree", ours("put")}).status, kSuccess);
  EXPECT_FALSE(std::filesystem::exists(here("put/file.sent")));
  EXPECT_EQ(read_file(here("put/note.sent")), "a letter");
}

TEST_F(GridftpTreeTest, ComesAsFarAsItsNamesCanBeSaidAndNamesTheOthers) {
  serve();
  home_.write("tree/a/two\nlines", "x");
  home_.write("tree/latin\xe4\xff", "x");
  const Ran get = gridftp({"get", "-r", ours("tree"), "got"});
  EXPECT_EQ(get.status, kReadOrWriteFailed) << get.errors;
  EXPECT_THAT(get.errors, HasSubstr("the server says of a: Listing complete, without 1 name"));
  EXPECT_THAT(get.errors,
              HasSubstr("it lacks 2 names: 1 that the server left out of its listings, 1 with a line end or a "
                        "byte 0xFF, which FTP cannot carry"));
  const Ran put = gridftp({"put", "-r", "tree", ours("put")});
  EXPECT_EQ(put.status, kReadOrWriteFailed) << put.errors;
  EXPECT_THAT(put.errors, HasSubstr("lacks 2 names"));
  std::filesystem::remove(here("tree/a/two\nlines"));
  std::filesystem::remove(here("tree/latin\xe4\xff"));
  expect_same("tree", "got");
  expect_same("tree", "put");
}

}  // namespace
}  // namespace udtcat::test::e2e
