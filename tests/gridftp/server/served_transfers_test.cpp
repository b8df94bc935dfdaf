// SPDX-License-Identifier: Apache-2.0
#include "gridftp/server/served_transfers.hpp"

#include <gmock/gmock.h>
#include <boost/asio/write.hpp>

#include "gridftp/mode_e/stream_mode.hpp"
#include "gridftp/server/serving_fixture.hpp"

namespace udtcat::gridftp {
namespace {

using testing::HasSubstr;

class ServedTransfer : public Served {
 protected:
  ServedTransfer() {
    folder.write("file", content);
    serve();
    begin_blocks();
  }
  /// Stream mode: what came on the one connection, and the server's last word.
  Reply receive_stream(const std::string& line) {
    EXPECT_TRUE(send(line));
    const auto connection = run(io, path.single());
    sink = std::make_shared<MemorySink>();
    files::ByteRanges have;
    EXPECT_TRUE(connection && run(io, receive_stream_mode(**connection, *sink, have, std::nullopt)));
    return hear_end();
  }

  const Bytes content = random_bytes(100'000);
};

TEST_F(ServedTransfer, SendAndTakeFiles) { expect_good_service(); }

TEST_F(ServedTransfer, SendToSeveralAddressesOnSeveralConnections) {
  EXPECT_EQ(ask("OPTS RETR Parallelism=3,3,3;").code, 200);
  call_us("SPOR", 3);
  EXPECT_EQ(receive("RETR /file").code, 226);
  EXPECT_TRUE(sink->content == content);
}

TEST_F(ServedTransfer, ListenForStripedSenders) {
  path.aim(striped_passive_ports(ask("SPAS")).value());
  EXPECT_EQ(put("STOR /x", content).code, 226);
  EXPECT_TRUE(folder.read("x") == content);
}

TEST_F(ServedTransfer, UseTheSameConnectionsForTheNextFile) {
  ask_where();
  EXPECT_EQ(put("STOR /x", content).code, 226);
  EXPECT_TRUE(send("STOR /y"));
  EXPECT_EQ(next_reply().code, 125);
  EXPECT_EQ(put("NOOP", content).code, 226) << "the file, whose blocks come now";
  EXPECT_EQ(next_reply().code, 200);
  call_us();
  EXPECT_EQ(receive("RETR /x").code, 226);
  EXPECT_EQ(receive("RETR /y").code, 226);
  EXPECT_TRUE(sink->content == content);
}

TEST_F(ServedTransfer, AskWhereTheDataGo) {
  for (const char* line : {"RETR /file", "RETR /none", "STOR /x", "MLSD /", "MLSD /none", "NLST /none"})
    EXPECT_EQ(ask(line).code, 425) << line << ": before anybody looks at files";
  ask_where();
  for (const char* line : {"RETR /file", "MLSD /"}) EXPECT_EQ(ask(line).code, 425) << line;
  call_us();
  EXPECT_EQ(ask("STOR /x").code, 425);
}

TEST_F(ServedTransfer, SendAPartCountedFromItsBeginning) {
  call_us();
  EXPECT_EQ(receive("ERET P 1000 500 /file", files::ByteRange{0, 500}).code, 226);
  EXPECT_TRUE(sink->content == Bytes(content.begin() + 1000, content.begin() + 1500));
  EXPECT_EQ(receive("ERET P 99000 5000 /file", files::ByteRange{0, 1000}).code, 226) << "up to the end";
  EXPECT_EQ(ask("ERET P 100001 1 /file").code, 554);
}

TEST_F(ServedTransfer, TakeAPartIntoTheFileThatIsThere) {
  ask_where();
  EXPECT_EQ(put("ESTO A 500 /file", Bytes(100)).code, 226);
  Bytes expected = content;
  std::fill_n(expected.begin() + 500, 100, std::byte{});
  EXPECT_TRUE(folder.read("file") == expected);
}

TEST_F(ServedTransfer, LeaveOutWhatTheClientHas) {
  call_us();
  EXPECT_EQ(ask("REST 0-40000,60000-100000").code, 350);
  EXPECT_EQ(
      receive("RETR /file", files::ByteRange{0, 100'000}, files::ByteRanges::parse("0-40000,60000-100000").value())
          .code,
      226);
  EXPECT_EQ(path.arrived().bytes(), 100'000U);
  EXPECT_EQ(path.received_bytes(), 20'000U);
  EXPECT_EQ(receive("RETR /file", files::ByteRange{0, 100'000}).code, 226) << "once";
  EXPECT_EQ(ask("REST 5-4").code, 501);
  EXPECT_EQ(ask("REST x").code, 501);
}

TEST_F(ServedTransfer, ForgetWhatToLeaveOutWhereNoTransferBegan) {
  EXPECT_EQ(ask("REST 0-50000").code, 350);
  EXPECT_EQ(ask("STOR /x").code, 425);
  call_us();
  EXPECT_EQ(receive("RETR /file", files::ByteRange{0, 100'000}).code, 226);
  EXPECT_TRUE(sink->content == content);
}

TEST_F(ServedTransfer, GoOnOnlyWithWhatIsThere) {
  ask_where();
  EXPECT_EQ(ask("REST 0-50000").code, 350);
  EXPECT_EQ(put("STOR /x", content, 2, 50'000).code, 550) << "nothing is";
  EXPECT_EQ(ask("REST 0-50000").code, 350);
  EXPECT_EQ(put("STOR /file", content, 2, 50'000).code, 550) << "another file is";
  EXPECT_TRUE(folder.read("file") == content);
  EXPECT_FALSE(folder.has("x.part") || folder.has("file.part")) << "nothing is left of what was refused";
}

TEST_F(ServedTransfer, GoOnAfterACut) {
  ask_where();
  EXPECT_EQ(ask("ALLO 100000").code, 200);
  EXPECT_EQ(put("STOR /x", Bytes(content.begin(), content.begin() + 60'000)).code, 426);
  EXPECT_FALSE(folder.has("x"));
  ask_where();
  EXPECT_EQ(ask("REST 0-60000").code, 350);
  EXPECT_EQ(put("STOR /x", content, 2, 60'000).code, 226);
  EXPECT_TRUE(folder.read("x") == content);
}

TEST_F(ServedTransfer, ForgetNothingOfANamedSourceWhereTheClientLeavesOutLess) {
  for (const bool named : {false, true}) {
    const auto name_it = [&] { EXPECT_EQ(ask(named ? "SITE UPLOAD 100000-1" : "NOOP").code, 200); };
    const std::string file = named ? "/named" : "/unnamed";
    ask_where();
    name_it();
    EXPECT_EQ(ask("ALLO 100000").code, 200);
    EXPECT_EQ(put("STOR " + file, Bytes(content.begin(), content.begin() + 60'000)).code, 426);
    ask_where();
    name_it();
    EXPECT_EQ(ask("REST 0-40000").code, 350);
    EXPECT_TRUE(send("STOR " + file));
    const Reply begun = next_reply();
    EXPECT_EQ(begun.code, 150) << begun.text();
    EXPECT_TRUE(send("ABOR"));
    EXPECT_EQ(hear_end().code, 426);
    EXPECT_EQ(next_reply().code, 226);
    name_it();
    EXPECT_THAT(ask("SITE HAVE " + file).text(), HasSubstr(named ? "0-60000" : "0-40000"));
  }
}

TEST_F(ServedTransfer, PutNothingOfALongerFileBehindAShorterOneOfNoName) {
  ask_where();
  EXPECT_EQ(ask("ALLO 100000").code, 200);
  EXPECT_EQ(put("STOR /x", Bytes(content.begin(), content.begin() + 60'000)).code, 426);
  ask_where();
  EXPECT_EQ(ask("REST 0-40000").code, 350);
  EXPECT_EQ(ask("ALLO 50000").code, 200);
  EXPECT_EQ(put("STOR /x", Bytes(content.begin(), content.begin() + 50'000), 2, 40'000).code, 226);
  EXPECT_TRUE(folder.read("x") == Bytes(content.begin(), content.begin() + 50'000));
}

TEST_F(ServedTransfer, TakeExactlyAsMuchAsWasAllocated) {
  for (const char* allocation : {"ALLO 99999", "ALLO 100001"}) {
    ask_where();
    EXPECT_EQ(ask(allocation).code, 200);
    EXPECT_EQ(put("STOR /x", content).code, 426) << allocation;
    EXPECT_FALSE(folder.has("x"));
  }
  ask_where();
  EXPECT_EQ(ask("ALLO 100000").code, 200);
  EXPECT_EQ(put("STOR /x", content).code, 226);
}

TEST_F(ServedTransfer, EndWhenTheClientAsksForIt) {
  ask_where();
  EXPECT_TRUE(send("STOR /x"));
  EXPECT_EQ(next_reply().code, 150);
  EXPECT_TRUE(send("ABOR"));
  EXPECT_EQ(hear_end().code, 426);
  EXPECT_EQ(next_reply().code, 226);
  EXPECT_FALSE(folder.has("x"));
  EXPECT_EQ(put("STOR /x", content).code, 226) << "again, at once, over the same port";
}

TEST_F(ServedTransfer, LetTheFileGoWhenTheClientHangsUp) {
  ask_where();
  EXPECT_TRUE(send("STOR /good"));
  EXPECT_EQ(next_reply().code, 150);
  expect_good_service();
}

TEST_F(ServedTransfer, KeepOneFileForOneWriter) {
  ask_where();
  EXPECT_TRUE(send("STOR /x"));
  EXPECT_EQ(next_reply().code, 150);
  const auto first = std::exchange(client, nullptr);
  const auto aim = path.addresses();
  EXPECT_EQ(aim, 1U);
  begin_blocks();
  EXPECT_EQ(ask("PASV").code, 227);
  const Reply refused = ask("STOR /x");
  EXPECT_EQ(refused.code, 450);
  EXPECT_THAT(refused.text(), HasSubstr("another transfer"));
}

TEST_F(ServedTransfer, SpeakStreamModeToo) {
  EXPECT_EQ(ask("MODE S").code, 200);
  ask_where();
  EXPECT_EQ(receive_stream("RETR /file").code, 226);
  EXPECT_TRUE(sink->content == content);
  call_us();
  EXPECT_EQ(ask("REST 60000").code, 350);
  EXPECT_EQ(receive_stream("RETR /file").code, 226);
  EXPECT_TRUE(sink->content == Bytes(content.begin() + 60'000, content.end()));
}

TEST_F(ServedTransfer, EndInStreamModeWhenTheClientAsksForIt) {
  EXPECT_EQ(ask("MODE S").code, 200);
  ask_where();
  EXPECT_TRUE(send("STOR /x"));
  const auto connection = run(io, path.single());
  ASSERT_TRUE(connection);
  EXPECT_EQ(next_reply().code, 150);
  EXPECT_TRUE(run(io, (*connection)->write(content)));
  run_ready(io);
  EXPECT_TRUE(send("ABOR"));
  EXPECT_EQ(hear_end().code, 426);
  EXPECT_EQ(next_reply().code, 226);
  EXPECT_FALSE(folder.has("x"));
  expect_good_service();
}

TEST_F(ServedTransfer, EndInStreamModeWhenTheClientHangsUp) {
  EXPECT_EQ(ask("MODE S").code, 200);
  ask_where();
  EXPECT_TRUE(send("STOR /good"));
  const auto connection = run(io, path.single());
  ASSERT_TRUE(connection);
  EXPECT_EQ(next_reply().code, 150);
  expect_good_service();
}

// A client that is killed ends both connections at once; in stream mode its half of a file looks whole.
TEST_F(ServedTransfer, KeepTheOldFileWhereAStreamEndsWithItsControlConnection) {
  for (const bool data_first : {true, false}) {
    EXPECT_EQ(ask("MODE S").code, 200);
    ask_where();
    EXPECT_TRUE(send("STOR /file"));
    auto connection = run(io, path.single());
    ASSERT_TRUE(connection);
    EXPECT_EQ(next_reply().code, 150);
    EXPECT_TRUE(run(io, (*connection)->write(Bytes(1000))));
    run_ready(io);
    if (data_first) *connection = nullptr;
    client.reset();
    *connection = nullptr;
    EXPECT_TRUE(run_until(io, [&] { return server->clients().empty(); }));
    EXPECT_TRUE(folder.read("file") == content) << data_first;
    expect_good_service();
  }
}

TEST_F(ServedTransfer, TakeAStreamForWholeThatIsAsLongAsTheClientSaid) {
  EXPECT_EQ(ask("MODE S").code, 200);
  ask_where();
  EXPECT_EQ(ask("ALLO 1000").code, 200);
  EXPECT_TRUE(send("STOR /x"));
  auto connection = run(io, path.single());
  ASSERT_TRUE(connection);
  EXPECT_EQ(next_reply().code, 150);
  EXPECT_TRUE(run(io, (*connection)->write(Bytes(1000))));
  *connection = nullptr;
  EXPECT_EQ(hear_end().code, 226);
  EXPECT_TRUE(folder.read("x") == Bytes(1000));
}

TEST_F(ServedTransfer, LeaveAUsersFileAloneThatHasTheNameOfABeginning) {
  const Bytes mine(10, std::byte{1});
  for (const char* name : {"x.part", "x.part.have", "x.part.have.new"}) {
    folder.write(name, mine);
    ask_where();
    EXPECT_EQ(put("STOR /x", content).code, 226) << name;
    EXPECT_TRUE(folder.read("x") == content);
    EXPECT_TRUE(folder.read(name) == mine) << name;
    ask_where();
    EXPECT_EQ(ask("ALLO 100000").code, 200);
    EXPECT_EQ(put("STOR /x", Bytes(60'000)).code, 426);
    ask_where();
    EXPECT_EQ(ask("SITE HAVE /x").lines.front(), "Range Marker 0-60000") << name;
    EXPECT_EQ(put("STOR /x", content).code, 226) << name;
    EXPECT_TRUE(folder.read(name) == mine) << name;
    std::filesystem::remove(folder / name);
    EXPECT_EQ(folder.files().size(), 2U) << "nothing else stays";
  }
}

TEST_F(ServedTransfer, RefuseANameThatIsTakenForThatOfAFileJustStored) {
  std::filesystem::create_directory(folder / "a");
  std::filesystem::create_directory_symlink("a", folder / "A");  // as a file system has it that ignores case
  ask_where();
  EXPECT_EQ(put("STOR /a/x", content).code, 226);
  ask_where();
  const Reply refused = put("STOR /A/x", Bytes(5));
  EXPECT_EQ(refused.code, 553);
  EXPECT_THAT(refused.text(), HasSubstr("has just come as /a/x"));
  EXPECT_TRUE(folder.read("a/x") == content);
  ask_where();
  EXPECT_EQ(put("STOR /a/x", Bytes(5)).code, 226) << "the same name again";
  EXPECT_EQ(ask("RNFR /a/x").code, 350);
  EXPECT_EQ(ask("RNTO /A/y").code, 250);
  ask_where();
  EXPECT_EQ(put("STOR /a/y", Bytes(7)).code, 226) << "a client that renames knows what it does";
}

TEST_F(ServedTransfer, SayWhyNothingIsWrittenThroughALink) {
  std::filesystem::create_symlink("file", folder / "link");
  ask_where();
  for (const char* command : {"STOR /link", "ESTO A 0 /link"}) {
    const Reply refused = put(command, Bytes(5));
    EXPECT_EQ(refused.code, 553) << command;
    EXPECT_THAT(refused.text(), HasSubstr("symbolic link")) << command;
  }
  EXPECT_TRUE(folder.read("file") == content);
}

TEST_F(ServedTransfer, ListDirectories) {
  std::filesystem::create_directory(folder / "directory");
  call_us();
  EXPECT_EQ(receive("MLSD /").code, 226);
  EXPECT_EQ(std::ranges::count(sink->content, std::byte{'\n'}), 2);
  EXPECT_EQ(receive("NLST").code, 226);
  EXPECT_TRUE(sink->content == bytes_of("directory\r\nfile\r\n")) << "in order, as one slice holds it";
  EXPECT_EQ(receive("LIST -a").code, 226);
  EXPECT_EQ(receive("NLST /file").code, 226);
  EXPECT_EQ(ask("MLSD /none").code, 550);
  EXPECT_EQ(ask("MLSD /file").code, 550);
}

TEST_F(ServedTransfer, DoNotCallAFileSentThatChangedUnderWay) {
  const Bytes large(8'000'000);
  for (const std::size_t size : {std::size_t{4'000'000}, large.size()}) {
    folder.write("large", large);
    call_us();
    EXPECT_TRUE(send("RETR /large"));
    EXPECT_EQ(next_reply().code, 150);
    // The data has no reader yet: most of it is still in the file.
    std::filesystem::resize_file(folder / "large", size);
    std::filesystem::last_write_time(folder / "large", std::filesystem::file_time_type::clock::now());
    sink = std::make_shared<MemorySink>();
    const auto taken = begin(io, path.receive(IncomingFile(files::ByteRange{0, large.size()}), sink));
    EXPECT_EQ(hear_end().code, 451) << size;
    EXPECT_FALSE(await(io, taken));
  }
}

TEST_F(ServedTransfer, AreBrokenOffWhereNothingMoves) {
  ServeOptions options;
  options.anonymous_quota.stall_timeout = std::chrono::milliseconds(50);
  serve(options);
  folder.write("large", Bytes(32'000'000));
  for (const char* mode : {"MODE E", "MODE S"}) {
    log_in();
    EXPECT_EQ(ask(mode).code, 200);
    ask_where();
    EXPECT_TRUE(send("STOR /x"));
    Reply end = hear_end();
    EXPECT_EQ(end.code, 426) << mode;
    EXPECT_THAT(end.text(), HasSubstr("nothing has moved for 0.05 s"));
    call_us();
    EXPECT_TRUE(send("RETR /large"));
    end = hear_end();
    EXPECT_EQ(end.code, 426) << mode << ": nobody reads";
    EXPECT_THAT(end.text(), HasSubstr("nothing has moved for 0.05 s"));
  }
}

TEST_F(ServedTransfer, GoOnAsLongAsAnythingMoves) {
  ServeOptions options;
  options.anonymous_quota.stall_timeout = std::chrono::milliseconds(1'500);
  serve(options);
  begin_blocks();
  bridge::tcp::socket slow(io);
  slow.connect(bridge::to_asio(passive_port(ask("PASV")).value()));
  EXPECT_TRUE(send("STOR /x"));
  EXPECT_EQ(next_reply().code, 150);
  const Bytes wire = blocks({data_header(0, content.size()), end_of_file(1)}, content);
  boost::asio::write(slow, boost::asio::buffer(wire, 20));
  for (std::size_t at = 20; at < 24; ++at) {
    EXPECT_EQ(next_reply().code, 112) << "a second each";
    boost::asio::write(slow, boost::asio::buffer(&wire[at], 1));
  }
  boost::asio::write(slow, boost::asio::buffer(wire) + 24);
  EXPECT_EQ(hear_end().code, 226);
}

/// Proves: gridftp.data-connections
TEST_F(ServedTransfer, TakeNoMoreConnectionsThanThereMayBe) {
  ServeOptions options;
  options.anonymous_quota.data_connections = 3;
  serve(options);
  begin_blocks();
  ask_where();
  EXPECT_EQ(put("STOR /x", content, 4).code, 425);
  ask_where();
  EXPECT_EQ(put("STOR /x", content, 3).code, 226);
  call_us();
  EXPECT_EQ(ask("OPTS RETR Parallelism=8,8,8;").code, 200);
  call_us();
  EXPECT_EQ(receive("RETR /file").code, 226) << "on three";
  call_us("SPOR", 4);
  EXPECT_EQ(receive("RETR /file").code, 425);
  call_us("SPOR", 3);
  EXPECT_EQ(receive("RETR /file").code, 226);
}

/// Proves: gridftp.upload-source-length
TEST_F(ServedTransfer, HaveASourceOfAHundredPrintableCharactersAtMost) {
  EXPECT_EQ(ask("SITE UPLOAD " + std::string(100, 'x')).code, 200);
  for (const std::string& source : {std::string(101, 'x'), std::string("a\x1b"), std::string("a\x7f")})
    EXPECT_EQ(ask("SITE UPLOAD " + source).code, 501) << source;
}

TEST_F(ServedTransfer, TellThatNobodyTakesTheData) {
  const bridge::RefusingPort refusing(io);
  EXPECT_EQ(ask("PORT " + to_data_port(refusing.endpoint())).code, 200);
  EXPECT_TRUE(send("RETR /file"));
  EXPECT_EQ(hear_end().code, 425);
  expect_good_service();
}

TEST_F(ServedTransfer, CountsWhatComesApartFromWhatGoes) {
  ask_where();
  EXPECT_EQ(put("STOR /x", content).code, 226);
  EXPECT_EQ(server->moved().received, content.size());
  EXPECT_EQ(server->moved().sent, 0U);
  call_us();
  EXPECT_EQ(receive("RETR /x").code, 226);
  EXPECT_EQ(server->clients().front().moved.sent, content.size());
  EXPECT_EQ(server->clients().front().moved.received, content.size());
}

}  // namespace
}  // namespace udtcat::gridftp
