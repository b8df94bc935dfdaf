// SPDX-License-Identifier: Apache-2.0
#include "lib/connection/credit.hpp"

#include "lib/core/invariant.hpp"

namespace udtcat::connection {
namespace {

using namespace std::chrono_literals;

// A consumer that takes anything is granted this much at once: slow start over a long path must not wait for credit.
constexpr std::uint64_t kNearWindowBytes = 4 * kMiB;       // measured: on a LAN more only leaves the caches
constexpr std::uint64_t kFarWindowBytes = 16 * kMiB;       // measured: at 75 ms and 1 % loss it is full a second sooner
constexpr std::uint64_t kSoleFarWindowBytes = 128 * kMiB;  // measured: ADR-0034
constexpr std::chrono::microseconds kFarRtt = 10ms;        // guess
// Half a window in so few round trips is eight bandwidth-delay products or less: one is in flight, some wait behind a
// repair and that of a repair, and growth itself must not wait.
constexpr int kGrowthRtts = 4;            // measured: 2 is reached late where one packet in a hundred is lost
constexpr std::uint64_t kGrantShare = 8;  // guess: a part this large of the window waits for its grant
constexpr std::chrono::microseconds kLeastRtt = 1ms;  // guess: on a LAN the hosts take longer than the way

}  // namespace

void SendCredit::on_sent(std::uint64_t bytes) {
  UDTCAT_INVARIANT(bytes <= available_bytes(), "the block writer reads no more from a source than its credit");
  sent_bytes_ += bytes;
}

bool SendCredit::on_grant(std::uint64_t limit_bytes) {
  if (limit_bytes < limit_bytes_) return false;
  limit_bytes_ = limit_bytes;
  return true;
}

ReceiveCredit::ReceiveCredit(std::uint64_t initial_window_bytes, WindowBudget& budget)
    : budget_(budget), window_bytes_(initial_window_bytes), limit_bytes_(initial_window_bytes) {
  budget_.take_initial(window_bytes_);
}

ReceiveCredit::~ReceiveCredit() { budget_.give_back(window_bytes_); }

bool ReceiveCredit::on_received(std::uint64_t bytes) {
  if (bytes > limit_bytes_ - received_bytes_) return false;
  received_bytes_ += bytes;
  return true;
}

std::optional<std::uint64_t> ReceiveCredit::on_consumed(std::uint64_t bytes, TimePoint now,
                                                        std::chrono::microseconds rtt) {
  consumed_bytes_ += bytes;
  const bool first = !measured_since_;
  if (first) {
    const std::uint64_t far = budget_.alone() ? kSoleFarWindowBytes : kFarWindowBytes;
    const std::uint64_t wanted = rtt < kFarRtt ? kNearWindowBytes : far;
    grow(std::min(wanted - std::min(wanted, window_bytes_), budget_.first_share_bytes()));
  }
  if (first || consumed_bytes_ - measured_from_bytes_ >= window_bytes_ / 2) {
    if (!first && now - *measured_since_ < kGrowthRtts * std::max(rtt, kLeastRtt)) grow(window_bytes_);
    measured_since_ = now;
    measured_from_bytes_ = consumed_bytes_;
  }
  if (!first && consumed_bytes_ + window_bytes_ < limit_bytes_ + window_bytes_ / kGrantShare) return std::nullopt;
  limit_bytes_ = consumed_bytes_ + window_bytes_;
  return limit_bytes_;
}

/// By so much, or by what a stream may still have; not at all if the session's windows would become too large.
void ReceiveCredit::grow(std::uint64_t bytes) {
  const std::uint64_t most = budget_.most_per_stream_bytes();
  bytes = std::min(bytes, most - std::min(most, window_bytes_));
  if (bytes > 0 && budget_.try_take(bytes)) window_bytes_ += bytes;
}

}  // namespace udtcat::connection
