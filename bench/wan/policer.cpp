// SPDX-License-Identifier: Apache-2.0
#include "wan/policer.hpp"

#include <algorithm>

namespace udtcat::wan {

void Policer::set(BitRate rate, std::size_t bucket_bytes, TimePoint now) {
  refill(now);
  const bool was_off = rate_.unlimited();
  rate_ = rate;
  bucket_bytes_ = static_cast<double>(bucket_bytes);
  tokens_ = was_off ? bucket_bytes_ : std::min(tokens_, bucket_bytes_);
}

bool Policer::conforms(std::size_t bytes, TimePoint now) {
  if (rate_.unlimited()) return true;
  refill(now);
  if (tokens_ < static_cast<double>(bytes)) return false;
  tokens_ -= static_cast<double>(bytes);
  return true;
}

void Policer::refill(TimePoint now) {
  const double gained =
      std::chrono::duration<double>(now - filled_at_).count() * static_cast<double>(rate_.bits_per_second()) / 8;
  tokens_ = std::min(tokens_ + gained, bucket_bytes_);
  filled_at_ = now;
}

}  // namespace udtcat::wan
