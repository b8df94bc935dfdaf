/// Two descriptors as one local stream, each with a thread of its own. make_stdio_stream() is in <udtcat/bridges.hpp>.
#pragma once

#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>

#include <udtcat/local_stream.hpp>

#include "lib/bridge/fd_reader.hpp"
#include "lib/bridge/fd_writer.hpp"

namespace udtcat::bridge {

/// A half that is off has no reader or writer: it reads as ended, takes and drops what is written, and finishes at
/// once.
/// Threads: confined to the io_context thread.
class StdioStream final : public LocalStream {
 public:
  struct Names {
    std::string source;
    std::string sink;
  };
  /// `reader`, `writer`: null where that half is off.
  StdioStream(boost::asio::io_context& io, std::unique_ptr<FdReader> reader, std::unique_ptr<FdWriter> writer,
              Names names);

  [[nodiscard]] ReadResult read_some(std::span<std::byte> into) override;
  void async_wait_readable(WaitHandler handler) override;
  void async_write_some(std::span<const std::byte> from, WriteHandler handler) override;
  void async_finish(FinishHandler handler) override;
  void abort() override;
  [[nodiscard]] std::string source_name() const override { return names_.source; }
  [[nodiscard]] std::string sink_name() const override { return names_.sink; }

 private:
  const std::unique_ptr<FdReader> reader_;
  const std::unique_ptr<FdWriter> writer_;
  const Names names_;
  // of the half that is off
  PendingCall<> readable_;
  PendingCall<std::error_code, std::size_t> dropped_;
  PendingCall<std::error_code> finished_;
};

}  // namespace udtcat::bridge
