// SPDX-License-Identifier: Apache-2.0
/// Stands in for the multiplexer: records what a stream asks of it.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "lib/connection/mux_stream.hpp"

namespace udtcat::connection {

class FakeHost final : public StreamHost {
 public:
  void send(Frame frame) override { sent.push_back(std::move(frame)); }
  void source_ready(MuxStream& stream) override { ready.push_back(&stream); }
  void count_sent(std::size_t bytes) override { sent_bytes += bytes; }
  void count_consumed(std::size_t bytes) override { consumed_bytes += bytes; }
  void note_starved(bool starved) override { starved_streams += starved ? 1 : -1; }
  void note_consuming(bool consuming) override { consumers += consuming ? 1 : -1; }
  [[nodiscard]] TimePoint now() const override { return time; }
  [[nodiscard]] std::chrono::microseconds rtt() const override { return std::chrono::milliseconds(100); }
  void stream_over(MuxStream&, StreamOutcome how) override { outcome = std::move(how); }

  template <typename Body>
  [[nodiscard]] const Body* last_sent() const {
    return sent.empty() ? nullptr : std::get_if<Body>(&sent.back().body);
  }

  std::vector<Frame> sent;
  std::vector<MuxStream*> ready;
  std::size_t sent_bytes = 0;
  std::size_t consumed_bytes = 0;
  int starved_streams = 0;
  int consumers = 0;
  TimePoint time;
  std::optional<StreamOutcome> outcome;
};

}  // namespace udtcat::connection
