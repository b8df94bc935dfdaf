// SPDX-License-Identifier: Apache-2.0
/// Our client and servers that lie, break off, refuse and say nonsense: no success, no file of that name, no end
/// without end; and what others have comes.
#include <algorithm>
#include <atomic>

#include <gmock/gmock.h>

#include "e2e/support/ftp_dialogue.hpp"
#include "e2e/support/scripted_server.hpp"
#include "e2e/support/udtcat_test.hpp"

namespace udtcat::test::e2e {
namespace {

using testing::HasSubstr;

/// A client that will not have them may have reset the connection by the time that all is said.
void send_data(std::uint16_t port, const std::string& blocks) {
  const TcpClient data(port, kAtOnce);
  if (data.send(blocks)) data.finish_sending();
}

class GridftpHostileServerTest : public UdtcatTest {
 protected:
  /// Runs `get`, which must fail, in time, and leave nothing under the name.
  void expect_failure(ScriptedServer::Script script, const Arguments& more = {"--retries", "0"},
                      const std::string& says = "") {
    const ScriptedServer server(std::move(script));
    Arguments words{"gridftp", "get", server.url(), "target"};
    words.insert(words.begin() + 2, more.begin(), more.end());
    Process get = udtcat(words);
    const auto ending = get.wait(patience(30s));
    ASSERT_TRUE(ending) << "it hangs: " << get.errors();
    EXPECT_NE(ending->status, kSuccess);
    EXPECT_FALSE(ending->core_dumped);
    EXPECT_LT(ending->status, 128) << get.errors();
    EXPECT_FALSE(std::filesystem::exists(home_.path() / "target"));
    if (!says.empty()) expect_says(get, says);
  }
  /// The same for what a decent server sends, and then says, for RETR.
  void expect_failure_of(const std::string& blocks, const std::string& says_at_end = "226 done\r\n",
                         const std::string& size = "100") {
    expect_failure([=](const std::string& line, std::uint16_t port) -> std::string {
      if (!line.starts_with("RETR")) return decent(line, size);
      send_data(port, blocks);
      return says_at_end == kHangUp ? kHangUp : "150 here\r\n" + says_at_end;
    });
  }

