/// What clients may do, what some do wrong, and what none should: to our server, byte by byte.
#include <fstream>

#include <gmock/gmock.h>

#include "e2e/support/deadline.hpp"
#include "e2e/support/ftp_dialogue.hpp"
#include "e2e/support/udtcat_test.hpp"

namespace udtcat::e2e {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

std::string random_text(std::uint64_t seed, std::size_t size) {
  const auto bytes = random_bytes(seed, size);
  // SAFETY: any byte is a char.
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class GridftpEdgeTest : public UdtcatTest {
 protected:
  void SetUp() override { serve(); }
  void TearDown() override { expect_good_service(); }

  void serve(const Arguments& more = {}) {
    server_.reset();
    std::filesystem::create_directories(root_);
    port_ = free_port();
    server_.emplace(
        udtcat({"gridftp", "serve", "--root", root_, "-l", "127.0.0.1:" + std::to_string(port_)}, {.args = more}));
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
    EXPECT_EQ(store({data_block(0, content_) + end_of_file(1)}, "STOR /good"), writable_ ? 226 : 550);
    if (!writable_) return;
    EXPECT_TRUE(stored("good") == content_);
    EXPECT_TRUE(retrieve("RETR /good").content == content_);
  }

  const std::filesystem::path root_ = home_.path() / "served";
  const std::string content_ = random_text(7, 300'000);
  const std::string front_ = content_.substr(0, 100'000);
  const std::string back_ = content_.substr(100'000);
  bool writable_ = true;
  std::optional<Process> server_;
  std::unique_ptr<FtpDialogue> talk_;
  std::uint16_t data_port_ = 0;
  std::vector<TcpClient> data_;
};

// ---- Ends in every shape -------------------------------------------------------------------------------------------

TEST_F(GridftpEdgeTest, TakesAnEndOfFileApartFromTheEndOfData) {
  EXPECT_EQ(store({data_block(0, content_) + block(kBlockEof, 0, 1) + end_of_data()}), 226);
  EXPECT_TRUE(stored() == content_);
}

TEST_F(GridftpEdgeTest, TakesTheEndOfFileBeforeTheData) {
  EXPECT_EQ(store({block(kBlockEof, 0, 1) + data_block(0, content_) + end_of_data()}), 226);
  EXPECT_TRUE(stored() == content_);
}

TEST_F(GridftpEdgeTest, TakesEmptyBlocks) {
  EXPECT_EQ(store({block(0, 0, 0) + data_block(0, content_) + block(0, 0, ~std::uint64_t{0}) + end_of_file(1)}), 226);
  EXPECT_TRUE(stored() == content_);
}

TEST_F(GridftpEdgeTest, TakesAnEmptyFile) {
  EXPECT_EQ(store({end_of_file(1)}), 226);
  EXPECT_TRUE(exists() && stored().empty());
}

TEST_F(GridftpEdgeTest, TakesTheEndOfFileTwice) {
  EXPECT_EQ(store({data_block(0, content_) + block(kBlockEof, 0, 1) + block(kBlockEof, 0, 1) + end_of_data()}), 226);
  EXPECT_TRUE(stored() == content_);
}

TEST_F(GridftpEdgeTest, TakesTheEndOfDataOnABlock) {
  EXPECT_EQ(store({block(kBlockEof, 0, 1) + block(kBlockEod, content_.size(), 0, content_)}), 226);
  EXPECT_TRUE(stored() == content_);
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

TEST_F(GridftpEdgeTest, IgnoresBitsThatMeanNothing) {
  EXPECT_EQ(store({block(0xB0, content_.size(), 0, content_) + block(0xB0 | kBlockEof | kBlockEod, 0, 1)}), 226);
  EXPECT_TRUE(stored() == content_);
}

TEST_F(GridftpEdgeTest, LetsTheLastWriterHaveHisWayWhereBlocksOverlap) {
  EXPECT_EQ(store({data_block(0, std::string(content_.size(), 'x')) + data_block(100'000, back_) +
                   data_block(0, front_) + end_of_file(1)}),
            226);
  EXPECT_TRUE(stored() == content_);
}

TEST_F(GridftpEdgeTest, TakesDataThatComeBeforeTheCommand) {
  TcpClient data = connect_data();
  EXPECT_TRUE(data.send(data_block(0, content_) + end_of_file(1)));
  EXPECT_EQ(talk_->ask("NOOP"), 200);
  EXPECT_EQ(talk_->ask("STOR /x"), 150);
  EXPECT_EQ(talk_->hear_end(), 226);
  EXPECT_TRUE(stored() == content_);
}

// ---- How many ends there are ---------------------------------------------------------------------------------------

TEST_F(GridftpEdgeTest, WaitsForConnectionsThatAreStillToCome) {
  TcpClient first = connect_data();
  EXPECT_TRUE(first.send(data_block(0, front_) + end_of_file(2)));
  EXPECT_EQ(talk_->ask("STOR /x"), 150);
  EXPECT_EQ(talk_->hear(), 112) << "it waits";
  TcpClient second = connect_data();
  EXPECT_TRUE(second.send(data_block(100'000, back_) + end_of_data()));
  EXPECT_EQ(talk_->hear_end(), 226);
  EXPECT_TRUE(stored() == content_);
}

TEST_F(GridftpEdgeTest, DoesNotTakeAFileForWholeWhereTooFewEndsAreSaid) {
  EXPECT_EQ(talk_->ask("ALLO 300000"), 200);
  EXPECT_EQ(store({data_block(0, front_) + end_of_file(1)}), 426) << "less than was allocated";
  EXPECT_EQ(store({data_block(100'000, back_) + end_of_file(1)}), 426) << "there is a gap";
  EXPECT_EQ(store({data_block(100'000, back_), data_block(0, front_) + block(kBlockEof, 0, 1) + end_of_data()}), 426)
      << "one is in the middle of its part";
  EXPECT_FALSE(exists());
}

TEST_F(GridftpEdgeTest, GivesUpOnEndsThatNeverComeWhenTheClientGoes) {
  TcpClient data = connect_data();
  EXPECT_TRUE(data.send(data_block(0, content_) + end_of_file(3)));
  EXPECT_EQ(talk_->ask("STOR /good"), 150);
  EXPECT_EQ(talk_->hear(), 112) << "it waits";
  talk_.reset();
  EXPECT_TRUE(data.receive_end());
  EXPECT_FALSE(exists("good"));
}

TEST_F(GridftpEdgeTest, RefusesEndsThatContradictEachOther) {
  EXPECT_EQ(store({block(kBlockEof, 0, 2) + block(kBlockEof, 0, 3)}), 426);
  EXPECT_EQ(store({end_of_file(0)}), 426);
  EXPECT_EQ(store({end_of_file(~std::uint64_t{0})}), 426);
  EXPECT_FALSE(exists());
}

// ---- Connections that break ----------------------------------------------------------------------------------------

TEST_F(GridftpEdgeTest, TellsThatAConnectionBrokeInsideABlock) {
  TcpClient data = connect_data();
  EXPECT_TRUE(data.send(block(0, content_.size(), 0, front_)));
  data.finish_sending();
  EXPECT_TRUE(talk_->send("STOR /x"));
  EXPECT_EQ(talk_->hear_end(), 426);
  EXPECT_FALSE(exists());
}

TEST_F(GridftpEdgeTest, TellsThatAConnectionBrokeBeforeItsEndOfData) {
  TcpClient data = connect_data();
  EXPECT_TRUE(data.send(data_block(0, content_)));
  data.finish_sending();
  EXPECT_TRUE(talk_->send("STOR /x"));
  EXPECT_EQ(talk_->hear_end(), 426);
  EXPECT_FALSE(exists());
}

TEST_F(GridftpEdgeTest, TellsThatAConnectionWasClosedBeforeItsEndOfData) {
  EXPECT_EQ(store({data_block(0, content_) + block(kBlockClose, 0, 0)}), 426);
  EXPECT_EQ(store({block(kBlockClose, content_.size(), 0, content_)}), 426);
  EXPECT_FALSE(exists());
  EXPECT_EQ(store({data_block(0, content_) + end_of_file(1)}), 226) << "on the same control connection";
}

TEST_F(GridftpEdgeTest, IsNotDisturbedByStrangersOnTheDataPort) {
  const TcpClient silent = connect_data();
  for (int i = 0; i < 3; ++i) std::ignore = TcpClient(connect_data());
  EXPECT_EQ(talk_->ask("STOR /x"), 150);
  for (int i = 0; i < 3; ++i) std::ignore = TcpClient(connect_data());
  const TcpClient another = connect_data();
  EXPECT_TRUE(TcpClient(connect_data()).send("\x01\x02"));
  TcpClient data = connect_data();
  EXPECT_TRUE(data.send(data_block(0, content_) + end_of_file(1)));
  EXPECT_EQ(talk_->hear_end(), 226);
  EXPECT_TRUE(stored() == content_);
}

TEST_F(GridftpEdgeTest, RefusesImpossibleNumbersAtOnce) {
  const std::uint64_t most = ~std::uint64_t{0};
  for (const auto& [count, offset] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
           {1, most}, {std::uint64_t{1} << 63, 0}, {most, 1}, {std::uint64_t{1} << 62, 1}}) {
    EXPECT_EQ(store({block(0, count, offset, "x")}), 426) << count << " at " << offset;
    EXPECT_TRUE(data_.front().receive_end());
  }
  EXPECT_FALSE(exists());
}

// ---- Connections that are used again -------------------------------------------------------------------------------

TEST_F(GridftpEdgeTest, StoresSeveralFilesOverTheSameConnections) {
  EXPECT_EQ(store({data_block(0, front_) + end_of_file(2), data_block(100'000, back_) + end_of_data()}), 226);
  EXPECT_EQ(talk_->ask("STOR /y"), 125);
  EXPECT_TRUE(data_[0].send(data_block(0, back_) + end_of_data()));
  EXPECT_TRUE(data_[1].send(end_of_file(2)));
  EXPECT_EQ(talk_->hear_end(), 226);
  EXPECT_TRUE(stored("x") == content_ && stored("y") == back_);
}

TEST_F(GridftpEdgeTest, RetrievesSeveralFilesOverTheSameConnection) {
  offer("a", front_);
  offer("b", back_);
  const TcpListener listener;
  EXPECT_EQ(talk_->ask("PORT " + ftp_port(listener.port())), 200);
  EXPECT_EQ(talk_->ask("RETR /a"), 150);
  auto connection = listener.accept(kAtOnce);
  ASSERT_TRUE(connection);
  for (const std::string& content : {front_, back_, front_}) {
    BlocksRead read;
    read_blocks(*connection, read);
    EXPECT_TRUE(read.content == content && read.whole);
    EXPECT_EQ(read.ends, 1U);
    EXPECT_EQ(talk_->hear_end(), 226);
    EXPECT_EQ(talk_->ask(content == back_ ? "RETR /a" : "RETR /b"), 125);
  }
  BlocksRead last;
  read_blocks(*connection, last);
  EXPECT_EQ(talk_->hear_end(), 226);
}

TEST_F(GridftpEdgeTest, TakesALoneCloseForTheEndOfAKeptConnection) {
  EXPECT_EQ(store({data_block(0, front_) + end_of_file(1)}), 226);
  EXPECT_TRUE(data_.front().send(block(kBlockClose, 0, 0)));
  data_.front().finish_sending();
  EXPECT_EQ(talk_->ask("STOR /y"), 125);
  TcpClient data = connect_data();
  EXPECT_TRUE(data.send(data_block(0, content_) + end_of_file(1)));
  EXPECT_EQ(talk_->hear_end(), 226);
  EXPECT_TRUE(stored("y") == content_);
}

TEST_F(GridftpEdgeTest, SaysALoneCloseOnAConnectionThatItEnds) {
  offer("a", front_);
  const TcpListener listener;
  EXPECT_EQ(talk_->ask("PORT " + ftp_port(listener.port())), 200);
  EXPECT_EQ(talk_->ask("RETR /a"), 150);
  auto connection = listener.accept(kAtOnce);
  ASSERT_TRUE(connection);
  BlocksRead read;
  read_blocks(*connection, read);
  EXPECT_EQ(talk_->hear_end(), 226);
  EXPECT_NE(talk_->passive(), 0);
  EXPECT_EQ(connection->receive(17), block(kBlockClose, 0, 0));
  EXPECT_TRUE(connection->receive_end());
}

// ---- Directions ----------------------------------------------------------------------------------------------------

TEST_F(GridftpEdgeTest, RefusesTheWrongDirection) {
  offer("a", front_);
  EXPECT_NE(talk_->passive(), 0);
  for (const char* line : {"RETR /a", "ERET P 0 1 /a", "MLSD /", "NLST /", "LIST"})
    EXPECT_THAT(talk_->ask(line), AnyOf(425, 500, 503)) << line;
  const TcpListener listener;
  EXPECT_EQ(talk_->ask("PORT " + ftp_port(listener.port())), 200);
  EXPECT_THAT(talk_->ask("STOR /x"), AnyOf(425, 500, 503));
}

// ---- Ranges --------------------------------------------------------------------------------------------------------

TEST_F(GridftpEdgeTest, SaysWhatIsStoredAndGoesOnFromThere) {
  const std::string large = random_text(9, 12 * kMiB);
  const std::size_t sent = 10 * kMiB;
  TcpClient data = connect_data();
  EXPECT_EQ(talk_->ask("STOR /x"), 150);
  EXPECT_TRUE(data.send(data_block(0, large.substr(0, sent))));
  int code = talk_->hear();
  while (code == 112) code = talk_->hear();
  ASSERT_EQ(code, 111);
  const std::string ranges = talk_->said().substr(talk_->said().rfind(' ') + 1);
  EXPECT_THAT(ranges, testing::StartsWith("0-"));
  const std::size_t safe = std::stoull(ranges.substr(2));
  EXPECT_GT(safe, 0U);
  EXPECT_LE(safe, sent);
  talk_ = arrive();  // the client went, and came again
  EXPECT_EQ(talk_->ask("REST " + ranges), 350);
  EXPECT_EQ(store({data_block(safe, large.substr(safe, 2 * kMiB)) + end_of_data(),
                   data_block(safe + 2 * kMiB, large.substr(safe + 2 * kMiB)) + end_of_file(2)}),
            226)
      << talk_->said();
  EXPECT_TRUE(stored() == large);
}

TEST_F(GridftpEdgeTest, DoesNotBelieveRangesThatItNeverSaid) {
  EXPECT_EQ(talk_->ask("REST 0-100000"), 350);
  EXPECT_EQ(store({data_block(100'000, back_) + end_of_file(1)}), 550);
  EXPECT_FALSE(exists());
}

TEST_F(GridftpEdgeTest, RetrievesOnlyWhatIsMissing) {
  offer("a", content_);
  EXPECT_EQ(talk_->ask("REST 0-50000,100000-299999"), 350);
  const BlocksRead read = retrieve("RETR /a");
  EXPECT_EQ(read.payload, 50'001U);
  EXPECT_TRUE(read.content.substr(50'000, 50'000) == content_.substr(50'000, 50'000));
  EXPECT_EQ(read.content.back(), content_.back());
}

TEST_F(GridftpEdgeTest, CountsAPartFromItsBeginning) {
  offer("x", content_);
  EXPECT_TRUE(retrieve("ERET P 1000 5000 /x").content == content_.substr(1000, 5000));
  EXPECT_EQ(store({data_block(0, front_) + end_of_file(1)}, "ESTO A 200000 /x"), 226);
  EXPECT_TRUE(stored() == content_.substr(0, 200'000) + front_);
}

TEST_F(GridftpEdgeTest, TakesExactlyWhatWasAllocated) {
  for (const char* allocation : {"ALLO 299999", "ALLO 300001", "ALLO 0"}) {
    EXPECT_EQ(talk_->ask(allocation), 200);
    EXPECT_EQ(store({data_block(0, content_) + end_of_file(1)}), 426) << allocation;
    EXPECT_FALSE(exists());
  }
}

// ---- Clients that change their minds -------------------------------------------------------------------------------

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

TEST_F(GridftpEdgeTest, TakesAFileAgainFromAClientThatHungUpInTheMiddle) {
  for (const char* mode : {"MODE E", "MODE S"}) {
    data_port_ = 0;
    EXPECT_EQ(talk_->ask(mode), 200);
    const TcpClient data = connect_data();
    EXPECT_EQ(talk_->ask("STOR /x"), 150);
    EXPECT_TRUE(data.send(data_block(0, front_)));
    talk_ = arrive();
    EXPECT_TRUE(takes_it_soon()) << mode;
    EXPECT_TRUE(stored() == content_);
  }
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
