// SPDX-License-Identifier: Apache-2.0
#include "lib/connection/report.hpp"

#include <algorithm>
#include <chrono>

#include "lib/core/byte_order.hpp"
#include "lib/core/byte_packing.hpp"

namespace udtcat::connection {

namespace {

using std::chrono::microseconds;

constexpr std::uint64_t kMostMicroseconds = 1'000'000'000'000'000;  // guess: thirty years; and no sum overflows

/// Calls `number` for each of the evidence's values, in the order of the spec.
template <typename Evidence, typename Number>
void for_each_number(Evidence& evidence, Number number) {
  number(evidence.elapsed);
  number(evidence.bytes_sent);
  number(evidence.bytes_received);
  for (auto& held : evidence.held) number(held);
  number(evidence.consuming);
  number(evidence.event_loop.had);
  number(evidence.event_loop.waited);
  number(evidence.cipher.had);
  number(evidence.cipher.waited);
  number(evidence.cipher_threads);
  number(evidence.path_rate);
  number(evidence.least_rtt);
  number(evidence.rtt_sum);
  number(evidence.rtt_samples);
  number(evidence.packets_sent);
  number(evidence.packets_lost);
  std::uint64_t unused = 0;  // of earlier versions: their places stay
  number(unused);
  number(unused);
  number(evidence.packet_bytes);
  number(evidence.socket_drops);
  number(evidence.socket_buffer_bytes);
  number(evidence.socket_wanted_bytes);
  number(evidence.rate_cap);
  number(evidence.memory_bytes);
  number(evidence.queued_lost);
  number(evidence.trains_off);
  for (auto* seen : {&evidence.loss_by_rate, &evidence.loss_behind_loss}) {
    number(seen->spans);
    number(seen->sent);
    number(seen->lost);
    number(seen->sent_squared);
    number(seen->sent_by_lost);
  }
  number(evidence.path_changes);
}

class NumberWriter {
 public:
  explicit NumberWriter(std::span<std::byte> out) : rest_(out) {}
  void operator()(std::uint64_t value) {
    core::store_be<std::uint64_t>(rest_, value);
    rest_ = rest_.subspan(sizeof value);
  }
  void operator()(microseconds value) { (*this)(static_cast<std::uint64_t>(std::max<std::int64_t>(value.count(), 0))); }
  void operator()(BitRate value) { (*this)(value.bits_per_second()); }
  void operator()(const std::optional<microseconds>& value) { (*this)(value.value_or(microseconds(0))); }

 private:
  std::span<std::byte> rest_;
};

class NumberReader {
 public:
  explicit NumberReader(std::span<const std::byte> body) : body_(body) {}
  void operator()(std::uint64_t& value) { value = next(); }
  void operator()(microseconds& value) {
    value = microseconds(static_cast<std::int64_t>(std::min(next(), kMostMicroseconds)));
  }
  void operator()(BitRate& value) { value = BitRate::from_bits_per_second(next()); }
  void operator()(std::optional<microseconds>& value) {
    microseconds known(0);
    (*this)(known);
    if (known.count() > 0) value = known;
  }

 private:
  [[nodiscard]] std::uint64_t next() { return body_.number<std::uint64_t>(); }

  core::ByteReader body_;
};

}  // namespace

void encode_report(const EndEvidence& evidence, std::span<std::byte> out) {
  for_each_number(evidence, [write = NumberWriter(out)](const auto& value) mutable { write(value); });
}

Result<EndEvidence> decode_report(std::span<const std::byte> body) {
  if (body.size() < kLeastReportBytes || body.size() > kMaxReportBytes)
    return fail(Errc::protocol_violated, "read frame", "a report has the wrong length");
  EndEvidence evidence;
  for_each_number(evidence, [read = NumberReader(body)](auto& value) mutable { read(value); });
  return evidence;
}

}  // namespace udtcat::connection
