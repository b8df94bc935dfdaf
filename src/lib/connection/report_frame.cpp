// SPDX-License-Identifier: Apache-2.0
#include "lib/connection/report_frame.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>

#include "lib/core/byte_order.hpp"
#include "lib/core/byte_packing.hpp"

namespace udtcat::connection {

namespace {

using std::chrono::microseconds;

constexpr std::uint64_t kMostMicroseconds = 1'000'000'000'000'000;  // guess: thirty years; and no sum overflows

/// Calls `visit` for each number of the statistics, in the order of their table, which is that of the spec.
template <typename Stats, typename Visit>
void for_each_number_on_wire(Stats& stats, Visit visit) {
  constexpr std::string_view kBeforeReserved = "packets_lost";  // spec: stream.md §7
  core::for_each_field<EndStats>([&](const auto& field) {
    core::for_each_number(visit, stats.*field.member);
    if (field.name != kBeforeReserved) return;
    std::array<std::uint64_t, kReservedNumbers> reserved{};
    for (std::uint64_t& number : reserved) visit(number);
  });
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

void encode_report(const EndStats& stats, std::span<std::byte> out) {
  for_each_number_on_wire(stats, NumberWriter(out));
}

Result<EndStats> decode_report(std::span<const std::byte> body) {
  if (body.size() < kLeastReportBytes || body.size() > kMaxReportBytes)
    return fail(Errc::protocol_violated, "read frame", "a report has the wrong length");
  EndStats stats;
  for_each_number_on_wire(stats, NumberReader(body));
  return stats;
}

}  // namespace udtcat::connection
