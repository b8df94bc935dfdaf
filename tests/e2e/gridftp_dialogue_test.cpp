/// What clients may say, what some say wrong, and what they must not get: to our server, line by line.
#include <gmock/gmock.h>

#include "e2e/support/gridftp_edge_test.hpp"

namespace udtcat::e2e {
namespace {

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
  serve({"--protect", "private", "--key-file", key});
  const TcpListener listener;
  EXPECT_EQ(talk_->ask("PORT " + ftp_port(listener.port())), 200);
  EXPECT_EQ(talk_->ask("RETR /a"), 536);
  EXPECT_EQ(talk_->ask("SITE SETNETSTACK udt"), 536);
  EXPECT_EQ(talk_->ask("MLSD /"), 536);
  EXPECT_FALSE(listener.accept(100ms));
  serve();
}

}  // namespace
}  // namespace udtcat::e2e
