// SPDX-License-Identifier: Apache-2.0
/// Files from a sender to a receiver, and what hostile senders do.
#include "gridftp/mode_e/file_receiver.hpp"

#include <gmock/gmock.h>

#include "gridftp/mode_e/file_sender.hpp"
#include "gridftp/support.hpp"

namespace udtcat::gridftp {
namespace {

class Receivers : public testing::Test {
 protected:
  void expect(std::optional<files::ByteRange> range, std::size_t addresses = 1) {
    sink = std::make_shared<MemorySink>();
    receiver = std::make_unique<FileReceiver>(io, IncomingFile(range, {}, addresses), sink);
  }
  /// One more connection, on which the peer has written these bytes.
  Wire& connect(const Bytes& bytes = {}, std::size_t address = 0) {
    wires.push_back(std::make_unique<Wire>(io));
    EXPECT_FALSE(bridge::write_all(io, *wires.back()->peer, bytes));
    receiver->take({wires.back()->ours, address});
    run_ready(io);
    return *wires.back();
  }
  /// The same, and then the peer says that it has said all.
  void connect_and_finish(const Bytes& bytes) {
    Wire& wire = connect(bytes);
    wire.peer->async_finish([](std::error_code) {});
    run_ready(io);
  }
  Status outcome() { return run(io, receiver->result()); }
  [[nodiscard]] bool waits() {
    const auto result = begin(io, receiver->result());
    run_ready(io);
    return !result->has_value();
  }