  const std::string content_ = std::string(100, 'x');
};

TEST_F(GridftpHostileServerTest, HangsUpAtEachStep) {
  for (const char* step : {"", "USER", "PASS", "TYPE", "MODE", "OPTS", "SIZE", "MDTM", "PORT", "RETR"})
    expect_failure([=](const std::string& line, std::uint16_t) -> std::string {
      return line.starts_with(step) && (line.empty() || *step != '\0') ? kHangUp : decent(line);
    });
}

TEST_F(GridftpHostileServerTest, SaysNoAtEachStep) {
  for (const char* step : {"", "USER", "PASS", "TYPE", "OPTS", "PORT", "RETR"})
    expect_failure([=](const std::string& line, std::uint16_t) -> std::string {
      return line.starts_with(step) && (line.empty() || *step != '\0') ? "500 no\r\n" : decent(line);
    });
}

TEST_F(GridftpHostileServerTest, SaysNonsense) {
  for (const std::string nonsense : {"hello\r\n", "\r\n", "999 x\r\n", "22"})
    expect_failure([=](const std::string& line, std::uint16_t) { return line.empty() ? nonsense + '\n' : kHangUp; });
}

TEST_F(GridftpHostileServerTest, NeverEndsAReply) {
  expect_failure([](const std::string& line, std::uint16_t) {
    if (!line.starts_with("SIZE")) return decent(line);
    std::string endless = "213-begins\r\n";
    while (endless.size() < 4 * kMiB) endless += " and goes on and on and on\r\n";
    return endless;
  });
}

TEST_F(GridftpHostileServerTest, LiesAboutTheSize) {
  const std::string whole = data_block(0, content_) + end_of_file(1);
  for (const char* size : {"101", "99", "0", "99999999999999999999", "-1", "x"})
    expect_failure_of(whole, "226 done\r\n", size);
}

TEST_F(GridftpHostileServerTest, SaysTooFewEnds) {
  expect_failure_of(data_block(0, content_.substr(0, 50)) + end_of_file(1));
  expect_failure_of(data_block(50, content_.substr(50)) + end_of_file(1));
  expect_failure_of(end_of_file(1));
}

TEST_F(GridftpHostileServerTest, SendsImpossibleBlocks) {
  const std::uint64_t most = ~std::uint64_t{0};
  for (const std::string& wrong : {block(0, 1, most, "x"), block(0, most, 0, "x"), block(0, 1, 100, "x"),
                                   block(0, std::uint64_t{1} << 63, 0, "x"), end_of_file(0), end_of_file(most),
                                   block(kBlockEof, 0, 2) + block(kBlockEof, 0, 3), block(kBlockClose, 1, 0, "x")})
    expect_failure_of(wrong + data_block(0, content_) + end_of_file(1));
}

TEST_F(GridftpHostileServerTest, BreaksOffTheData) {
  expect_failure_of(block(0, 100, 0, "x"));
  expect_failure_of(data_block(0, content_));
  expect_failure_of(data_block(0, content_) + end_of_file(1), "426 it failed\r\n");
  expect_failure_of(data_block(0, content_) + end_of_file(1), kHangUp);
}

TEST_F(GridftpHostileServerTest, SaysThatAllIsWellAndSendsNothing) {
  expect_failure_of("", "426 nothing\r\n");
  expect_failure(
      [](const std::string& line, std::uint16_t) { return line.starts_with("RETR") ? "550 none\r\n" : decent(line); });
}

TEST_F(GridftpHostileServerTest, SendsTheSameBytesForEver) {
  expect_failure(
      [](const std::string& line, std::uint16_t port) -> std::string {
        if (!line.starts_with("RETR")) return decent(line);
        send_data(port, data_block(0, std::string(50, 'x')));
        return kHangUp;
      },
      {"--retries", "2"});
}

// ---- get -r ---------------------------------------------------------------------------------------------------------

class GridftpHostileListingTest : public GridftpHostileServerTest {
 protected:
  /// Runs `get -r` at a server that lists so; the command is the listing's path.
  void expect_no_tree(const std::function<std::string(const std::string& command)>& listing, const std::string& says) {
    const TcpListener data;
    expect_failure(
        [&](const std::string& line, std::uint16_t) -> std::string {
          if (line.starts_with("PASV")) return "227 Passive (" + ftp_port(data.port()) + ")\r\n";
          if (!line.starts_with("MLSD")) return decent(line);
          const auto client = data.accept(patience(30s));
          if (client && client->send(listing(line))) client->finish_sending();
          return "150 here\r\n226 done\r\n";
        },
        {"-r", "--retries", "0"}, says);
    EXPECT_TRUE(std::filesystem::is_empty(home_.path())) << "nothing is made before all is listed";
  }
};

TEST_F(GridftpHostileListingTest, NamesFilesElsewhere) {
  for (const char* name : {"", ".", "..", "../x", "/etc/x", "a/b"})
    expect_no_tree([=](const std::string&) { return "Type=file; " + std::string(name) + "\r\n"; },
                   "not that of a file");
  expect_no_tree([](const std::string&) { return std::string("Type=file; a\0b\r\n", 16); }, "a zero byte");
}

TEST_F(GridftpHostileListingTest, HasNoBottom) {
  expect_no_tree([](const std::string&) { return "Type=dir; a\r\n"; }, "deeper than 128 directories");
}

TEST_F(GridftpHostileListingTest, HasPathsThatNoFileHas) {
  expect_no_tree([](const std::string&) { return "Type=dir; " + std::string(255, 'd') + "\r\n"; },
                 "longer than 4096 bytes");
}

TEST_F(GridftpHostileListingTest, HasMorePathsThanAreTaken) {
  std::string many;
  for (int entry = 100'000; entry < 180'000; ++entry)
    many += "Type=file; " + std::string(240, 'n') + std::to_string(entry) + "\r\n";
  const auto chain = [&](const std::string& command) {
    return std::ranges::count(command, 'd') < 14 * 255 ? "Type=dir; " + std::string(255, 'd') + "\r\n" : many;
  };
  expect_no_tree(chain, "more than 256 MiB of paths");
}

TEST_F(GridftpHostileListingTest, HasNoEnd) {
  const std::string line = "Type=file; " + std::string(200, 'n');
  std::string endless;
  while (endless.size() < 65 * kMiB) endless += line + std::to_string(endless.size()) + "\r\n";
  expect_no_tree([&](const std::string&) { return endless; }, "more than 64 MiB");
}

TEST_F(GridftpHostileListingTest, HasMoreEntriesThanAreTaken) {
  std::string many;
  for (int entry = 0; entry < 1'000'001; ++entry) many += "Type=file; " + std::to_string(entry) + "\r\n";
  expect_no_tree([&](const std::string&) { return many; }, "more than 1000000 entries");
}

// ---- Behind a NAT ---------------------------------------------------------------------------------------------------

/// A decent server that cannot connect to us: `refusing` is the command that fails so.
class GridftpPassiveGetTest : public UdtcatTest {
 protected:
  void expect_passive(const std::string& refusing, const std::string& refusal) {
    const TcpListener data;
    const ScriptedServer server([&](const std::string& line, std::uint16_t port) -> std::string {
      if (line.starts_with("MODE S")) passive_ = true;
      if (line.starts_with("PASV")) return "227 Passive (" + ftp_port(data.port()) + ")\r\n";
      if (!passive_ && line.starts_with(refusing)) return refusal + "\r\n";
      if (!line.starts_with("RETR")) return decent(line);
      if (!passive_) return "150 here\r\n426 and to port " + std::to_string(port) + "\r\n";
      const auto client = data.accept(patience(30s));
      if (client && client->send(std::string(100, 'x'))) client->finish_sending();
      return "150 here\r\n226 done\r\n";
    });
    passive_ = false;
    Process get = udtcat({"gridftp", "get", "--retries", "0", server.url(), "target"});
    expect_exit(get, kSuccess);
    EXPECT_EQ(read_file(home_.path() / "target"), std::string(100, 'x')) << refusing;
    std::filesystem::remove(home_.path() / "target");
  }
  std::atomic<bool> passive_ = false;
};

TEST_F(GridftpPassiveGetTest, ConnectsItselfWhereTheServerMayNot) {
  expect_passive("PORT", "504 data go to another host only");
  expect_passive("PORT", "500 what is PORT");
}

TEST_F(GridftpPassiveGetTest, ConnectsItselfWhereTheServerCannot) {
  expect_passive("RETR", "425 connect: network is unreachable");
  expect_passive("RETR", "500 Command failed : Unable to connect to 192.168.7.2:40000");
}

TEST_F(GridftpPassiveGetTest, AsksForEpsvWherePasvIsNotKnown) {
  const TcpListener data;
  const ScriptedServer server([&](const std::string& line, std::uint16_t) -> std::string {
    if (line.starts_with("MODE E")) return "504 no\r\n";
    if (line.starts_with("PASV")) return "502 no\r\n";
    if (line.starts_with("EPSV")) return "229 Extended (|||" + std::to_string(data.port()) + "|)\r\n";
    if (!line.starts_with("RETR")) return decent(line);
    const auto client = data.accept(patience(30s));
    if (client && client->send(std::string(100, 'x'))) client->finish_sending();
    return "150 here\r\n226 done\r\n";
  });
  Process get = udtcat({"gridftp", "get", "--retries", "0", server.url(), "target"});
  expect_exit(get, kSuccess);
  EXPECT_EQ(read_file(home_.path() / "target"), std::string(100, 'x'));
}

// ---- MODE E that fails once -----------------------------------------------------------------------------------------

class GridftpModeAgainTest : public UdtcatTest {
 protected:
  /// Gets a tree of five files from a server that says `refusal` to `refusing` in MODE E, or to that itself, the first
  /// `fails` times.
  void get_tree(const std::string& refusing, const std::string& refusal, int fails) {
    const TcpListener data;
    bool in_blocks = false;
    const auto send_passively = [&](const std::string& bytes) {
      const auto client = data.accept(patience(30s));
      if (client && client->send(bytes)) client->finish_sending();
      return "150 here\r\n226 done\r\n";
    };
    const ScriptedServer server([&](const std::string& line, std::uint16_t port) -> std::string {
      const bool is_here = line.starts_with(refusing) && (in_blocks || line == "MODE E");
      if (is_here && refused_++ < fails) return refusal + "\r\n";
      if (line.starts_with("MODE")) in_blocks = line == "MODE E";
      if (line.starts_with("PASV")) return "227 Passive (" + ftp_port(data.port()) + ")\r\n";
      if (line.starts_with("MLSD"))
        return send_passively("Type=file; a\r\nType=file; b\r\nType=file; c\r\nType=file; d\r\nType=file; e\r\n");
      if (!line.starts_with("RETR")) return decent(line);
      modes_ += in_blocks ? 'e' : 's';
      if (!in_blocks) return send_passively(std::string(100, 'x'));
      send_data(port, data_block(0, std::string(100, 'x')) + end_of_file(1));
      return "150 here\r\n226 done\r\n";
    });
    Process get = udtcat({"gridftp", "get", "-r", server.url(), "target"});
    expect_exit(get, kSuccess);
    errors_ = get.errors();
    for (const char* name : {"a", "b", "c", "d", "e"})
      EXPECT_EQ(read_file(home_.path() / "target" / name), std::string(100, 'x')) << name;
  }
  int refused_ = 0;    // or would have been
  std::string modes_;  // of each file, as the server sent it: 'e' or 's'
  std::string errors_;
};

TEST_F(GridftpModeAgainTest, IsTriedWithTheNextFileAfterADataConnectionThatFailed) {
  get_tree("RETR", "425 the second connection failed", 1);
  EXPECT_EQ(modes_, "seeee");
  EXPECT_THAT(errors_, testing::HasSubstr("the next one in MODE E again"));
}

TEST_F(GridftpModeAgainTest, IsTriedWithTheNextFileAfterAPassingRefusal) {
  get_tree("MODE E", "450 busy", 2);
  EXPECT_EQ(modes_, "seeee") << "the first was at the login";
}

TEST_F(GridftpModeAgainTest, IsGivenUpAfterThreeFilesInARow) {
  get_tree("RETR", "425 no way to you", 1000);
  EXPECT_EQ(modes_, "sssss");
  EXPECT_EQ(refused_, 3);
  EXPECT_THAT(errors_, testing::HasSubstr("in MODE E again"));
  EXPECT_EQ(errors_.find("in MODE E again"), errors_.rfind("in MODE E again")) << "one warning: " << errors_;
}

TEST_F(GridftpModeAgainTest, IsGivenUpAtOnceWhereItIsRefusedForGood) {
  get_tree("PORT", "504 data go to another host only", 1000);
  EXPECT_EQ(modes_, "sssss");
  EXPECT_EQ(refused_, 1);
}

constexpr auto kDenied = "550 Permission denied\r\n";

class GridftpRefusalsTest : public UdtcatTest {
 protected:
  /// The answers of a plain FTP server; data go out by the port of PASV.
  std::string plain(const std::string& line) {
    if (line.starts_with("USER")) ++logins_;
    if (line.starts_with("MODE E")) return "504 no\r\n";
    if (line.starts_with("PASV")) return "227 Passive (" + ftp_port(data_.port()) + ")\r\n";
    return decent(line);
  }
  std::string send_data(const std::string& bytes) const {
    const auto client = data_.accept(patience(30s));
    if (client && client->send(bytes)) client->finish_sending();
    return "150 here\r\n226 done\r\n";
  }
  /// The answers of a server that takes files of one byte.
  std::string take(const std::string& line) {
    if (line.starts_with("SIZE")) return "213 1\r\n";
    if (!line.starts_with("STOR")) return plain(line);
    const auto client = data_.accept(patience(30s));
    return client && client->receive_end() ? "150 here\r\n226 done\r\n" : kHangUp;
  }
  /// Of a transfer, for which a data connection has been made.
  std::string refuse(const std::string& reply) const {
    std::ignore = data_.accept(patience(30s));
    return reply;
  }
  Process get_tree(const ScriptedServer& server) { return udtcat({"gridftp", "get", "-r", server.url(), "target"}); }
  Process put_tree(const ScriptedServer& server) { return udtcat({"gridftp", "put", "-r", "source", server.url()}); }

