// SPDX-License-Identifier: Apache-2.0
#include "gridftp/mode_e/stream_mode.hpp"

#include "gridftp/support.hpp"

namespace udtcat::gridftp {
namespace {

class StreamMode : public testing::Test {
 protected:
  Status receive(std::optional<files::ByteRange> expected, const Bytes& sent, bool orderly = true) {
    EXPECT_FALSE(bridge::write_all(io, *wire.peer, sent));
    if (orderly)
      wire.peer->async_finish([](std::error_code) {});
    else
      wire.hang_up();
    return run(io, receive_stream_mode(*wire.ours, sink, have, expected));
  }

  boost::asio::io_context io;
  Wire wire{io};
  MemorySink sink;
  files::ByteRanges have;
  const Bytes content = random_bytes(1000);
};

TEST_F(StreamMode, TakesTheConnectionForTheFile) {
  EXPECT_TRUE(receive(std::nullopt, content));
  EXPECT_TRUE(sink.content == content);
  EXPECT_EQ(have.to_text(), "0-1000");
}

TEST_F(StreamMode, GoesOnWhereTheFirstGapIs) {
  have = files::ByteRanges::parse("0-400,600-700").value();
  EXPECT_TRUE(receive(files::ByteRange{0, 1000}, Bytes(content.begin() + 400, content.end())));
  EXPECT_TRUE(std::ranges::equal(std::span(sink.content).subspan(400), std::span(content).subspan(400)));
  EXPECT_EQ(have.to_text(), "0-1000");
}

TEST_F(StreamMode, DoesNotCallAShortFileWhole) {
  EXPECT_EQ(receive(files::ByteRange{0, 1001}, content).error().code, Errc::connection_broken);
  EXPECT_EQ(have.to_text(), "0-1000") << "for the next attempt";
}

TEST_F(StreamMode, RefusesMoreThanTheFileHas) {
  EXPECT_EQ(receive(files::ByteRange{0, 999}, content).error().code, Errc::protocol_violated);
}

TEST_F(StreamMode, DoesNotTakeABreakForAnEnd) {
  EXPECT_EQ(receive(std::nullopt, content, false).error().code, Errc::connection_broken);
}

TEST_F(StreamMode, SendsTheSourceAndItsEnd) {
  Folder folder;
  SendRequest request;
  request.source = std::make_shared<FileSource>(
      io, BlockStore::open_to_read(files::FileLocation(folder.write("file", content))).value(),
      std::vector<files::ByteRange>(1, {100, 900}));
  request.block_bytes = 64;
  std::uint64_t told = 0;
  request.sent = [&](std::size_t bytes) { told += bytes; };
  const auto sent = begin(io, send_stream_mode(*wire.ours, request));
  EXPECT_TRUE(bridge::drain(io, *wire.peer).bytes == Bytes(content.begin() + 100, content.begin() + 900));
  EXPECT_TRUE(await(io, sent));
  EXPECT_EQ(told, 800U);
}

TEST_F(StreamMode, AwaitsThePeersEndOrItsBreak) {
  const auto ended = begin(io, await_end(*wire.ours));
  EXPECT_FALSE(bridge::write_all(io, *wire.peer, content));
  run_ready(io);
  EXPECT_FALSE(ended->has_value()) << "bytes are no end";
  wire.peer->async_finish([](std::error_code) {});
  EXPECT_TRUE(await(io, ended));
  Wire broken{io};
  const auto broke = begin(io, await_end(*broken.ours));
  broken.hang_up();
  EXPECT_FALSE(await(io, broke));
}

}  // namespace
}  // namespace udtcat::gridftp
