/// So many a second for each part of the net, and so many for all.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <udtcat/result.hpp>

#include "lib/core/prefix.hpp"
#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

/// Token buckets in a table that never grows: prefixes that nobody can make fall together share one. What is taken
/// beyond a limit is for the caller to leave undone.
/// Threads: unsynchronised; time is a parameter.
class PrefixMeter {
 public:
  /// Each may come in one burst of a second's.
  struct Limits {
    std::uint32_t of_a_prefix_per_second = 0;
    std::uint32_t of_all_per_second = 0;
  };
  /// errors   Errc::cipher_failed
  [[nodiscard]] static Result<PrefixMeter> create(const Limits& limits);

  /// returns   whether `prefix` may have one more now
  [[nodiscard]] bool take(TimePoint now, core::Prefix prefix);

 private:
  static constexpr std::size_t kBuckets = 1024;  // guess: 16 kB
  struct Bucket {
    double filled = 0;
    TimePoint at{};
    void fill(TimePoint now, std::uint32_t per_second);
  };
  PrefixMeter(const Limits& limits, std::uint64_t secret) : limits_(limits), secret_(secret | 1U) {}

  Limits limits_;
  std::uint64_t secret_;
  std::array<Bucket, kBuckets> buckets_{};
  Bucket all_;
};

}  // namespace udtcat::transport::native
