// SPDX-License-Identifier: Apache-2.0
#include "gridftp/client/outcome.hpp"

#include "gridftp/support.hpp"

namespace udtcat::gridftp {
namespace {

const Error kCut{Errc::connection_broken, "get", "cut"};

class Attempts : public testing::Test {
 protected:
  Attempts() { options.retry_pause = std::chrono::milliseconds(1), options.retries = 3; }
  /// Each attempt moves `moves` bytes and ends as the next of `ends` says, then well.
  Status try_all(std::vector<std::optional<Error>> ends, std::vector<std::uint64_t> moves) {
    return run(io, with_retries(io, options, progress, [this, ends, moves]() -> Task<Status> {
                 const std::size_t at = tried++;
                 if (at < moves.size()) progress->bytes += moves[at], progress->kept_bytes += moves[at];
                 progress->bytes += again;
                 if (at < ends.size() && ends[at]) co_return tl::unexpected(*ends[at]);
                 co_return Status{};
               }));
  }

  boost::asio::io_context io;
  TransferOptions options;
  SharedProgress progress = std::make_shared<TransferProgress>();
  std::size_t tried = 0;
  std::uint64_t again = 0;  // bytes that each attempt moves as the one before did
};

TEST_F(Attempts, GoOnAfterCuts) {
  EXPECT_TRUE(try_all({kCut, kCut}, {10, 10, 10}));
  EXPECT_EQ(tried, 3U);
}

TEST_F(Attempts, EndAfterSoManyInARowThatMovedNothing) {
  EXPECT_FALSE(try_all(std::vector<std::optional<Error>>(20, kCut), {10, 0, 0, 10}));
  EXPECT_EQ(tried, 8U) << "one, two in vain, one, three in vain and the last";
}

TEST_F(Attempts, EndWhereTheSameBytesComeAgainAndAgain) {
  again = 1000;
  EXPECT_FALSE(try_all(std::vector<std::optional<Error>>(20, kCut), {}));
  EXPECT_EQ(tried, 4U);
}

TEST_F(Attempts, CountWhatComesAgainOnce) {
  again = 1000;
  EXPECT_TRUE(try_all({kCut, kCut}, {10, 10, 10}));
  EXPECT_EQ(progress->bytes, 10U + 10U + 1010U);
}

TEST_F(Attempts, EndAtOnceAtAPermanentError) {
  EXPECT_EQ(try_all({Error{Errc::protocol_violated, "get", "nonsense"}}, {10}).error().code, Errc::protocol_violated);
  EXPECT_EQ(tried, 1U);
}

TEST_F(Attempts, EndAtOnceWhereNobodyWasEverReached) {
  EXPECT_EQ(try_all({Error{Errc::cannot_reach, "get", "refused"}}, {}).error().code, Errc::cannot_reach);
  EXPECT_EQ(tried, 1U);
}

TEST_F(Attempts, WaitForAServerThatWentInTheMiddle) {
  const Error away{Errc::cannot_reach, "get", "refused"};
  EXPECT_TRUE(try_all({kCut, away, away}, {10, 0, 0, 10}));
  EXPECT_EQ(tried, 4U);
}

TEST(Refusal, IsOfOneFileUnlessStorageIsExceededAndOfABusyOneAtTheLastAttempt) {
  const auto refused = [](const char* said) { return Error{Errc::stream_refused, "", said}; };
  EXPECT_TRUE(is_of_one(refused("550 none")));
  EXPECT_FALSE(is_of_one(refused("552 quota"), true));
  EXPECT_FALSE(is_of_one(refused("450 busy")));
  EXPECT_TRUE(is_of_one(refused("450 busy"), true));
  EXPECT_TRUE(is_of_one({Errc::local_read_failed, "", ""}));
}

TEST(Cuts, AreWhatTheNextAttemptMaySurvive) {
  for (const Errc code : {Errc::connection_broken, Errc::peer_lost, Errc::cannot_reach, Errc::peer_interrupted})
    EXPECT_TRUE(is_cut({code, "", ""}, false)) << static_cast<int>(code);
  for (const Errc code : {Errc::protocol_violated, Errc::authentication_failed, Errc::local_write_failed})
    EXPECT_FALSE(is_cut({code, "", ""}, true)) << static_cast<int>(code);
  EXPECT_TRUE(is_cut({Errc::stream_refused, "", ""}, true));
  EXPECT_FALSE(is_cut({Errc::stream_refused, "", ""}, false)) << "a refusal";
}

TEST(Cuts, AreWhatAServerCallsTransient) {
  for (const bool moved : {false, true}) {
    for (const char* said : {"421 too many", "425 no data connection", "426 it broke", "450 busy", "452 full"})
      EXPECT_TRUE(is_cut({Errc::stream_refused, "", said}, moved)) << said;
    for (const char* said : {"501 what", "504 no", "530 who", "536 level", "550 none", "552 quota", "553 no"})
      EXPECT_FALSE(is_cut({Errc::stream_refused, "", said}, moved)) << said;
  }
  EXPECT_FALSE(is_cut({Errc::stream_refused, "", "500 Command failed"}, false));
  EXPECT_TRUE(is_cut({Errc::stream_refused, "", "500 Command failed"}, true)) << "so stock servers call broken data";
}

TEST(Cuts, AreNoneWhereAServerThatSays500OfAllSaysThatItIsTheFile) {
  const std::string globus = "500 Command failed. : globus_xio: Unable to open file /x: System error in open: ";
  for (const char* words :
       {"Permission denied", "No such file or directory", "Is a directory", "Read-only file system"})
    for (const bool moved : {false, true})
      EXPECT_FALSE(is_cut({Errc::stream_refused, "", globus + words}, moved)) << words;
  EXPECT_TRUE(is_cut({Errc::stream_refused, "", "500 System error in writev: Connection reset by peer"}, true));
  EXPECT_FALSE(may_not_reach_us({Errc::stream_refused, "", globus + "Permission denied"}));
}

TEST_F(Attempts, EndAtOnceWhereAServerRefusesTheNextFileForGood) {
  progress->bytes = 1000;  // of the file before
  EXPECT_FALSE(try_all({Error{Errc::stream_refused, "get", "500 no such file"}}, {}));
  EXPECT_EQ(tried, 1U);
}

TEST(Unreachable, WeMayBeWhereAServerSaysThatDataDoNotConnect) {
  for (const char* said :
       {"425 no", "500 Unable to connect", "501 what", "502 no PORT", "504 not there", "522 no EPRT"})
    EXPECT_TRUE(may_not_reach_us({Errc::stream_refused, "", said})) << said;
  for (const char* said : {"426 broken", "450 busy", "530 who", "550 none"})
    EXPECT_FALSE(may_not_reach_us({Errc::stream_refused, "", said})) << said;
  for (const char* said : {"425 no", "450 busy", "500 Unable to connect"})
    EXPECT_TRUE(may_reach_us_next_time({Errc::stream_refused, "", said})) << said;
  for (const char* said : {"502 no PORT", "504 not there"})
    EXPECT_FALSE(may_reach_us_next_time({Errc::stream_refused, "", said})) << said;
  EXPECT_FALSE(may_reach_us_next_time({Errc::peer_lost, "", "it says nothing"})) << "each file would wait as long";
  EXPECT_TRUE(may_not_reach_us({Errc::peer_lost, "", "it says nothing"})) << "a filter drops what it sends to us";
  EXPECT_FALSE(may_not_reach_us({Errc::local_write_failed, "", "no space"}));
}

}  // namespace
}  // namespace udtcat::gridftp
