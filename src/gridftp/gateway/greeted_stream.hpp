/// A local stream with a line in front.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include <udtcat/local_stream.hpp>

namespace udtcat::gridftp {

/// Reads as the greeting and then as the stream; writes go to the stream.
/// Threads: confined to the io_context thread.
class GreetedStream final : public LocalStream {
 public:
  GreetedStream(std::string greeting, std::unique_ptr<LocalStream> stream)
      : greeting_(std::move(greeting)), stream_(std::move(stream)) {}

  [[nodiscard]] ReadResult read_some(std::span<std::byte> into) override;
  void async_wait_readable(WaitHandler handler) override { stream_->async_wait_readable(std::move(handler)); }
  void receipted() override { stream_->receipted(); }
  void async_write_some(std::span<const std::byte> from, WriteHandler handler) override {
    stream_->async_write_some(from, std::move(handler));
  }
  void async_finish(FinishHandler handler) override { stream_->async_finish(std::move(handler)); }
  void abort() override { stream_->abort(); }
  [[nodiscard]] std::string source_name() const override { return stream_->source_name(); }
  [[nodiscard]] std::string sink_name() const override { return stream_->sink_name(); }

 private:
  const std::string greeting_;
  std::size_t given_bytes_ = 0;  // of the greeting
  const std::unique_ptr<LocalStream> stream_;
};

}  // namespace udtcat::gridftp
