// SPDX-License-Identifier: Apache-2.0
/// Clients' commands, right, wrong and forbidden: to our server, line by line.
#include <gmock/gmock.h>

#include "e2e/support/gridftp_edge_test.hpp"

namespace udtcat::test::e2e {
namespace {

using testing::AnyOf;

// ---- The control connection ----------------------------------------------------------------------------------------

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

TEST_F(GridftpEdgeTest, SendsAwayWhoWritesALineWithoutEnd) {
  const std::string endless(4 * kMiB, 'x');
  std::ignore = talk_->send_raw(endless);  // it need not take it all
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

TEST_F(GridftpEdgeTest, LetsInWhoComesHoweverManyAreSilent) {
  std::vector<TcpClient> silent;
  for (int i = 0; i < 300; ++i) silent.emplace_back(port_, kAtOnce);
  FtpDialogue newcomer(port_);
  EXPECT_EQ(newcomer.ask("USER anonymous"), 331);
  EXPECT_EQ(newcomer.ask("PASS x"), 230);
  EXPECT_EQ(talk_->ask("NOOP"), 200) << "who has logged in stays";
}

TEST_F(GridftpEdgeTest, LetsInWhoComesHoweverManyHaveLoggedIn) {
  std::vector<std::unique_ptr<FtpDialogue>> idle;
  for (int network = 1; network <= 8; ++network)
    for (int i = 0; i < 32; ++i) {
      idle.push_back(std::make_unique<FtpDialogue>(("127.0." + std::to_string(network) + ".1").c_str(), port_));
      idle.back()->log_in();
    }
  FtpDialogue first("127.0.9.1", port_);
  FtpDialogue second("127.0.10.1", port_);
  for (FtpDialogue* newcomer : {&first, &second}) {
    EXPECT_EQ(newcomer->ask("USER anonymous"), 331);
    EXPECT_EQ(newcomer->ask("PASS x"), 230);
  }
  EXPECT_EQ(talk_->ask("NOOP"), 200) << "who alone is from his network stays";
  std::size_t told = 0;
  for (const auto& each : idle) {
    std::ignore = each->send("NOOP");  // who is gone need not take it
    if (each->hear() == 421) ++told;
  }
  EXPECT_EQ(told, 3U) << "the last to fill it had made one give way already";
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

// ---- Who is let in, and to what ------------------------------------------------------------------------------------

TEST_F(GridftpEdgeTest, LetsStrangersReadOnlyAndFromThisHostOnly) {
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
  EXPECT_FALSE(TcpClient(port_, kAtOnce).connected());
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

TEST_F(GridftpEdgeTest, BringsDataOnlyToWhereTheClientIs) {
  offer("a", front_);
  for (const char* line :
       {"PORT 127,0,0,2,100,0", "SPOR 127,0,0,2,100,0", "EPRT |1|127.0.0.2|25600|", "PORT 127,0,0,1,0,79"})
    EXPECT_EQ(talk_->ask(line), 504) << line;
  EXPECT_EQ(talk_->ask("RETR /a"), 425);
}

// ---- What must not be had ------------------------------------------------------------------------------------------

TEST_F(GridftpEdgeTest, LetsNobodyOutOfItsRoot) {
  home_.write("secret", "secret");
  std::filesystem::create_directory(home_.path() / "outside");
  std::filesystem::create_symlink(home_.path() / "secret", root_ / "absolute");
  std::filesystem::create_symlink("../secret", root_ / "relative");
  std::filesystem::create_symlink("../outside", root_ / "directory");
  const TcpListener listener;
  EXPECT_EQ(talk_->ask("PORT " + ftp_port(listener.port())), 200);
  for (const char* path : {"../../etc/passwd", "/../../../../../../etc/passwd", "/absolute", "/relative", "../secret",
                           "/directory/../secret", "/directory/../../secret"}) {
    EXPECT_EQ(talk_->ask("RETR " + std::string(path)), 550) << path;
    EXPECT_EQ(talk_->ask("SIZE " + std::string(path)), 550) << path;
  }
  EXPECT_EQ(store({data_block(0, front_) + end_of_file(1)}, "STOR /directory/x"), 553);
  EXPECT_EQ(store({data_block(0, front_) + end_of_file(1)}, "ESTO A 0 /absolute"), 553);
  EXPECT_EQ(store({data_block(0, front_) + end_of_file(1)}, "STOR ../../x"), 226) << "its own";
  EXPECT_TRUE(exists("x") && std::filesystem::is_empty(home_.path() / "outside"));
  EXPECT_EQ(talk_->ask("MKD /directory/y"), 550);
  EXPECT_EQ(talk_->ask("RNFR /x"), 350);
  EXPECT_EQ(talk_->ask("RNTO /directory/x"), 550);
  EXPECT_EQ(talk_->ask("DELE /relative"), 250);
  EXPECT_EQ(read_file(home_.path() / "secret"), "secret");
}

TEST_F(GridftpEdgeTest, RefusesNamesWithAZeroByte) {
  const std::string zero(1, '\0');
  EXPECT_EQ(talk_->ask("MKD /x" + zero + "y"), 501);
  EXPECT_EQ(store({data_block(0, front_) + end_of_file(1)}, "STOR /x" + zero + "y"), 501);
  EXPECT_EQ(talk_->ask("MKD /x%00y"), 257) << "a name like any other";
  EXPECT_TRUE(exists("x%00y"));
}

TEST_F(GridftpEdgeTest, ChangesNothingWhenReadOnly) {
  offer("a", front_);
  serve({"--read-only"});
  writable_ = false;
  for (const char* line : {"MKD /d", "RMD /d", "DELE /a", "RNFR /a", "RNTO /b"})
    EXPECT_EQ(talk_->ask(line), 550) << line;
  EXPECT_EQ(store({data_block(0, back_) + end_of_file(1)}, "STOR /x"), 550);
  EXPECT_EQ(store({data_block(0, back_) + end_of_file(1)}, "ESTO A 0 /a"), 550);
  EXPECT_TRUE(retrieve("RETR /a").content == front_);
  EXPECT_TRUE(stored("a") == front_ && !exists("x") && !exists("d"));
}

TEST_F(GridftpEdgeTest, NeverDropsProtectionThatIsAskedFor) {
  EXPECT_EQ(talk_->ask("PBSZ 1048576"), 200);
  for (const char* line : {"PROT P", "PROT S"}) EXPECT_EQ(talk_->ask(line), 536) << line;
  EXPECT_EQ(talk_->ask("DCAU A"), 534);
  EXPECT_EQ(talk_->ask("SITE SETNETSTACK tcp,gsi"), 534);
  EXPECT_EQ(talk_->ask("SITE SETNETSTACK udtcat"), 200) << "in the clear";
  for (const char* line : {"PROT P", "PROT S", "PROT C", "DCAU A"}) EXPECT_EQ(talk_->ask(line), 534) << "it has no key";
}

TEST_F(GridftpEdgeTest, SendsNothingInTheClearWhereItIsToBeProtected) {
  offer("a", front_);
  const auto key = home_.write("key", key_);
  serve({"--protect", "private", "--key-file", key, "--auth", "anonymous"});
  const TcpListener listener;
  EXPECT_EQ(talk_->ask("PORT " + ftp_port(listener.port())), 200);
  EXPECT_EQ(talk_->ask("RETR /a"), 536);
  EXPECT_EQ(talk_->ask("SITE SETNETSTACK udt"), 536);
  EXPECT_EQ(talk_->ask("MLSD /"), 536);
  EXPECT_FALSE(listener.accept(100ms));
  serve();
}

}  // namespace
}  // namespace udtcat::test::e2e
