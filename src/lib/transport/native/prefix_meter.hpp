// SPDX-License-Identifier: Apache-2.0
/// A rate limit for each prefix of addresses, and one for all together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <udtcat/result.hpp>

#include "lib/core/ip_prefix.hpp"
#include "lib/core/try.hpp"
#include "lib/crypto/secret_bytes.hpp"
#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

/// Token buckets in a table of fixed size: a secret decides which prefixes share a bucket.
/// Threads: unsynchronised; time is a parameter.
class PrefixMeter {
 public:
  /// A bucket holds the tokens of one second.
  struct Limits {
    std::uint32_t of_a_prefix_per_second = 0;
    std::uint32_t of_all_per_second = 0;
  };
  /// errors   Errc::cipher_failed
  [[nodiscard]] static Result<PrefixMeter> create(const Limits& limits) {
    UDTCAT_TRY(const std::uint64_t secret, crypto::random_u64());
    return PrefixMeter(limits, secret);
  }

  /// returns   whether there is a token for `prefix`, which is then taken
  [[nodiscard]] bool take(TimePoint now, core::Prefix prefix) {
    Bucket& bucket = buckets_[prefix * secret_ >> (64 - kIndexBits)];
    bucket.fill(now, limits_.of_a_prefix_per_second);
    all_.fill(now, limits_.of_all_per_second);
    if (bucket.filled < 1 || all_.filled < 1) return false;
    --bucket.filled;
    --all_.filled;
    return true;
  }

 private:
  static constexpr int kIndexBits = 10;  // guess: 16 kB
  struct Bucket {
    double filled = 0;
    TimePoint at{};
    void fill(TimePoint now, std::uint32_t per_second) {
      const double seconds = std::chrono::duration<double>(now - at).count();
      filled = std::min<double>(per_second, filled + std::max(seconds, 0.0) * per_second);
      at = now;
    }
  };
  PrefixMeter(const Limits& limits, std::uint64_t secret)
      : limits_(limits), secret_(secret | 1U), buckets_(std::size_t{1} << kIndexBits) {}

  Limits limits_;
  std::uint64_t secret_;
  // On the heap: create() returns the object by value, and 16 kB a frame are much for a small stack (ulimit -s).
  std::vector<Bucket> buckets_;
  Bucket all_;
};

}  // namespace udtcat::transport::native
