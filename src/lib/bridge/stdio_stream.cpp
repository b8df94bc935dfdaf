#include "lib/bridge/stdio_stream.hpp"

#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include <udtcat/bridges.hpp>

namespace udtcat::bridge {
namespace {

std::string name_of(int number) {
  if (number == STDIN_FILENO) return "stdin";
  if (number == STDOUT_FILENO) return "stdout";
  return "descriptor " + std::to_string(number);
}

}  // namespace

StdioStream::StdioStream(boost::asio::io_context& io, std::unique_ptr<FdReader> reader,
                         std::unique_ptr<FdWriter> writer, Names names)
    : reader_(std::move(reader)),
      writer_(std::move(writer)),
      names_(std::move(names)),
      readable_(io),
      dropped_(io),
      finished_(io) {}

LocalStream::ReadResult StdioStream::read_some(std::span<std::byte> into) {
  return reader_ ? reader_->read_some(into) : ReadResult{.state = ReadState::end};
}

void StdioStream::async_wait_readable(WaitHandler handler) {
  if (reader_) return reader_->async_wait_readable(std::move(handler));
  readable_.expect(std::move(handler));
  readable_.complete();
}

void StdioStream::async_write_some(std::span<const std::byte> from, WriteHandler handler) {
  if (writer_) return writer_->async_write_some(from, std::move(handler));
  dropped_.expect(std::move(handler));
  dropped_.complete({}, from.size());
}

void StdioStream::async_finish(FinishHandler handler) {
  if (writer_) return writer_->async_finish(std::move(handler));
  finished_.expect(std::move(handler));
  finished_.complete({});
}

void StdioStream::abort() {
  if (reader_) reader_->stop();
  if (writer_) writer_->stop();
  readable_.drop();
  dropped_.drop();
  finished_.drop();
}

}  // namespace udtcat::bridge

namespace udtcat {

Result<std::unique_ptr<LocalStream>> make_stdio_stream(boost::asio::io_context& io, int input_fd, int output_fd,
                                                       StdioHalves halves) {
  bridge::StdioStream::Names names{bridge::name_of(input_fd), bridge::name_of(output_fd)};
  // One socket given as both: each half closes a number of its own.
  bridge::Descriptor duplicate;
  if (halves.read && halves.write && input_fd == output_fd) {
    duplicate = bridge::Descriptor(::fcntl(output_fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    if (!duplicate.is_open())
      return fail(Errc::out_of_resources, "duplicate " + names.sink, errno_text(bridge::last_error().value()));
  }
  std::unique_ptr<bridge::FdReader> reader;
  std::unique_ptr<bridge::FdWriter> writer;
  if (halves.read) {
    Result<std::unique_ptr<bridge::FdReader>> started = bridge::FdReader::start(io, input_fd);
    if (!started) return tl::unexpected(started.error());
    reader = std::move(*started);
  }
  if (halves.write) {
    Result<std::unique_ptr<bridge::FdWriter>> started =
        bridge::FdWriter::start(io, duplicate.is_open() ? duplicate.release() : output_fd, halves.until_read);
    if (!started) return tl::unexpected(started.error());
    writer = std::move(*started);
  }
  return std::make_unique<bridge::StdioStream>(io, std::move(reader), std::move(writer), std::move(names));
}

}  // namespace udtcat
