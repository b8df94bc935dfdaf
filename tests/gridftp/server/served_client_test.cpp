// SPDX-License-Identifier: Apache-2.0
#include "gridftp/server/served_client.hpp"

#include <gmock/gmock.h>

#include "gridftp/server/served_words.hpp"

namespace udtcat::gridftp {
namespace {

using testing::HasSubstr;

class ServedClients : public Served {
 protected:
  ServedClients() {
    folder.write("file", Bytes(20));
    std::filesystem::create_directory(folder / "directory");
    serve();
  }
};

TEST_F(ServedClients, SayWhoTheyAreAndWhatTheyCan) {
  client = visit();
  const Reply features = ask("FEAT");
  EXPECT_EQ(features.code, 211);
  for (const char* feature : {"PARALLEL", "SIZE", "ERET", "ESTO", "SPAS", "SPOR", "REST STREAM", "DCAU"})
    EXPECT_THAT(features.text(), HasSubstr(feature));
  EXPECT_EQ(ask("NOOP").code, 200);
  EXPECT_EQ(ask("QUIT").code, 221);
  EXPECT_EQ(next_reply().code, 0) << "and it hangs up";
}

TEST_F(ServedClients, AreToBeLoggedIn) {
  client = visit();
  for (const char* line :
       {"SIZE /file", "PASV", "RETR /file", "STOR /x", "MKD /x", "CWD /", "MODE E", "SITE SETNETSTACK tcp"})
    EXPECT_EQ(ask(line).code, 530) << line;
  EXPECT_EQ(ask("PASS x").code, 503) << "whose?";
  EXPECT_EQ(ask("USER root").code, 530);
  EXPECT_EQ(ask("PASS x").code, 503);
  EXPECT_EQ(ask("USER anonymous").code, 331);
  EXPECT_EQ(ask("PASS x").code, 230);
  EXPECT_EQ(ask("SIZE /file").text(), "20");
}

TEST_F(ServedClients, WalkThroughTheDirectory) {
  log_in();
  EXPECT_EQ(ask("PWD").text(), "\"/\"");
  EXPECT_EQ(ask("CWD directory").code, 250);
  EXPECT_EQ(ask("PWD").text(), "\"/directory\"");
  EXPECT_EQ(ask("SIZE ../file").text(), "20");
  EXPECT_EQ(ask("CDUP").code, 250);
  EXPECT_EQ(ask("CWD ../../..").code, 250);
  EXPECT_EQ(ask("PWD").text(), "\"/\"");
  EXPECT_EQ(ask("CWD file").code, 550);
  EXPECT_EQ(ask("CWD none").code, 550);
}

TEST_F(ServedClients, TellFactsOfFiles) {
  log_in();
  EXPECT_EQ(ask("SIZE /file").code, 213);
  EXPECT_EQ(ask("MDTM /file").text().size(), 14U);
  EXPECT_THAT(ask("MLST /file").text(), HasSubstr("Size=20;"));
  EXPECT_THAT(ask("MLST /directory").text(), HasSubstr("Type=dir;"));
  EXPECT_EQ(ask("SIZE /directory").code, 550);
  EXPECT_EQ(ask("SIZE /none").code, 550);
  EXPECT_EQ(ask("SIZE /../../../etc/passwd").code, 550);
}

TEST_F(ServedClients, ChangeFiles) {
  log_in();
  EXPECT_EQ(ask("RNTO /x").code, 503) << "of what?";
  EXPECT_EQ(ask("RNFR /none").code, 550);
  EXPECT_EQ(ask("RNFR /file").code, 350);
  EXPECT_EQ(ask("RNTO /directory/name").code, 250);
  EXPECT_EQ(ask("RNTO /again").code, 503) << "once";
  EXPECT_EQ(ask("DELE /directory").code, 550);
  EXPECT_EQ(ask("DELE /directory/name").code, 250);
  EXPECT_EQ(ask("RMD /directory").code, 250);
  EXPECT_EQ(ask("MKD new").code, 257);
  EXPECT_TRUE(folder.has("new"));
}

TEST_F(ServedClients, ChangeNothingWhereTheServerIsReadOnly) {
  ServeOptions options;
  options.read_only = true;
  serve(options);
  begin_blocks();
  for (const char* line : {"MKD /x", "RMD /directory", "DELE /file", "RNFR /file", "RNTO /x"})
    EXPECT_EQ(ask(line).code, 550) << line;
  ask_where();
  EXPECT_EQ(put("STOR /x", Bytes(10)).code, 550);
  EXPECT_EQ(put("ESTO A 0 /file", Bytes(10)).code, 550);
  EXPECT_FALSE(folder.has("x"));
  EXPECT_TRUE(folder.read("file") == Bytes(20));
}

TEST_F(ServedClients, SayWhatTheyDoNotKnow) {
  log_in();
  EXPECT_EQ(ask("").code, 500);
  EXPECT_EQ(ask("XYZZY and more").code, 500);
  EXPECT_EQ(ask("SITE EXEC rm").code, 500);
  EXPECT_EQ(ask("AUTH GSSAPI").code, 504);
  EXPECT_EQ(ask("TYPE E").code, 504);
  EXPECT_EQ(ask("MODE B").code, 504);
  EXPECT_EQ(ask("STRU R").code, 504);
  for (const char* line : {"ERET", "ERET P", "ERET P 1", "ERET P 1 2", "ERET P -1 2 /file", "ERET X 1 2 /file",
                           "ERET P 99999999999999999999 1 /file", "ERET P 18446744073709551615 1 /file", "ESTO",
                           "ESTO A", "ESTO A x /file", "ESTO A 18446744073709551615 /file"})
    EXPECT_EQ(ask(line).code, 501) << line;
}

TEST_F(ServedClients, AnswerInOrderWhatIsSentAhead) {
  log_in();
  for (int i = 0; i < 300; ++i) EXPECT_TRUE(send(i % 2 == 0 ? "NOOP" : "SIZE /file"));
  for (int i = 0; i < 300; ++i) ASSERT_EQ(next_reply().code, i % 2 == 0 ? 200 : 213) << i;
}

TEST_F(ServedClients, AreHeardOnlyAsFarAsCommandsMayWait) {
  log_in();
  for (int i = 0; i < 1'000; ++i) EXPECT_TRUE(send("SIZE /" + std::string(1'000, 'x')));
  for (int i = 0; i < 1'000; ++i) ASSERT_EQ(next_reply().code, 550) << i;
  EXPECT_EQ(ask("NOOP").code, 200);
}

TEST_F(ServedClients, AreSentAwayWhereALineHasNoEnd) {
  log_in();
  EXPECT_TRUE(send("RETR " + std::string(2'000'000, 'x')));
  EXPECT_EQ(next_reply().code, 0);
  expect_good_service();
}

TEST_F(ServedClients, AreSentAwayWhereTheySayNothing) {
  ServeOptions options;
  options.login_patience = std::chrono::seconds(0);
  serve(options);
  const auto connected = run(io, [](boost::asio::io_context& loop, HostPort at) -> Task<bool> {
    auto visitor = co_await ControlClient::connect(loop, at, std::chrono::seconds(30));
    if (!visitor) co_return false;
    co_return (co_await (*visitor)->reply()).has_value();
  }(io, where()));
  EXPECT_FALSE(connected);
}

}  // namespace
}  // namespace udtcat::gridftp
