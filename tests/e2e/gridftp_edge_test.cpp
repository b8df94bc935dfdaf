// SPDX-License-Identifier: Apache-2.0
/// Clients' data, right, wrong and hostile: to our server, byte by byte.
#include <gmock/gmock.h>

#include "e2e/support/gridftp_edge_test.hpp"

namespace udtcat::test::e2e {
namespace {

using testing::AnyOf;

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

TEST_F(GridftpEdgeTest, TellsThatAConnectionBrokeInsideItsFirstHeader) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{16}}) {
    data_port_ = 0;
    const TcpClient data = connect_data();
    EXPECT_TRUE(data.send(data_block(0, content_).substr(0, bytes)));
    data.finish_sending();
    EXPECT_TRUE(talk_->send("STOR /x"));
    EXPECT_EQ(talk_->hear_end(), 426) << bytes;
  }
  EXPECT_FALSE(exists() || exists("x.part"));
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

TEST_F(GridftpEdgeTest, LeavesNothingOfAnUploadThatItRefuses) {
  EXPECT_EQ(talk_->ask("REST 0-100000"), 350);
  EXPECT_EQ(store({data_block(100'000, back_) + end_of_file(1)}), 550);
  EXPECT_FALSE(exists() || exists("x.part") || exists("x.part.have"));
}

TEST_F(GridftpEdgeTest, DoesNotCallAFileSentThatHasBecomeShorterUnderWay) {
  offer("a", std::string(64 * kMiB, 'x'));
  const TcpListener listener;
  EXPECT_EQ(talk_->ask("PORT " + ftp_port(listener.port())), 200);
  EXPECT_EQ(talk_->ask("RETR /a"), 150);
  auto connection = listener.accept(kAtOnce);
  ASSERT_TRUE(connection);
  std::filesystem::resize_file(root_ / "a", 32 * kMiB);  // far more than lies between, and nobody has read yet
  BlocksRead read;
  read_blocks(*connection, read);
  EXPECT_FALSE(read.whole);
  EXPECT_EQ(talk_->hear_end(), 451);
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

// ---- More connections than there may be -----------------------------------------------------------------------------

TEST_F(GridftpEdgeTest, RefusesDataConnectionsBeyondTheShareOfANetwork) {
  offer("large", front_);
  std::filesystem::resize_file(root_ / "large", 4096 * kMiB);
  const TcpListener listener;
  EXPECT_EQ(talk_->ask("OPTS RETR Parallelism=64,64,64;"), 200);
  EXPECT_EQ(talk_->ask("PORT " + ftp_port(listener.port())), 200);
  EXPECT_EQ(talk_->ask("RETR /large"), 150);
  std::vector<TcpClient> unread;
  while (unread.size() < 64) unread.push_back(listener.accept(kAtOnce).value());
  const auto other = arrive();
  EXPECT_EQ(other->ask("PORT " + ftp_port(listener.port())), 200);
  EXPECT_EQ(other->ask("RETR /large"), 150);
  EXPECT_EQ(other->hear_end(), 425);
  EXPECT_THAT(other->said(), testing::HasSubstr("have 64 of 64"));
  const TcpClient data(other->passive(), kAtOnce);
  EXPECT_TRUE(other->send("STOR /x"));
  EXPECT_EQ(other->hear_end(), 425);
  EXPECT_THAT(other->said(), testing::HasSubstr("have 64 of 64"));
  FtpDialogue elsewhere("127.0.2.1", port_);
  elsewhere.log_in();
  const TcpClient theirs("127.0.2.1", elsewhere.passive(), kAtOnce);
  EXPECT_TRUE(theirs.send(data_block(0, content_) + end_of_file(1)));
  EXPECT_TRUE(elsewhere.send("STOR /x"));
  EXPECT_EQ(elsewhere.hear_end(), 226) << "another network has its own";
  unread.clear();
  EXPECT_EQ(talk_->hear_end(), 426);
  EXPECT_TRUE(takes_it_soon());
}

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

}  // namespace
}  // namespace udtcat::test::e2e
