// SPDX-License-Identifier: Apache-2.0
/// A local stream whose source and consumer do one thing when the test says so.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include <udtcat/local_stream.hpp>

namespace udtcat::test {

/// The test's handle on a stream; outlives it.
struct SteppedEnds {
  std::size_t to_say = 0;  ///< bytes
  bool source_ends = false;
  std::error_code source_fails;
  std::string source = "source";
  std::size_t consumed = 0;
  bool finished = false;   ///< the consumer took the end of file
  bool receipted = false;  ///< the source was told that all of it was taken
  LocalStream::WaitHandler waits_readable;
  LocalStream::WriteHandler writes;
  LocalStream::FinishHandler finishes;
};

class SteppedStream final : public LocalStream {
 public:
  explicit SteppedStream(std::shared_ptr<SteppedEnds> ends) : ends_(std::move(ends)) {}
  ~SteppedStream() override { SteppedStream::abort(); }

  ReadResult read_some(std::span<std::byte> into) override {
    if (ends_->source_fails) return {ReadState::failed, 0, ends_->source_fails};
    if (ends_->to_say == 0) return {ends_->source_ends ? ReadState::end : ReadState::would_block};
    --ends_->to_say;
    into[0] = std::byte{'x'};
    return {ReadState::data, 1};
  }
  void async_wait_readable(WaitHandler handler) override { ends_->waits_readable = std::move(handler); }
  void receipted() override { ends_->receipted = true; }
  void async_write_some(std::span<const std::byte> /*from*/, WriteHandler handler) override {
    ends_->writes = std::move(handler);
  }
  void async_finish(FinishHandler handler) override { ends_->finishes = std::move(handler); }
  void abort() override {
    ends_->waits_readable = nullptr;
    ends_->writes = nullptr;
    ends_->finishes = nullptr;
  }
  [[nodiscard]] std::string source_name() const override { return ends_->source; }
  [[nodiscard]] std::string sink_name() const override { return "consumer"; }

 private:
  std::shared_ptr<SteppedEnds> ends_;
};

}  // namespace udtcat::test
