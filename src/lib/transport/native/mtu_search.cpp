// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/mtu_search.hpp"

#include <algorithm>
#include <array>

#include "lib/transport/native/packet.hpp"

namespace udtcat::transport::native {

namespace {

using namespace std::chrono_literals;

// IP packet sizes: the least that IPv4 hosts take, tunnels in tunnels, the least that IPv6 asks for, tunnels over
// Ethernet, Ethernet, jumbo frames, loopback.
constexpr std::array<std::size_t, 17> kSteps{576,  800,  1000, 1200, 1280, 1320, 1360,   1400,  1420,
                                             1450, 1472, 1492, 1500, 4000, 9000, 16'000, 65'535};
constexpr std::uint32_t kAttempts = 3;       // spec: RFC 8899 §5.1.2, MAX_PROBES
constexpr Duration kLeastAnswerTime = 50ms;  // guess: a busy peer
constexpr Duration kSearchAgain = 60s;       // guess: RFC 8899 §5.1.1 has 600 s; a path may be narrow for a moment
constexpr std::size_t kBaseStep = 4;
constexpr std::size_t kEthernetStep = 12;

static_assert(kSteps[kBaseStep] == 1280 && kSteps[kEthernetStep] == 1500);

/// How many steps there are to try: the first that is not less than `most_bytes` is the last.
std::size_t steps_up_to(std::size_t most_bytes) {
  const auto* const last = std::ranges::lower_bound(kSteps, most_bytes);
  return last == kSteps.end() ? kSteps.size() : static_cast<std::size_t>(last - kSteps.begin()) + 1;
}

}  // namespace

MtuSearch::MtuSearch(const Sizes& sizes)
    : overhead_bytes_(sizes.overhead_bytes),
      most_bytes_(sizes.most_bytes),
      steps_(steps_up_to(most_bytes_)),
      least_(std::min(steps_up_to(sizes.least_bytes), steps_) - 1),
      base_(std::clamp(kBaseStep, least_, steps_ - 1)),
      known_(sizes.found_bytes == 0 ? base_ : std::min(base_, step_within(sizes.found_bytes))),
      least_failed_(steps_),
      candidate_(known_) {
  search(TimePoint{});
}

/// The largest step of at most so many bytes; the least, if there is none.
std::size_t MtuSearch::step_within(std::size_t ip_bytes) const {
  std::size_t step = least_;
  while (step + 1 < steps_ && std::min(kSteps[step + 1], most_bytes_) <= ip_bytes) ++step;
  return step;
}

/// Failures of before are forgotten, and the largest step is the first.
void MtuSearch::search(TimePoint now) {
  least_failed_ = steps_;
  candidate_ = known_;
  next_candidate(now);
}

/// The last step is cut to what this end can send at all.
std::size_t MtuSearch::packet_bytes_of(std::size_t step) const {
  return std::min(std::min(kSteps[step], most_bytes_) - overhead_bytes_, kMaxPacketBytes);
}

/// The next step to try: the largest, as most paths carry what the first hop does; then Ethernet's; then upwards from
/// what is known.
void MtuSearch::next_candidate(TimePoint now) {
  attempts_ = 0;
  if (known_ + 1 >= least_failed_) {
    due_ = now + kSearchAgain;
    candidate_ = known_;
    return;
  }
  if (candidate_ == known_ && least_failed_ == steps_)
    candidate_ = least_failed_ - 1;
  else if (known_ < kEthernetStep && least_failed_ > kEthernetStep)
    candidate_ = kEthernetStep;
  else
    candidate_ = known_ + 1;
  due_ = now;
}

std::optional<TimePoint> MtuSearch::deadline() const { return due_; }

std::optional<std::size_t> MtuSearch::poll_probe(TimePoint now, Duration answer_time) {
  if (!due_ || now < *due_) return std::nullopt;
  if (candidate_ <= known_) {  // the search was over: it begins again
    if (known_ + 1 >= steps_) {
      due_.reset();
      return std::nullopt;
    }
    search(now);
  }
  if (attempts_ == kAttempts) {
    least_failed_ = candidate_;
    next_candidate(now);
    if (!due_ || now < *due_) return std::nullopt;
  }
  ++attempts_;
  due_ = now + std::max(answer_time, kLeastAnswerTime);
  return packet_bytes_of(candidate_);
}

bool MtuSearch::on_reply(TimePoint now, std::size_t packet_bytes) {
  std::size_t step = known_;
  while (step + 1 < steps_ && packet_bytes_of(step + 1) <= packet_bytes) ++step;
  if (step == known_) return false;
  known_ = step;
  least_failed_ = std::max(least_failed_, known_ + 1);
  next_candidate(now);
  return true;
}

void MtuSearch::on_too_large(TimePoint now, std::size_t packet_bytes) {
  if (candidate_ <= known_ || packet_bytes_of(candidate_) != packet_bytes) return;
  least_failed_ = candidate_;
  next_candidate(now);
}

void MtuSearch::on_black_hole(TimePoint now) {
  known_ = known_ > base_ ? base_ : least_;
  search(now);  // it may have been an outage
}

bool MtuSearch::on_router_says(TimePoint now, std::size_t ip_bytes) {
  const std::size_t step = step_within(ip_bytes);
  if (step >= known_) return false;  // the packet was a probe
  known_ = step;
  search(now);
  return true;
}

}  // namespace udtcat::transport::native
