// SPDX-License-Identifier: Apache-2.0
// The statistics of a sender: why nothing leaves, and what it knows of the path.
#include <algorithm>

#include "lib/transport/native/udt_sender.hpp"

namespace udtcat::transport::native {

namespace {

constexpr double kCapMargin = 0.95;  // guess: BBR keeps a hundredth below the rate that it finds, which is the cap then
constexpr Duration kLeastQueue = std::chrono::milliseconds(5);  // spec: stream.md §7. guess: trains and hosts make less
constexpr int kQueuePart = 4;  // spec: stream.md §7. guess: of the least round trip: more is a queue

}  // namespace

bool UdtSender::poll_train(TimePoint now, TrainBuilder& builder) {
  const bool sending = compose_train(now, builder);
  stall_clock_.set(now, stall_reason(sending));
  return sending;
}

/// The path never showed less than the cap, or the congestion control would send faster.
bool UdtSender::at_rate_cap() const {
  if (settings_.rate_cap.unlimited()) return false;
  const BitRate pace = congestion_->pacing_rate();
  const auto margin = static_cast<double>(settings_.rate_cap.bits_per_second()) * kCapMargin;
  return pace.unlimited() || pace >= settings_.rate_cap ||
         static_cast<double>(congestion_->path_rate().bits_per_second()) >= margin;
}

/// None: all that was written has left.
std::optional<StallReason> UdtSender::stall_reason(bool sending) const {
  if (sending) return StallReason::sending;
  if (repairs_.empty() && copies_.empty()) {
    const std::size_t bytes = next_new_bytes();
    if (bytes == 0) return std::nullopt;
    if (sent_offset_ + bytes - acknowledged_offset() > settings_.memory_bytes) return StallReason::memory;
    if (!within_peer_window(bytes)) return StallReason::peer_window;
  }
  return at_rate_cap() ? StallReason::rate_cap : StallReason::path;
}

bool UdtSender::rtt_shows_queue() const {
  const auto least = rtt_.minimum();
  return least && rtt_.smoothed() - *least > std::max<Duration>(kLeastQueue, *least / kQueuePart);
}

void UdtSender::count_loss(const SentPacket& packet) {
  const bool with_queue = rtt_shows_queue();
  ++stats_.packets_lost;
  if (with_queue) ++queued_lost_;
  loss_by_rate_.on_lost(packet.sent_at, with_queue);
}

void UdtSender::add_end_stats(TimePoint now, EndStats& end) const {
  using std::chrono::microseconds;
  stall_clock_.add_to(end, now);
  end.path_rate = congestion_->path_rate();
  end.rtt_sum = std::chrono::duration_cast<microseconds>(rtt_.sum());
  end.rtt_samples = rtt_.samples();
  if (const auto least = rtt_.minimum()) end.least_rtt = std::chrono::duration_cast<microseconds>(*least);
  end.packets_sent = stats_.packets_sent;
  end.packets_lost = stats_.packets_lost;
  end.queued_lost = queued_lost_;
  end.trains_off = trial_.off() ? 1 : 0;
  const LossByRateMeter::Sums losses = loss_by_rate_.sums(now, 2 * rtt_.smoothed());
  end.loss_by_rate = losses.all;
  end.loss_behind_loss = losses.behind_loss;
  end.path_changes = path_changes_;
  end.rate_cap = settings_.rate_cap;
  end.memory_bytes = settings_.memory_bytes;
}

}  // namespace udtcat::transport::native
