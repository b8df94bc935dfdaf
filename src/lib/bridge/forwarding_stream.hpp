// SPDX-License-Identifier: Apache-2.0
/// A local stream that passes every call to another one.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <udtcat/local_stream.hpp>

namespace udtcat::bridge {

/// The base of a stream that changes a part of what another one does: it overrides that part, and may call inner().
/// Threads: as the inner stream.
class ForwardingStream : public LocalStream {
 public:
  explicit ForwardingStream(std::unique_ptr<LocalStream> inner) : inner_(std::move(inner)) {}

  [[nodiscard]] ReadResult read_some(std::span<std::byte> into) override { return inner_->read_some(into); }
  void async_wait_readable(WaitHandler handler) override { inner_->async_wait_readable(std::move(handler)); }
  void receipted() override { inner_->receipted(); }
  void async_write_some(std::span<const std::byte> from, WriteHandler handler) override {
    inner_->async_write_some(from, std::move(handler));
  }
  void async_finish(FinishHandler handler) override { inner_->async_finish(std::move(handler)); }
  void abort() override { inner_->abort(); }
  [[nodiscard]] std::string source_name() const override { return inner_->source_name(); }
  [[nodiscard]] std::string sink_name() const override { return inner_->sink_name(); }

 protected:
  [[nodiscard]] LocalStream& inner() { return *inner_; }

 private:
  const std::unique_ptr<LocalStream> inner_;
};

}  // namespace udtcat::bridge
