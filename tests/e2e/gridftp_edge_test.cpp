// SPDX-License-Identifier: Apache-2.0
/// Clients of our server that say whatever they like, byte by byte; after each test the server has to be of use. What
/// it answers to whom: tests/gridftp/server, tests/gridftp/mode_e.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "e2e/support/ftp_dialogue.hpp"
#include "e2e/support/udtcat_test.hpp"
#include "support/bytes.hpp"
#include "support/deadline.hpp"

namespace udtcat::test::e2e {
namespace {

using testing::AnyOf;

std::string random_text(std::uint64_t seed, std::size_t size) { return text_of(random_bytes(size, seed)); }

class GridftpEdgeTest : public UdtcatTest {
 protected:
  void SetUp() override { serve(); }
  void TearDown() override { expect_good_service(); }

  void serve() {
    server_.reset();
    std::filesystem::create_directories(root_);
    port_ = free_port();
    Arguments words{"gridftp", "serve", "--root", root_, "-l", "127.0.0.1:" + std::to_string(port_)};
    words.insert(words.end(), {"--auth", "anonymous", "--anonymous-writable"});
    server_.emplace(udtcat(std::move(words)));
    ASSERT_TRUE(accepts_tcp(port_, kAtOnce)) << server_->errors();
    talk_.reset();
    talk_ = arrive();
  }
  [[nodiscard]] std::unique_ptr<FtpDialogue> arrive() const {
    auto talk = std::make_unique<FtpDialogue>(port_);
    talk->log_in();
    return talk;
  }
  [[nodiscard]] TcpClient connect_data() {
    if (data_port_ == 0) data_port_ = talk_->passive();
    return {data_port_, kAtOnce};
  }
  /// STOR /x of what these connections bring, all of it before the server is asked. The server's last word.
  int store(const std::vector<std::string>& connections, const std::string& line = "STOR /x") {
    data_.clear();
    data_port_ = 0;
    for (const std::string& bytes : connections) {
      data_.push_back(connect_data());
      EXPECT_TRUE(data_.back().send(bytes));
    }
    EXPECT_TRUE(talk_->send(line));
    return talk_->hear_end();
  }
  /// The server may not have noticed yet that whoever wrote the file has gone: 450 until then.
  [[nodiscard]] bool takes_it_soon() {
    int code = 450;
    return eventually(std::chrono::seconds(10),
                      [&] {
                        code = store({data_block(0, content_) + end_of_file(1)});
                        return code != 450;
                      }) &&
           code == 226;
  }
  [[nodiscard]] std::string stored(const std::string& name = "x") const { return read_file(root_ / name); }
  [[nodiscard]] bool exists(const std::string& name = "x") const { return std::filesystem::exists(root_ / name); }
  void offer(const std::string& name, const std::string& content) const {
    std::ofstream(root_ / name, std::ios::binary) << content;
  }
  /// RETR and the like on one connection to a port of ours.
  BlocksRead retrieve(const std::string& line) {
    const TcpListener listener;
    EXPECT_EQ(talk_->ask("PORT " + ftp_port(listener.port())), 200);
    EXPECT_TRUE(talk_->send(line));
    BlocksRead read;
    if (auto connection = listener.accept(kAtOnce)) {
      read_blocks(*connection, read);
      EXPECT_EQ(talk_->hear_end(), 226) << talk_->said();
    }
    return read;
  }
  void expect_good_service() {
    ASSERT_TRUE(server_->running()) << server_->errors();
    talk_ = arrive();
    EXPECT_EQ(store({data_block(0, content_) + end_of_file(1)}, "STOR /good"), 226);
    EXPECT_TRUE(stored("good") == content_);
    EXPECT_TRUE(retrieve("RETR /good").content == content_);
  }