  const TcpListener data_;
  std::atomic<int> logins_ = 0;
};

TEST_F(GridftpRefusalsTest, HoldUpNoOtherFileAndCostNoLogin) {
  const ScriptedServer server([&](const std::string& line, std::uint16_t) -> std::string {
    if (line.starts_with("MLSD")) {
      std::string names;
      for (int i = 100; i < 300; ++i) names += "Type=file; f" + std::to_string(i) + "\r\n";
      return send_data(names + "Type=file; last\r\n");
    }
    if (line.starts_with("RETR")) return line.ends_with("last") ? send_data(std::string(100, 'x')) : refuse(kDenied);
    return plain(line);
  });
  Process get = get_tree(server);
  expect_exit(get, kReadOrWriteFailed);
  expect_says(get, "missing: 200 of 201 files: of which the first 100 are named above");
  EXPECT_EQ(read_file(home_.path() / "target" / "last"), std::string(100, 'x'));
  EXPECT_EQ(logins_, 1);
}

TEST_F(GridftpRefusalsTest, OfAFileThatWasToGoOnCostALogin) {
  // REST may hold for the file behind the one that was refused.
  bool is_cut = false;
  const ScriptedServer server([&](const std::string& line, std::uint16_t) -> std::string {
    if (line.starts_with("MLSD")) return send_data("Type=file; a\r\nType=file; b\r\n");
    if (!line.starts_with("RETR")) return plain(line);
    if (line.ends_with("b")) return send_data(std::string(100, 'b'));
    return std::exchange(is_cut, true) ? refuse(kDenied) : send_data(std::string(50, 'a'));
  });
  Process get = get_tree(server);
  expect_exit(get, kReadOrWriteFailed);
  EXPECT_EQ(read_file(home_.path() / "target" / "b"), std::string(100, 'b'));
  EXPECT_EQ(logins_, 3) << "after the cut, and after the refusal";
}

TEST_F(GridftpRefusalsTest, OfADirectoryThatIsBusyAreTriedAgain) {
  int busy = 0;
  const ScriptedServer server([&](const std::string& line, std::uint16_t) -> std::string {
    if (line.starts_with("MLSD") && line.ends_with("/a/"))
      return busy++ == 0 ? refuse("450 busy\r\n") : send_data("Type=file; x\r\n");
    if (line.starts_with("MLSD")) return send_data("Type=dir; a\r\n");
    if (line.starts_with("RETR")) return send_data(std::string(100, 'x'));
    return plain(line);
  });
  Process get = get_tree(server);
  expect_exit(get, kSuccess);
  EXPECT_EQ(read_file(home_.path() / "target" / "a" / "x"), std::string(100, 'x'));
}

TEST_F(GridftpRefusalsTest, OfADirectoryThatStaysBusyHoldUpNothingElse) {
  const ScriptedServer server([&](const std::string& line, std::uint16_t) -> std::string {
    if (line.starts_with("MLSD") && line.ends_with("/a/")) return refuse("450 busy\r\n");
    if (line.starts_with("MLSD")) return send_data("Type=dir; a\r\nType=file; x\r\n");
    if (line.starts_with("RETR")) return send_data(std::string(100, 'x'));
    return plain(line);
  });
  Process get = udtcat({"gridftp", "get", "-r", "--retries", "1", server.url(), "target"});
  expect_exit(get, kReadOrWriteFailed);
  expect_says(get, "missing: 1 of 1 directories");
  EXPECT_EQ(read_file(home_.path() / "target" / "x"), std::string(100, 'x'));
}

TEST_F(GridftpRefusalsTest, OfALoginAreNoSingleFiles) {
  bool is_cut = false;
  const ScriptedServer server([&](const std::string& line, std::uint16_t) -> std::string {
    if (is_cut && line.starts_with("USER")) return "450 too many of you\r\n";
    if (line.starts_with("MLSD")) return send_data("Type=file; a\r\nType=file; b\r\n");
    if (line.starts_with("RETR")) is_cut = true;
    return line.starts_with("RETR") ? kHangUp : plain(line);
  });
  Process get = udtcat({"gridftp", "get", "-r", "--retries", "1", server.url(), "target"});
  const auto ending = get.wait(patience(30s));
  ASSERT_TRUE(ending) << get.errors();
  EXPECT_NE(ending->status, kSuccess);
  EXPECT_THAT(get.errors(), testing::Not(HasSubstr("missing:"))) << "it is not of the files";
}

TEST_F(GridftpRefusalsTest, OfADirectoryCountWhatIsBelowIt) {
  std::filesystem::create_directories(home_.path() / "source" / "a" / "b");
  std::filesystem::create_directories(home_.path() / "source" / "c");
  for (int i = 0; i < 120; ++i)
    std::filesystem::create_directories(home_.path() / "source" / "a" / std::to_string(1000 + i));
  for (const char* name : {"a/1", "a/b/2", "a/b/3", "c/4"}) home_.write(std::string("source/") + name, "x");
  const ScriptedServer server([&](const std::string& line, std::uint16_t) -> std::string {
    if (line.starts_with("MKD") || line.starts_with("CWD")) return line.ends_with("/a") ? kDenied : "250 fine\r\n";
    return take(line);
  });
  Process put = put_tree(server);
  expect_exit(put, kReadOrWriteFailed);
  expect_says(put, "missing: 122 of 123 directories, and 3 files in them: as said above");
}

TEST_F(GridftpRefusalsTest, OfADirectoryThatIsThereAndBusyAreTriedAgain) {
  std::filesystem::create_directories(home_.path() / "source" / "a");
  home_.write("source/a/1", "x");
  int busy = 0;
  const ScriptedServer server([&](const std::string& line, std::uint16_t) -> std::string {
    if (line.starts_with("MKD")) return "550 File exists\r\n";
    if (line.starts_with("CWD") && line.ends_with("/a")) return busy++ == 0 ? "450 busy\r\n" : "250 fine\r\n";
    return take(line);
  });
  Process put = put_tree(server);
  expect_exit(put, kSuccess);
}

/// Proves: gridftp.name-without-bytes
TEST_F(GridftpRefusalsTest, AreWhereAServerWithoutMlstHasTheFileByANameWithoutItsUmlautToo) {
  home_.write("source", "x");
  for (const bool drops : {true, false}) {
    const ScriptedServer server([&](const std::string& line, std::uint16_t) -> std::string {
      if (line.starts_with("MLST")) return "500 unknown\r\n";
      return line.starts_with("SIZE") && line.ends_with("fr") && !drops ? kDenied : take(line);
    });
    Process put = udtcat({"gridftp", "put", "--retries", "0", "source", server.url() + "/f%C3%BCr"});
    expect_exit(put, drops ? kReadOrWriteFailed : kSuccess);
  }
}

TEST_F(GridftpRefusalsTest, AreSaidThoughTheServerSaysNothingToQuit) {
  const ScriptedServer server([&](const std::string& line, std::uint16_t) -> std::string {
    if (line.starts_with("QUIT")) return "120 wait\r\n";
    return line.starts_with("RETR") ? kDenied : plain(line);
  });
  Process get = udtcat({"gridftp", "get", server.url(), "target"});
  expect_exit(get, kReadOrWriteFailed, patience(15s));
}

}  // namespace
}  // namespace udtcat::test::e2e
