#include "lib/transport/native/prefix_meter.hpp"

#include <algorithm>

#include "lib/crypto/random.hpp"

namespace udtcat::transport::native {

Result<PrefixMeter> PrefixMeter::create(const Limits& limits) {
  const auto secret = crypto::random_u64();
  if (!secret) return tl::unexpected(secret.error());
  return PrefixMeter(limits, *secret);
}

bool PrefixMeter::take(TimePoint now, core::Prefix prefix) {
  constexpr int kIndexBits = 10;
  static_assert(kBuckets == 1U << kIndexBits);
  Bucket& bucket = buckets_[prefix * secret_ >> (64 - kIndexBits)];
  bucket.fill(now, limits_.of_a_prefix_per_second);
  all_.fill(now, limits_.of_all_per_second);
  if (bucket.filled < 1 || all_.filled < 1) return false;
  --bucket.filled;
  --all_.filled;
  return true;
}

void PrefixMeter::Bucket::fill(TimePoint now, std::uint32_t per_second) {
  const double seconds = std::chrono::duration<double>(now - at).count();
  filled = std::min<double>(per_second, filled + std::max(seconds, 0.0) * per_second);
  at = now;
}

}  // namespace udtcat::transport::native
