// SPDX-License-Identifier: Apache-2.0
/// Servers that refuse a part of what our client gets and puts: the rest comes, and what is missing is counted.
#include <atomic>

#include <gmock/gmock.h>

#include "e2e/support/scripted_server.hpp"
#include "e2e/support/udtcat_test.hpp"

namespace udtcat::test::e2e {
namespace {

using testing::HasSubstr;

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