  boost::asio::io_context io;
  const Bytes content = random_bytes(40);
  std::vector<std::unique_ptr<Wire>> wires;
  std::shared_ptr<MemorySink> sink;
  std::unique_ptr<FileReceiver> receiver;
};

TEST_F(Receivers, TakeAFileFromAnyNumberOfConnections) {
  expect(files::ByteRange{0, 40});
  connect(blocks({data_header(30, 10), end_of_data()}, content));
  connect(blocks({data_header(0, 30), end_of_file(2)}, content));
  EXPECT_TRUE(outcome());
  EXPECT_TRUE(sink->content == content);
  EXPECT_EQ(receiver->received_bytes(), 40U);
}

TEST_F(Receivers, WaitForConnectionsThatAreStillOnTheirWay) {
  expect(std::nullopt);
  connect(blocks({data_header(0, 10), end_of_file(2)}, content));
  EXPECT_TRUE(waits());
  connect(blocks({data_header(10, 30), end_of_data()}, content));
  EXPECT_TRUE(outcome());
  EXPECT_TRUE(sink->content == content);
}

TEST_F(Receivers, TakeTheEndInEveryShapeThatSendersGiveIt) {
  const std::uint8_t eof = BlockHeader::kEof;
  const std::uint8_t eod = BlockHeader::kEod;
  const std::vector<std::vector<BlockHeader>> shapes{
      {{eof, 0, 1}, {0, 40, 0}, {eod, 0, 0}},               // first of all
      {{0, 40, 0}, {eof, 0, 1}, {eof, 0, 1}, {eod, 0, 0}},  // twice, and apart from the end of data
      {{eof, 0, 1}, {eod, 40, 0}},                          // the end of data on a block
      {{0, 40, 0}, {0, 0, 7}, {std::uint8_t(eof | eod), 0, 1}},
      {{0xB0, 40, 0}, {std::uint8_t(eof | eod | 0xB0 | BlockHeader::kClose), 0, 1}}};
  for (const auto& shape : shapes) {
    expect(std::nullopt);
    connect(blocks(shape, content));
    EXPECT_TRUE(outcome());
    EXPECT_TRUE(sink->content == content);
  }
}

TEST_F(Receivers, IgnoreStrangers) {
  expect(files::ByteRange{0, 40});
  connect().hang_up();
  connect_and_finish({});
  connect(blocks({{BlockHeader::kClose, 0, 0}}));
  connect();  // and says nothing
  run_ready(io);
  connect(blocks({data_header(0, 40), end_of_file(1)}, content));
  EXPECT_TRUE(outcome());
}

TEST_F(Receivers, LetTheLastWriteCount) {
  expect(files::ByteRange{0, 40});
  connect(blocks({data_header(0, 40)}, Bytes(40)));
  wires.front()->peer->async_write_some(blocks({end_of_data()}), [](std::error_code, std::size_t) {});
  connect(blocks({data_header(0, 40), end_of_file(2)}, content));
  EXPECT_TRUE(outcome());
  EXPECT_TRUE(sink->content == content);
}

TEST_F(Receivers, DoNotCallAShortFileWhole) {
  expect(files::ByteRange{0, 40});
  connect(blocks({data_header(0, 20), end_of_file(1)}, content));
  EXPECT_EQ(outcome().error().code, Errc::connection_broken);
}

TEST_F(Receivers, DoNotCallAFileWholeWhileAConnectionIsInTheMiddleOfItsPart) {
  expect(std::nullopt);
  connect(blocks({data_header(20, 10)}, content));
  connect(blocks({data_header(0, 20), end_of_file(1)}, content));
  EXPECT_EQ(outcome().error().code, Errc::protocol_violated);
}

TEST_F(Receivers, EndWhereAConnectionEndsTooSoon) {
  for (const auto& headers : std::vector<std::vector<BlockHeader>>{{data_header(0, 10)}, {data_header(0, 41)}}) {
    expect(std::nullopt);
    connect_and_finish(blocks(headers, content));
    EXPECT_EQ(outcome().error().code, Errc::connection_broken);
    expect(std::nullopt);
    connect(blocks(headers, content)).hang_up();
    EXPECT_EQ(outcome().error().code, Errc::connection_broken);
  }
}

TEST_F(Receivers, EndWhereAConnectionBreaksInsideItsFirstHeader) {
  const Bytes wire = blocks({data_header(0, 40)}, content);
  for (std::ptrdiff_t bytes = 1; bytes < std::ptrdiff_t{kBlockHeaderBytes}; ++bytes) {
    expect(files::ByteRange{0, 40});
    connect_and_finish(Bytes(wire.begin(), wire.begin() + bytes));
    EXPECT_EQ(outcome().error().code, Errc::connection_broken) << bytes;
    expect(files::ByteRange{0, 40});
    connect(Bytes(wire.begin(), wire.begin() + bytes)).hang_up();
    EXPECT_EQ(outcome().error().code, Errc::connection_broken) << bytes;
  }
}

TEST_F(Receivers, RefuseWhatCannotBeTrue) {
  const std::uint64_t most = ~std::uint64_t{0};
  for (const BlockHeader& header :
       {BlockHeader{0, most, 0}, BlockHeader{0, 1, most}, BlockHeader{0, std::uint64_t{1} << 63, 0}, data_header(0, 41),
        end_of_file(0), end_of_file(most), BlockHeader{BlockHeader::kClose, 1, 0}}) {
    expect(files::ByteRange{0, 40});
    connect(blocks({header}, content));
    EXPECT_EQ(outcome().error().code, Errc::protocol_violated) << header.count << ' ' << header.offset;
  }
}

TEST_F(Receivers, TellWhatTheSinkSays) {
  expect(files::ByteRange{0, 40});
  sink->failure = Error{Errc::local_write_failed, "write", "full"};
  connect(blocks({data_header(0, 40)}, content));
  EXPECT_EQ(outcome().error().code, Errc::local_write_failed);
}

TEST_F(Receivers, BreakOffAllConnectionsAtAFailure) {
  expect(files::ByteRange{0, 40});
  connect();
  connect(blocks({data_header(0, 5)}, content));
  receiver->fail({Errc::interrupted, "wait", "enough"});
  EXPECT_EQ(outcome().error().code, Errc::interrupted);
  for (const auto& wire : wires) EXPECT_EQ(bridge::drain(io, *wire->peer).last.state, LocalStream::ReadState::failed);
}

TEST_F(Receivers, CanBeDestroyedAtAnyTime) {
  expect(files::ByteRange{0, 40});
  connect(blocks({data_header(0, 5)}, content));
  receiver.reset();
  run_ready(io);
  EXPECT_EQ(bridge::drain(io, *wires.front()->peer).last.state, LocalStream::ReadState::failed);
}

TEST_F(Receivers, HandOnTheConnectionsThatStayOpen) {
  expect(std::nullopt);
  connect(blocks({data_header(0, 10), end_of_data()}, content));
  connect(blocks({{BlockHeader::kEod | BlockHeader::kClose, 0, 0}}));
  connect(blocks({end_of_file(3)}));
  EXPECT_TRUE(outcome());
  auto kept = receiver->release();
  ASSERT_EQ(kept.size(), 2U);
  expect(files::ByteRange{0, 40});
  EXPECT_FALSE(bridge::write_all(io, *wires[0]->peer, blocks({data_header(0, 40), end_of_file(1)}, content)));
  for (DataConnection& connection : kept) receiver->take(std::move(connection));
  EXPECT_TRUE(outcome());
  EXPECT_TRUE(sink->content == content);
}

TEST_F(Receivers, AcceptACloseOnAKeptConnection) {
  expect(std::nullopt);
  connect(blocks({end_of_file(1), {BlockHeader::kClose, 0, 0}}));
  EXPECT_TRUE(outcome());
  auto kept = receiver->release();
  expect(files::ByteRange{0, 40});
  for (DataConnection& connection : kept) receiver->take(std::move(connection));
  connect(blocks({data_header(0, 40), end_of_file(1)}, content));
  EXPECT_TRUE(outcome());
}

TEST_F(Receivers, CountTheEndsOfEachAddressByThemselves) {
  expect(files::ByteRange{0, 40}, 2);
  connect(blocks({data_header(0, 40), end_of_file(1)}, content), 0);
  EXPECT_TRUE(waits());
  connect(blocks({end_of_data()}), 1);
  EXPECT_TRUE(waits());
  connect(blocks({end_of_file(2)}), 1);
  EXPECT_TRUE(outcome());
}

}  // namespace
}  // namespace udtcat::gridftp
