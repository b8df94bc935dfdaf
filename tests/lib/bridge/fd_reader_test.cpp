// SPDX-License-Identifier: Apache-2.0
#include "lib/bridge/fd_reader.hpp"

#include <cstdio>
#include <string>
#include <thread>
#include <tuple>

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "lib/bridge/loop.hpp"

namespace udtcat::bridge {
namespace {

using ReadState = LocalStream::ReadState;

struct FdReaderTest : ::testing::Test {
  std::unique_ptr<FdReader> start(Descriptor from) { return FdReader::start(io, from.release()).value(); }
  boost::asio::io_context io;
};

class FdReaderSizes : public FdReaderTest, public ::testing::WithParamInterface<std::size_t> {};

TEST_P(FdReaderSizes, ReadsAPipeToItsEnd) {
  const Bytes payload = random_bytes(GetParam());
  Ends pipe = make_pipe();
  const auto reader = start(std::move(pipe.read));
  const auto producer = write_all_in_background(std::move(pipe.write), payload);
  const Drained drained = drain(io, *reader);
  EXPECT_EQ(drained.last.state, ReadState::end);
  EXPECT_TRUE(drained.bytes == payload);
}
INSTANTIATE_TEST_SUITE_P(Bytes, FdReaderSizes,
                         ::testing::Values(0, 1, FdReader::kReadBytes - 1, FdReader::kReadBytes,
                                           FdReader::kReadBytes + 1, FdReader::kRingBytes, 10 * kMiB));

struct UnlinkedFile {
  explicit UnlinkedFile(const Bytes& content) : stream(std::tmpfile()) {
    EXPECT_EQ(std::fwrite(content.data(), 1, content.size(), stream), content.size());
    std::rewind(stream);
  }
  ~UnlinkedFile() { std::fclose(stream); }
  [[nodiscard]] Descriptor shared() const { return Descriptor(::dup(::fileno(stream))); }
  std::FILE* stream;
};

TEST_F(FdReaderTest, ReadsAheadNoFurtherThanItsRing) {
  const Bytes payload = random_bytes(3 * FdReader::kRingBytes);
  const UnlinkedFile file(payload);
  const auto reader = start(file.shared());
  const auto position = [&] { return ::lseek(::fileno(file.stream), 0, SEEK_CUR); };
  while (position() < static_cast<off_t>(FdReader::kRingBytes)) std::this_thread::yield();
  EXPECT_EQ(position(), static_cast<off_t>(FdReader::kRingBytes));
  EXPECT_TRUE(drain(io, *reader).bytes == payload);
}

TEST_F(FdReaderTest, GivesALineAtOnce) {
  Ends pipe = make_pipe();
  const auto reader = start(std::move(pipe.read));
  bool readable = false;
  reader->async_wait_readable([&] { readable = true; });
  ASSERT_EQ(::write(pipe.write.number(), "line\n", 5), 5);
  ASSERT_TRUE(run_until(io, [&] { return readable; }));
  Bytes line(100);
  EXPECT_EQ(reader->read_some(line).bytes, 5U);
  EXPECT_EQ(reader->read_some(line).state, ReadState::would_block);
}

TEST_F(FdReaderTest, ReadsATerminalUpToItsEndOfFileKey) {
  const Descriptor master(::posix_openpt(O_RDWR | O_NOCTTY));
  ASSERT_EQ(::grantpt(master.number()), 0);
  ASSERT_EQ(::unlockpt(master.number()), 0);
  char name[64] = {};
  ASSERT_EQ(::ptsname_r(master.number(), name, sizeof name), 0);
  const auto reader = start(Descriptor(::open(name, O_RDWR | O_NOCTTY)));
  ASSERT_EQ(::write(master.number(), "hello\n\x04", 7), 7);
  const Drained drained = drain(io, *reader);
  EXPECT_EQ(drained.bytes, bytes_of("hello\n"));
  EXPECT_EQ(drained.last.state, ReadState::end);
}

TEST_F(FdReaderTest, ReadsASocketUpToItsHalfClose) {
  auto [ours, theirs] = make_socket_pair();
  const auto reader = start(std::move(ours));
  ASSERT_EQ(::write(theirs.number(), "x", 1), 1);
  ASSERT_EQ(::shutdown(theirs.number(), SHUT_WR), 0);
  const Drained drained = drain(io, *reader);
  EXPECT_EQ(drained.bytes, bytes_of("x"));
  EXPECT_EQ(drained.last.state, ReadState::end);
}

TEST_F(FdReaderTest, SeesTheEndOfAFifoWhoseWriterLeftBefore) {
  const std::string path = ::testing::TempDir() + "fd_reader_fifo_" + std::to_string(::getpid());
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  Descriptor read(::open(path.c_str(), O_RDONLY | O_NONBLOCK));
  Descriptor write(::open(path.c_str(), O_WRONLY));
  ASSERT_EQ(::unlink(path.c_str()), 0);
  ASSERT_EQ(::write(write.number(), "last words", 10), 10);
  std::ignore = write.close();
  const Drained drained = drain(io, *start(std::move(read)));
  EXPECT_EQ(drained.bytes, bytes_of("last words"));
  EXPECT_EQ(drained.last.state, ReadState::end);
}

TEST_F(FdReaderTest, NamesTheErrorAndKeepsIt) {
  const auto reader = start(Descriptor(::open("/", O_RDONLY)));
  EXPECT_EQ(drain(io, *reader).last.error, std::errc::is_a_directory);
  EXPECT_EQ(drain(io, *reader).last.state, ReadState::failed);
}

TEST_F(FdReaderTest, SaysThatADescriptorIsNotOpen) {
  const auto reader = FdReader::start(io, 987'654).value();
  EXPECT_EQ(drain(io, *reader).last.error, std::errc::bad_file_descriptor);
}

TEST_F(FdReaderTest, LeavesSharedFlagsAsTheyAre) {
  Ends pipe = make_pipe();
  auto [ours, theirs] = make_socket_pair();
  for (Descriptor* given : {&pipe.read, &ours}) {
    const Descriptor shared(::dup(given->number()));
    const int before = ::fcntl(shared.number(), F_GETFL);
    const auto reader = start(std::move(*given));
    Bytes into(1);
    EXPECT_EQ(reader->read_some(into).state, ReadState::would_block);
    EXPECT_EQ(::fcntl(shared.number(), F_GETFL), before);
    reader->stop();
    EXPECT_EQ(::fcntl(shared.number(), F_GETFL), before);
  }
}

TEST_F(FdReaderTest, StopsAtOnceWhileNothingComesAndCallsNoHandler) {
  Ends pipe = make_pipe();
  const auto reader = start(std::move(pipe.read));
  reader->async_wait_readable([] { ADD_FAILURE() << "called after stop"; });
  reader->stop();
  run_ready(io);
  pollfd writer{pipe.write.number(), 0, 0};
  EXPECT_EQ(::poll(&writer, 1, 0), 1) << "the pipe has no reader any more";
}

TEST_F(FdReaderTest, StopsAtOnceWhileItsRingIsFull) {
  const UnlinkedFile file(random_bytes(2 * FdReader::kRingBytes));
  start(file.shared())->stop();
}

TEST_F(FdReaderTest, CanBeDestroyedWithACallPosted) {
  Ends pipe = make_pipe();
  auto reader = start(std::move(pipe.read));
  ASSERT_EQ(::write(pipe.write.number(), "x", 1), 1);
  reader->async_wait_readable([] { ADD_FAILURE() << "called after destruction"; });
  reader.reset();
  run_ready(io);
}

}  // namespace
}  // namespace udtcat::bridge
