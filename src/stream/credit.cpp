#include "stream/credit.hpp"

#include <algorithm>
#include <utility>

#include "core/invariant.hpp"

namespace udtcat::stream {

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
    : budget_(budget),
      window_bytes_(initial_window_bytes),
      limit_bytes_(initial_window_bytes),
      previous_limit_bytes_(initial_window_bytes) {
  budget_.take_initial(window_bytes_);
}

ReceiveCredit::~ReceiveCredit() { budget_.give_back(window_bytes_); }

bool ReceiveCredit::on_received(std::uint64_t bytes) {
  if (bytes > limit_bytes_ - received_bytes_) return false;
  received_bytes_ += bytes;
  return true;
}

std::optional<std::uint64_t> ReceiveCredit::on_consumed(std::uint64_t bytes) {
  consumed_bytes_ += bytes;
  // A sender that stops exactly where a grant ended has run out of credit, not of data; and the consumer has nothing left.
  const bool at_a_limit = received_bytes_ == limit_bytes_ || received_bytes_ == previous_limit_bytes_;
  if (consumed_bytes_ == received_bytes_ && at_a_limit) starved_ = true;
  if (consumed_bytes_ + window_bytes_ < limit_bytes_ + window_bytes_ / 2) return std::nullopt;
  if (std::exchange(starved_, false)) {
    const std::uint64_t growth = std::min(window_bytes_, kMaxWindowBytes - std::min(window_bytes_, kMaxWindowBytes));
    if (growth > 0 && budget_.try_take(growth)) window_bytes_ += growth;
  }
  previous_limit_bytes_ = limit_bytes_;
  limit_bytes_ = consumed_bytes_ + window_bytes_;
  return limit_bytes_;
}

}  // namespace udtcat::stream
