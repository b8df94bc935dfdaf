// SPDX-License-Identifier: Apache-2.0
#include "gridftp/mode_e/file_sender.hpp"

#include "gridftp/mode_e/file_receiver.hpp"
#include "gridftp/support.hpp"

namespace udtcat::gridftp {
namespace {

class MemorySource final : public BlockSource {
 public:
  explicit MemorySource(Bytes content, std::uint64_t begin = 0) : content_(std::move(content)), begin_(begin) {}
  Task<Result<std::optional<files::ByteRange>>> next(std::span<std::byte> into) override {
    if (failure) co_return tl::unexpected(*failure);
    const auto bytes = std::min(into.size(), content_.size() - given_);
    if (bytes == 0) co_return std::nullopt;
    std::ranges::copy(std::span(content_).subspan(given_, bytes), into.begin());
    given_ += bytes;
    co_return files::ByteRange{begin_ + given_ - bytes, begin_ + given_};
  }

  std::optional<Error> failure;

 private:
  const Bytes content_;
  const std::uint64_t begin_;
  std::size_t given_ = 0;
};

class Senders : public testing::Test {
 protected:
  void connect(std::size_t count, std::size_t address = 0) {
    for (std::size_t i = 0; i < count; ++i) {
      wires.push_back(std::make_unique<Wire>(io));
      addresses.push_back(address);
    }
  }
  Outcome<Status> send(SendRequest request) {
    std::vector<DataConnection> connections;
    for (std::size_t i = 0; i < wires.size(); ++i) connections.push_back({wires[i]->ours, addresses[i]});
    sender = std::make_unique<FileSender>(io, std::move(connections), std::move(request));
    return begin(io, sender->result());
  }
  SendRequest request_of(Bytes content, std::size_t block_bytes = 100) {
    SendRequest request;
    request.source = std::make_shared<MemorySource>(std::move(content));
    request.block_bytes = block_bytes;
    return request;
  }
  /// The bytes that a connection has carried up to now, headers and payload apart.
  std::vector<BlockHeader> headers_on(std::size_t connection) {
    std::vector<BlockHeader> headers;
    Bytes wire(100'000);
    const auto read = wires[connection]->peer->read_some(wire);
    for (std::span<const std::byte> rest = std::span(wire).first(read.bytes); rest.size() >= kBlockHeaderBytes;) {
      headers.push_back(decode_block_header(rest.first<kBlockHeaderBytes>()));
      rest = rest.subspan(kBlockHeaderBytes + headers.back().payload_bytes());
    }
    return headers;
  }

  boost::asio::io_context io;
  std::vector<std::unique_ptr<Wire>> wires;
  std::vector<std::size_t> addresses;
  std::unique_ptr<FileSender> sender;
};

TEST_F(Senders, CarryAFileToAReceiverOverAnyNumberOfConnections) {
  const Bytes content = random_bytes(3'000'017);
  for (const std::size_t count : {1U, 4U, 16U}) {
    wires.clear(), addresses.clear();
    connect(count);
    const auto sink = std::make_shared<MemorySink>();
    FileReceiver receiver(io, IncomingFile(files::ByteRange{0, content.size()}), sink);
    for (const auto& wire : wires) receiver.take({std::make_shared<StreamIo>(std::move(wire->peer)), 0});
    std::uint64_t told = 0;
    SendRequest request = request_of(content, 65'536);
    request.sent = [&](std::size_t bytes) { told += bytes; };
    const auto sent = send(std::move(request));
    EXPECT_TRUE(run(io, receiver.result()));
    EXPECT_TRUE(await(io, sent));
    EXPECT_TRUE(sink->content == content) << count;
    EXPECT_EQ(told, content.size());
    EXPECT_EQ(receiver.release().size(), count);
  }
}

TEST_F(Senders, EndEachConnectionOnceAndTheFileWithTheLast) {
  connect(3);
  EXPECT_TRUE(await(io, send(request_of(Bytes(250)))));
  std::uint64_t ends_of_file = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto headers = headers_on(i);
    ASSERT_FALSE(headers.empty());
    EXPECT_EQ(std::ranges::count_if(headers, &BlockHeader::ends_data), 1);
    EXPECT_TRUE(headers.back().ends_data() && !headers.back().ends_connection());
    if (headers.back().ends_file()) ends_of_file += headers.back().offset;
  }
  EXPECT_EQ(ends_of_file, 3U) << "once, and so many there are";
}

TEST_F(Senders, EndTheFileAtEachAddress) {
  connect(2, 0);
  connect(1, 1);
  EXPECT_TRUE(await(io, send(request_of(Bytes(50)))));
  EXPECT_EQ(headers_on(2).back(), end_of_file(1));
  const auto first = headers_on(0).back();
  EXPECT_EQ((first.ends_file() ? first : headers_on(1).back()), end_of_file(2));
}

TEST_F(Senders, SendAnEmptyFileAsItsEnd) {
  connect(1);
  EXPECT_TRUE(await(io, send(request_of({}))));
  EXPECT_EQ(headers_on(0), std::vector<BlockHeader>{end_of_file(1)});
}

TEST_F(Senders, CountOffsetsFromWhereTheReceiverCounts) {
  connect(1);
  SendRequest request;
  request.source = std::make_shared<MemorySource>(Bytes(10), 1000);
  request.offset_on_wire = 1000;
  EXPECT_TRUE(await(io, send(std::move(request))));
  EXPECT_EQ(headers_on(0), (std::vector<BlockHeader>{data_header(0, 10), end_of_file(1)}));
}

TEST_F(Senders, BreakOffAllConnectionsWhereOneBreaks) {
  connect(2);
  wires[1]->hang_up();
  EXPECT_EQ(await(io, send(request_of(Bytes(10'000'000), 1'000'000))).error().code, Errc::connection_broken);
  EXPECT_EQ(bridge::drain(io, *wires[0]->peer).last.state, LocalStream::ReadState::failed);
}

TEST_F(Senders, TellWhatTheSourceSays) {
  connect(2);
  const auto source = std::make_shared<MemorySource>(Bytes(10));
  source->failure = Error{Errc::local_read_failed, "read", "broken disk"};
  SendRequest request;
  request.source = source;
  EXPECT_EQ(await(io, send(std::move(request))).error().code, Errc::local_read_failed);
  EXPECT_EQ(bridge::drain(io, *wires[0]->peer).last.state, LocalStream::ReadState::failed)
      << "no end that could be taken for that of the file";
}

TEST_F(Senders, CanBeGivenUpWhileNobodyReads) {
  connect(2);
  const auto sent = send(request_of(Bytes(10'000'000), 1'000'000));
  run_ready(io);
  EXPECT_FALSE(sent->has_value());
  sender->fail({Errc::interrupted, "send", "enough"});
  EXPECT_EQ(await(io, sent).error().code, Errc::interrupted);
  sender.reset();
  run_ready(io);
}

TEST_F(Senders, CanBeDestroyedAtAnyTime) {
  connect(2);
  const auto sent = send(request_of(Bytes(10'000'000), 1'000'000));
  run_ready(io);
  sender.reset();
  EXPECT_FALSE(await(io, sent));
  EXPECT_EQ(bridge::drain(io, *wires[0]->peer).last.state, LocalStream::ReadState::failed);
}

}  // namespace
}  // namespace udtcat::gridftp