  const std::filesystem::path root_ = home_.path() / "served";
  const std::string content_ = random_text(7, 300'000);
  const std::string front_ = content_.substr(0, 100'000);
  const std::string back_ = content_.substr(100'000);
  std::optional<Process> server_;
  std::unique_ptr<FtpDialogue> talk_;
  std::uint16_t data_port_ = 0;
  std::vector<TcpClient> data_;
};

TEST_F(GridftpEdgeTest, AnswersCommandsThatAreSentAhead) {
  const std::uint16_t port = talk_->passive();
  EXPECT_TRUE(talk_->send_raw("STOR /a\r\nSIZE /a\r\nSTOR /b\r\nSIZE /b\nQUIT\r\n"));
  const TcpClient data(port, kAtOnce);
  EXPECT_TRUE(data.send(data_block(0, front_) + end_of_file(1) + data_block(0, back_) + end_of_file(1)));
  EXPECT_EQ(talk_->hear_end(), 226);
  EXPECT_EQ(talk_->hear(), 213);
  EXPECT_EQ(talk_->said(), "213 100000");
  EXPECT_EQ(talk_->hear_end(), 226);
  EXPECT_EQ(talk_->hear(), 213);
  EXPECT_EQ(talk_->hear(), 221);
  EXPECT_TRUE(talk_->hung_up());
}

TEST_F(GridftpEdgeTest, ServesOthersWhileAClientSendsNonsense) {
  const std::string nonsense(2 * kMiB, '\n');
  TcpClient rude(port_, 500ms);
  std::ignore = rude.send(nonsense);
  const auto begin = Clock::now();
  expect_good_service();
  EXPECT_LT(Clock::now() - begin, patience(3s));
}

TEST_F(GridftpEdgeTest, ServesOthersWhileAClientNeverReads) {
  FtpDialogue deaf(port_, 500ms);
  deaf.log_in();
  std::string questions;
  for (int i = 0; i < 20'000; ++i) questions += "FEAT\r\n";
  for (int i = 0; i < 50 && deaf.send_raw(questions); ++i) continue;
  expect_good_service();
  EXPECT_LT(server_->resident_bytes(), kStrangersLimitBytes);
}

TEST_F(GridftpEdgeTest, AnswersOthersInTheMiddleOfLongListings) {
  std::filesystem::create_directory(root_ / "many");
  constexpr int kEntries = 20'000;
  for (int i = 0; i < kEntries; ++i) std::ofstream(root_ / "many" / std::to_string(i));
  const TcpListener listener;
  std::vector<std::unique_ptr<FtpDialogue>> readers;
  std::vector<TcpClient> unread;
  for (int i = 0; i < 20; ++i) {
    readers.push_back(arrive());
    EXPECT_EQ(readers.back()->ask("PORT " + ftp_port(listener.port())), 200);
    EXPECT_EQ(readers.back()->ask("MLSD /many"), 150);
    unread.push_back(listener.accept(kAtOnce).value());
  }
  // The listings have no reader, and are longer than what lies between; still everybody is answered.
  EXPECT_EQ(talk_->ask("NOOP"), 200);
  EXPECT_EQ(talk_->ask("SIZE /many/0"), 213);
  EXPECT_LT(server_->resident_bytes(), kStrangersLimitBytes) << "they are not in memory either";
  for (std::size_t i = 0; i < readers.size(); ++i) {
    BlocksRead read;
    read_blocks(unread[i], read);
    EXPECT_EQ(std::ranges::count(read.content, '\n'), kEntries);
    EXPECT_EQ(readers[i]->hear_end(), 226);
  }
}

TEST_F(GridftpEdgeTest, LetsStrangersReadOnlyAndFromThisHostOnlySerial) {
  offer("a", front_);
  server_.reset();
  server_.emplace(udtcat({"gridftp", "serve", "--root", root_}));
  ASSERT_TRUE(accepts_tcp(2811, kAtOnce)) << server_->errors();
  expect_says(*server_, "127.0.0.1:2811/ to everybody who reaches it, without proof, read-only");
  expect_says(*server_, "--anonymous-writable");
  const auto bound = run({.argv = {"ss", "-Hltn", "sport = :2811"}}).output;
  EXPECT_THAT(bound, testing::Not(AnyOf(testing::HasSubstr("*:2811"), testing::HasSubstr("0.0.0.0:2811"))));
  FtpDialogue talk(2811);
  talk.log_in();
  for (const char* line : {"DELE /a", "RNFR /a", "MKD /d", "STOR /x", "SITE HAVE /a"})
    EXPECT_EQ(talk.ask(line), 550) << line;
  EXPECT_TRUE(exists("a"));
  serve();
}

TEST_F(GridftpEdgeTest, ListensForThisHostUntilAnAddressIsGiven) {
  for (const bool everybody : {false, true}) {
    server_.reset();
    port_ = free_port();
    const std::string port = std::to_string(port_);
    server_.emplace(udtcat({"gridftp", "serve", "--root", root_, "-l", (everybody ? "*:" : "") + port}));
    ASSERT_TRUE(accepts_tcp(port_, kAtOnce)) << server_->errors();
    EXPECT_EQ(run({.argv = {"ss", "-Hltn", "sport = :" + port}}).output.find("127.0.0.1") == std::string::npos,
              everybody);
  }
  serve();
}

TEST_F(GridftpEdgeTest, AnswersNobodyWithoutTheKeyWhereItHasOne) {
  offer("a", front_);
  server_.reset();
  port_ = free_port();
  const std::string address = "127.0.0.1:" + std::to_string(port_);
  server_.emplace(udtcat({"gridftp", "serve", "--root", root_, "-l", address, "-k", home_.write("key", key_)}));
  EXPECT_TRUE(eventually(kAtOnce, [&] { return count_lines(*server_, "serving") > 0; })) << server_->errors();
  expect_says(*server_, "udtcat://" + address + "/ to key holders");
  const TcpClient ftp_client(port_, kAtOnce);
  EXPECT_TRUE(ftp_client.send("USER anonymous\r\n"));
  EXPECT_EQ(ftp_client.receive(1), "");
  serve();
}

TEST_F(GridftpEdgeTest, RefusesContradictionsAboutWhoMayWrite) {
  for (const Arguments& words : {Arguments{"--read-only", "--anonymous-writable"},
                                 Arguments{"-k", home_.write("key", key_), "--anonymous-writable"}}) {
    Arguments all{"gridftp", "serve", "--root", root_};
    all.insert(all.end(), words.begin(), words.end());
    Process refused = udtcat(all);
    expect_exit(refused, kUsage);
  }
}

TEST_F(GridftpEdgeTest, RefusesNamesWithAZeroByte) {
  const std::string zero(1, '\0');
  EXPECT_EQ(talk_->ask("MKD /x" + zero + "y"), 501);
  EXPECT_EQ(store({data_block(0, front_) + end_of_file(1)}, "STOR /x" + zero + "y"), 501);
  EXPECT_EQ(talk_->ask("MKD /x%00y"), 257) << "a name like any other";
  EXPECT_TRUE(exists("x%00y"));
}

TEST_F(GridftpEdgeTest, TakesLargeBlocks) {
  const std::string large = random_text(8, 8 * kMiB);
  const std::string second = large.substr(4 * kMiB);
  TcpClient data = connect_data();
  EXPECT_TRUE(talk_->send("STOR /x"));
  EXPECT_TRUE(data.send(data_block(4 * kMiB, second) + data_block(0, large.substr(0, 4 * kMiB)) + end_of_file(1)));
  EXPECT_EQ(talk_->hear_end(), 226);
  EXPECT_TRUE(stored() == large);
}

/// Proves: threat-model.ftp-data
TEST_F(GridftpEdgeTest, TakesLittleMemoryHoweverManyConnectionsNobodyReads) {
  offer("large", front_);
  std::filesystem::resize_file(root_ / "large", 4096 * kMiB);
  const TcpListener listener;
  EXPECT_EQ(talk_->ask("OPTS RETR Parallelism=64,64,64;"), 200);
  EXPECT_EQ(talk_->ask("PORT " + ftp_port(listener.port())), 200);
  EXPECT_EQ(talk_->ask("RETR /large"), 150);
  std::vector<TcpClient> unread;
  while (unread.size() < 64) unread.push_back(listener.accept(kAtOnce).value());
  EXPECT_EQ(talk_->hear(), 112);
  EXPECT_LT(server_->resident_bytes(), kStrangersLimitBytes);
}

TEST_F(GridftpEdgeTest, EndsATransferThatTheClientAborts) {
  TcpClient data = connect_data();
  EXPECT_EQ(talk_->ask("STOR /x"), 150);
  EXPECT_TRUE(data.send(data_block(0, front_)));
  EXPECT_TRUE(
      talk_->send("\xff\xf4\xff\xf2"
                  "ABOR"));
  EXPECT_EQ(talk_->hear_end(), 426);
  EXPECT_EQ(talk_->hear(), 226);
  EXPECT_FALSE(exists());
  EXPECT_EQ(store({data_block(0, content_) + end_of_file(1)}), 226);
  EXPECT_TRUE(stored() == content_);
}

TEST_F(GridftpEdgeTest, EndsATransferInStreamModeThatTheClientAborts) {
  EXPECT_EQ(talk_->ask("MODE S"), 200);
  TcpClient data = connect_data();
  EXPECT_EQ(talk_->ask("STOR /x"), 150);
  EXPECT_TRUE(data.send(front_));
  EXPECT_TRUE(talk_->send("ABOR"));
  EXPECT_EQ(talk_->hear_end(), 426);
  EXPECT_EQ(talk_->hear(), 226);
  EXPECT_FALSE(exists());
}

TEST_F(GridftpEdgeTest, TakesAFileAgainWhoseClientHungUpWithManyCommandsWaiting) {
  const TcpClient data = connect_data();
  EXPECT_EQ(talk_->ask("STOR /x"), 150);
  std::string ahead;
  for (int i = 0; i < 1'000; ++i) ahead += "NOOP\r\n";
  EXPECT_TRUE(talk_->send_raw(ahead));
  talk_ = arrive();
  EXPECT_TRUE(takes_it_soon());
}

TEST_F(GridftpEdgeTest, SendsNobodyAnythingOnceTheClientHungUp) {
  offer("large", std::string(64 * kMiB, 'x'));
  const TcpListener listener;
  EXPECT_EQ(talk_->ask("PORT " + ftp_port(listener.port())), 200);
  EXPECT_EQ(talk_->ask("RETR /large"), 150);
  auto connection = listener.accept(kAtOnce);
  ASSERT_TRUE(connection);
  talk_.reset();
  EXPECT_TRUE(connection->receive_end());
}

}  // namespace
}  // namespace udtcat::test::e2e
