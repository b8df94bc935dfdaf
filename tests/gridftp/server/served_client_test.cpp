// SPDX-License-Identifier: Apache-2.0
#include "gridftp/server/served_client.hpp"

#include <gmock/gmock.h>

#include <udtcat/log.hpp>

#include "gridftp/mode_e/data_port_range.hpp"
#include "gridftp/mode_e/stream_mode.hpp"
#include "gridftp/server/serving_fixture.hpp"

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

TEST_F(ServedClients, AnswerSystFeatAndHelp) {
  client = visit();
  const Reply features = ask("FEAT");
  EXPECT_EQ(features.code, 211);
  for (const char* feature : {"PARALLEL", "SIZE", "ERET", "ESTO", "SPAS", "SPOR", "REST STREAM", "DCAU"})
    EXPECT_THAT(features.text(), HasSubstr(feature));
  EXPECT_EQ(ask("NOOP").code, 200);
  EXPECT_EQ(ask("QUIT").code, 221);
  EXPECT_EQ(next_reply().code, 0) << "and it hangs up";
}

TEST_F(ServedClients, NeedALogin) {
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

TEST_F(ServedClients, ChangeTheirDirectory) {
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

TEST_F(ServedClients, WithoutAKeyChangeNothingWithoutALineForTheOperator) {
  std::vector<std::string> lines;
  tool::set_event_sink([&](const tool::LogEvent& event) {
    if (event.kind == tool::EventKind::change) lines.push_back(event.message);
  });
  log_in();
  for (const char* line : {"MKD new", "RMD new", "RNFR file", "RNTO other", "DELE other", "DELE none"}) ask(line);
  tool::set_event_sink({});
  EXPECT_THAT(lines,
              testing::ElementsAre(HasSubstr(": made the directory /new"), HasSubstr(": deleted the directory /new"),
                                   HasSubstr(": renamed /file to /other"), HasSubstr(": deleted /other")));
}

TEST_F(ServedClients, WithoutAKeyDoNotFillTheLog) {
  std::size_t lines = 0;
  tool::set_event_sink([&](const tool::LogEvent&) { ++lines; });
  log_in();
  for (int i = 0; i < 200; ++i) {
    ask("MKD new");
    ask("RMD new");
  }
  tool::set_event_sink({});
  EXPECT_GE(lines, 64U);
  EXPECT_LE(lines, 70U) << "and then one for many";
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

TEST_F(ServedClients, RefuseUnknownCommands) {
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

TEST_F(ServedClients, AreReadOnlyUpToTheLimitOfWaitingCommands) {
  log_in();
  for (int i = 0; i < 1'000; ++i) EXPECT_TRUE(send("SIZE /" + std::string(1'000, 'x')));
  for (int i = 0; i < 1'000; ++i) ASSERT_EQ(next_reply().code, 550) << i;
  EXPECT_EQ(ask("NOOP").code, 200);
}

/// Proves: gridftp.command-length
TEST_F(ServedClients, AreClosedAfterALineWithoutAnEnd) {
  log_in();
  EXPECT_TRUE(send("RETR " + std::string(2'000'000, 'x')));
  EXPECT_EQ(next_reply().code, 0);
  expect_good_service();
}

TEST_F(ServedClients, AreClosedAfterSilence) {
  ServeOptions options;
  options.login_timeout = std::chrono::seconds(0);
  serve(options);
  const auto connected = run(io, [](boost::asio::io_context& loop, HostPort at) -> Task<bool> {
    auto visitor = co_await ControlClient::connect(loop, at, std::chrono::seconds(30));
    if (!visitor) co_return false;
    co_return (co_await (*visitor)->reply()).has_value();
  }(io, where()));
  EXPECT_FALSE(connected);
}

class ListedClients : public ServedClients {
 protected:
  ListedClients() {
    folder.write("directory/deep", {});
    std::filesystem::create_directory(folder / "-dash");
    folder.write("-dash/within", {});
    log_in();
  }
  /// The text of a listing, in stream mode, or the code of a refusal.
  std::string list(const std::string& line) {
    ask_where();
    EXPECT_TRUE(send(line));
    const Reply begun = next_reply();
    if (begun.code != 150) return std::to_string(begun.code);
    const auto connection = run(io, path.single());
    sink = std::make_shared<MemorySink>();
    files::ByteRanges have;
    EXPECT_TRUE(connection && run(io, receive_stream_mode(**connection, *sink, have, std::nullopt)));
    end = next_reply();
    // SAFETY: any byte is a char.
    return {reinterpret_cast<const char*>(sink->content.data()), sink->content.size()};
  }
  Reply end;
};

TEST_F(ListedClients, MayUseTheFlagsOfLs) {
  for (const char* line : {"NLST -la /directory", "NLST -a -l directory", "NLST -1 -- /directory", "NLST /directory"})
    EXPECT_EQ(list(line), "deep\r\n") << line;
  EXPECT_THAT(list("LIST -a /directory"), HasSubstr(" deep\r\n"));
  EXPECT_THAT(list("NLST -la"), HasSubstr("directory\r\n"));
  EXPECT_EQ(list("NLST -la /nothere"), "550") << "and not the root";
  EXPECT_EQ(list("NLST -not/there"), "550");
}

TEST_F(ListedClients, MayNameADirectoryThatLooksLikeAFlag) {
  for (const char* line : {"NLST -dash", "NLST ./-dash", "NLST -la -dash", "NLST -- -dash"})
    EXPECT_EQ(list(line), "within\r\n") << line;
}

TEST_F(ListedClients, AreToldHowManyNamesAreMissing) {
  EXPECT_EQ(list("NLST -dash"), "within\r\n");
  EXPECT_EQ(end.text(), "Listing complete.");
  folder.write("-dash/a\nb", {});
  EXPECT_EQ(list("NLST -dash"), "within\r\n");
  EXPECT_EQ(end.code, 226);
  EXPECT_EQ(end.text(), "Listing complete, without 1 name: 1 with a line end, which FTP cannot carry.");
}

TEST_F(ListedClients, GetListingsInStatusReplies) {
  EXPECT_EQ(ask("STAT").code, 211);
  EXPECT_THAT(ask("STAT /directory").text(), HasSubstr(" deep"));
  EXPECT_EQ(ask("STAT -la /directory").code, 213);
  EXPECT_THAT(ask("STAT /file").text(), HasSubstr(" 20 "));
  EXPECT_EQ(ask("STAT /none").code, 450);
}

TEST_F(ServedClients, FindTheEndOfANameWithQuotes) {
  log_in();
  EXPECT_EQ(ask("MKD a \"b\" c").text(), "\"/a \"\"b\"\" c\" created.");
  EXPECT_EQ(ask("CWD a \"b\" c").code, 250);
  EXPECT_EQ(ask("PWD").text(), "\"/a \"\"b\"\" c\"");
}

TEST_F(ServedClients, AreToldChecksums) {
  folder.write("text", bytes_of("Wikipedia"));
  log_in();
  EXPECT_EQ(ask("CKSM ADLER32 0 -1 /text").text(), "11e60398");
  EXPECT_EQ(ask("CKSM md5 0 -1 text").text(), "9c677286866aad38f8e9b660f5411814");
  EXPECT_EQ(ask("CKSM MD5 4 5 text").text(), ask("CKSM MD5 4 -1 text").text());
  EXPECT_EQ(ask("CKSM MD5 0 -1 /text").code, 213);
  EXPECT_EQ(ask("CKSM MD5 4 6 text").code, 554) << "it is shorter";
  EXPECT_EQ(ask("CKSM CRC 0 -1 text").code, 504);
  EXPECT_EQ(ask("CKSM MD5 0 -1 none").code, 550);
  EXPECT_EQ(ask("CKSM MD5 0 -1 directory").code, 550);
  for (const char* wrong : {"CKSM", "CKSM MD5", "CKSM MD5 0 -1", "CKSM MD5 0 -1 ", "CKSM MD5 -1 0 text"})
    EXPECT_EQ(ask(wrong).code, 501) << wrong;
  EXPECT_THAT(ask("FEAT").text(), HasSubstr("CKSUM"));
}

TEST_F(ServedClients, GetPortsAndAddressOfTheOptions) {
  ServeOptions options;
  options.data.ports = std::make_shared<DataPortRange>(21'000, 21'099);  // the system itself chooses higher ones
  options.data_address = parse_data_port("192,0,2,7,0,0").value();
  serve(std::move(options));
  log_in();
  for (const char* line : {"PASV", "PASV", "SPAS"}) {
    const auto port = find_data_port(ask(line).text());
    ASSERT_TRUE(port);
    EXPECT_EQ(port->endpoint.host_to_string(), "192.0.2.7");
    EXPECT_TRUE(port->endpoint.port() >= 21'000 && port->endpoint.port() <= 21'099) << port->endpoint.port();
  }
  EXPECT_THAT(ask("EPSV").text(), HasSubstr("|||210"));
}

TEST_F(ListedClients, MayAskByPatterns) {
  EXPECT_EQ(list("NLST d*"), "directory\r\n");
  EXPECT_EQ(list("NLST directory/?eep"), "directory/deep\r\n") << "which can be asked for as it is";
  EXPECT_THAT(list("LIST -l *le"), HasSubstr(" file\r\n"));
  EXPECT_EQ(list("NLST *.none"), "");
  EXPECT_EQ(list("NLST /none/*"), "550");
  folder.write("a*b", {});
  EXPECT_EQ(list("NLST /a*b"), "/a*b\r\n") << "a name like any other";
}

}  // namespace
}  // namespace udtcat::gridftp
