// SPDX-License-Identifier: Apache-2.0
/// make_stdio_stream(): two descriptors as one local stream, each with a thread of its own.
#include <memory>
#include <string>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include <udtcat/bridges.hpp>

#include "lib/bridge/fd_reader.hpp"
#include "lib/bridge/fd_writer.hpp"
#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"

namespace udtcat {
namespace {

std::string name_of(int number) {
  if (number == STDIN_FILENO) return "stdin";
  if (number == STDOUT_FILENO) return "stdout";
  return "descriptor " + std::to_string(number);
}

/// A half that is off has no reader or writer: it reads as ended, takes and drops what is written, and finishes at
/// once.
/// Threads: confined to the io_context thread.
class StdioStream final : public LocalStream {
 public:
  StdioStream(boost::asio::io_context& io, std::string source_name, std::string sink_name)
      : source_name_(std::move(source_name)),
        sink_name_(std::move(sink_name)),
        readable_(io),
        dropped_(io),
        finished_(io) {}
  void set_source(std::unique_ptr<bridge::FdReader> reader) { reader_ = std::move(reader); }
  void set_sink(std::unique_ptr<bridge::FdWriter> writer) { writer_ = std::move(writer); }

  [[nodiscard]] ReadResult read_some(std::span<std::byte> into) override {
    return reader_ ? reader_->read_some(into) : ReadResult{.state = ReadState::end};
  }
  void async_wait_readable(WaitHandler handler) override {
    if (reader_) return reader_->async_wait_readable(std::move(handler));
    readable_.expect(std::move(handler));
    readable_.complete();
  }
  void async_write_some(std::span<const std::byte> from, WriteHandler handler) override {
    if (writer_) return writer_->async_write_some(from, std::move(handler));
    dropped_.expect(std::move(handler));
    dropped_.complete({}, from.size());
  }
  void async_finish(FinishHandler handler) override {
    if (writer_) return writer_->async_finish(std::move(handler));
    finished_.expect(std::move(handler));
    finished_.complete({});
  }
  void abort() override {
    if (reader_) reader_->stop();
    if (writer_) writer_->stop();
    readable_.drop();
    dropped_.drop();
    finished_.drop();
  }
  [[nodiscard]] std::string source_name() const override { return source_name_; }
  [[nodiscard]] std::string sink_name() const override { return sink_name_; }

 private:
  const std::string source_name_;
  const std::string sink_name_;
  std::unique_ptr<bridge::FdReader> reader_;
  std::unique_ptr<bridge::FdWriter> writer_;
  bridge::PendingCall<> readable_;
  bridge::PendingCall<std::error_code, std::size_t> dropped_;
  bridge::PendingCall<std::error_code> finished_;
};

}  // namespace

Result<std::unique_ptr<LocalStream>> make_stdio_stream(boost::asio::io_context& io, int input_fd, int output_fd,
                                                       StdioHalves halves) {
  auto stream = std::make_unique<StdioStream>(io, name_of(input_fd), name_of(output_fd));
  // One socket given as both: each half closes a number of its own.
  bridge::Descriptor duplicate;
  if (halves.read && halves.write && input_fd == output_fd) {
    duplicate = bridge::Descriptor(::fcntl(output_fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    if (!duplicate.is_open())
      return fail(Errc::out_of_resources, "duplicate " + stream->sink_name(),
                  core::errno_text(bridge::last_error().value()));
  }
  if (halves.read) {
    UDTCAT_TRY(auto reader, bridge::FdReader::start(io, input_fd));
    stream->set_source(std::move(reader));
  }
  if (halves.write) {
    const int number = duplicate.is_open() ? duplicate.release() : output_fd;
    UDTCAT_TRY(auto writer, bridge::FdWriter::start(io, number, halves.until_read));
    stream->set_sink(std::move(writer));
  }
  return stream;
}

}  // namespace udtcat
