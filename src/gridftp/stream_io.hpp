/// A local stream as coroutines see it: exact reads and whole writes.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <udtcat/local_stream.hpp>
#include <udtcat/options.hpp>
#include <udtcat/result.hpp>

#include "gridftp/task.hpp"

namespace udtcat::gridftp {

/// Threads: confined to the io_context thread. One read and one write at a time; both may be under way.
class StreamIo {
 public:
  /// carrier   what the stream needs to live: it goes with it
  /// peer      what it said of statements when the carrier's session began
  explicit StreamIo(std::unique_ptr<LocalStream> stream, std::shared_ptr<void> carrier = {},
                    Statements peer = Statements::none)
      : carrier_(std::move(carrier)), stream_(std::move(stream)), peer_statements_(peer) {}

  /// Fills `into` as far as bytes come before the end.  returns  how many: less than asked for means the end.
  /// errors: Errc::connection_broken
  [[nodiscard]] Task<Result<std::size_t>> read(std::span<std::byte> into);
  /// What is there now: without waiting, so that one buffer may serve many streams.  none: nothing; 0: the end
  [[nodiscard]] Result<std::optional<std::size_t>> take(std::span<std::byte> into);
  /// Returns when take() would give something.
  [[nodiscard]] Task<void> wait_readable();
  /// errors: Errc::connection_broken
  [[nodiscard]] Task<Status> write(std::span<const std::byte> from);
  /// No more will be written; returns when the system has taken it all.  errors: Errc::connection_broken
  [[nodiscard]] Task<Status> finish();
  void abort() { stream_->abort(); }
  [[nodiscard]] std::string name() const { return stream_->source_name(); }
  [[nodiscard]] Statements peer_statements() const { return peer_statements_; }

 private:
  const std::shared_ptr<void> carrier_;
  const std::unique_ptr<LocalStream> stream_;
  const Statements peer_statements_;
};

}  // namespace udtcat::gridftp
