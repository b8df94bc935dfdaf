// SPDX-License-Identifier: Apache-2.0
/// A local stream in memory: the test is its producer and its consumer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <udtcat/local_stream.hpp>

#include "lib/core/lifetime.hpp"

namespace udtcat::test {

/// The test's handle on a stream: orders and observations; outlives the stream.
struct Script {
  std::string name = "script";  ///< of the source
  std::string to_send;          ///< not yet taken by the stream
  bool source_ended = false;
  std::error_code read_error;  ///< behind to_send
  std::string received;
  bool consumer_stalled = false;  ///< writes are not completed while set
  std::error_code write_error;
  std::error_code finish_error;
  bool finished = false;   ///< the consumer saw the end of file
  bool receipted = false;  ///< the source was told that all of it was taken
  bool aborted = false;
  std::function<void()> wake;  ///< call after changing any of the above

  void say(std::string_view text) {
    to_send += text;
    if (wake) wake();
  }
  void end_source() {
    source_ended = true;
    if (wake) wake();
  }
  void stall(bool on) {
    consumer_stalled = on;
    if (wake) wake();
  }
};

class ScriptedStream final : public LocalStream {
 public:
  ScriptedStream(boost::asio::io_context& io, std::shared_ptr<Script> script) : io_(io), script_(std::move(script)) {
    script_->wake = lifetime_.guard([this] { go_on(); });
  }

  ReadResult read_some(std::span<std::byte> into) override {
    const std::size_t bytes = std::min(into.size(), script_->to_send.size());
    if (bytes == 0 && script_->read_error) return {ReadState::failed, 0, script_->read_error};
    if (bytes == 0) return {script_->source_ended ? ReadState::end : ReadState::would_block};
    std::memcpy(into.data(), script_->to_send.data(), bytes);
    script_->to_send.erase(0, bytes);
    return {ReadState::data, bytes};
  }
  void async_wait_readable(WaitHandler handler) override {
    waiting_ = std::move(handler);
    go_on();
  }
  void receipted() override { script_->receipted = true; }
  void async_write_some(std::span<const std::byte> from, WriteHandler handler) override {
    writing_ = from;
    write_handler_ = std::move(handler);
    go_on();
  }
  void async_finish(FinishHandler handler) override {
    boost::asio::post(io_, lifetime_.guard([this, handler = std::move(handler)] {
      script_->finished = !script_->finish_error;
      handler(script_->finish_error);
    }));
  }
  void abort() override {
    script_->aborted = true;
    lifetime_.end();
  }
  [[nodiscard]] std::string source_name() const override { return script_->name; }
  [[nodiscard]] std::string sink_name() const override { return "script"; }

 private:
  void go_on() {
    const bool readable = !script_->to_send.empty() || script_->source_ended || script_->read_error;
    if (waiting_ && readable) boost::asio::post(io_, lifetime_.guard(std::exchange(waiting_, nullptr)));
    if (write_handler_ && !script_->consumer_stalled) complete_write();
  }
  void complete_write() {
    const std::size_t bytes = script_->write_error ? 0 : writing_.size();
    for (const std::byte b : writing_.first(bytes)) script_->received.push_back(static_cast<char>(b));
    boost::asio::post(io_, lifetime_.guard([handler = std::exchange(write_handler_, nullptr),
                                            error = script_->write_error, bytes] { handler(error, bytes); }));
  }

  boost::asio::io_context& io_;
  std::shared_ptr<Script> script_;
  WaitHandler waiting_;
  std::span<const std::byte> writing_;
  WriteHandler write_handler_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::test
