// SPDX-License-Identifier: Apache-2.0
#include <udtcat/why_diagnosis.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

namespace udtcat {

namespace {

using std::chrono::microseconds;

constexpr microseconds kLeastInterval{200'000};  // guess: two hundred turns of the event loop
constexpr double kDominant = 0.4;                // guess: of the time, where nothing else has more
constexpr double kHalfBusy = 0.5;                // guess: of threads that work in bursts
constexpr double kFullyBusy = 0.85;              // guess: a thread that is the limit is never quite full
constexpr double kCapReached = 0.75;             // guess: headers, repairs, a beginning and an end are no payload
constexpr double kWindowPart = 0.2;              // guess: less than the quarter that a stream is granted at first
constexpr double kMemoryFilled = 0.8;   // measured: ADR-0042: BBR finds what the memory carries, and a little less
constexpr double kMemoryMoved = 0.4;    // guess: a beginning and an end move less than what the memory carries
constexpr double kConsumes = 0.5;       // guess: half of the time somebody takes what is there
constexpr double kDropsMatter = 0.001;  // guess: a drop may be a train of sixty packets
constexpr double kLossMatters = 0.01;   // guess: less is repaired without being felt
constexpr double kLossLimits = 0.03;    // measured: ADR-0053: trains lose as much in a queue of ten packets
constexpr std::uint64_t kEnoughPackets = 200;  // guess: a share of fewer says little
constexpr double kLeastPolicerSlope = 0.1;     // measured: ADR-0053: policers 0.05 to 0.95, chance within 0.01 of 0
constexpr double kMostChanceSlope = 0.03;      // guess: between these
constexpr double kLeastBehindLoss = 0.75;      // measured: ADR-0053: chance 0.9 to 0.99, policers 0.1 to 0.8
constexpr double kStandardErrors = 4;  // guess: of the error that chance makes; losses that come in rows make more
constexpr double kStandardErrorsOfMuchLoss = 2;  // guess: where more is lost than kMaxRandomLoss
constexpr double kLeastLeft = 0.01;              // guess: where all is lost, nothing is told
constexpr double kCrowded = 0.15;  // measured: ADR-0053: at 0.2 a processor looked like a path of 0.14 Gbit/s
constexpr double kPathUsed = 0.5;  // guess: headers, repairs, a beginning and an end are no payload

double share(auto part, auto whole) {
  return whole > decltype(whole){} ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}
double share(microseconds part, microseconds whole) { return share(part.count(), whole.count()); }

double stalled(const EndStats& end, StallReason why) {
  return share(end.stalled[static_cast<std::size_t>(why)], end.elapsed);
}

double stalled_at_all(const EndStats& end) {
  return share(std::accumulate(end.stalled.begin(), end.stalled.end(), microseconds(0)), end.elapsed);
}

/// One direction of a connection: who sends, who receives, and where they are.
struct Direction {
  const EndStats* sender;    // null: unknown
  const EndStats* receiver;  // null: unknown
  Diagnosis::Where sender_at;
  Diagnosis::Where receiver_at;
};

/// Where nothing moves it is the direction in which something is held up.
bool sends_here(const BothEndsStats& ends) {
  const EndStats& here = ends.here;
  if (here.bytes_sent != here.bytes_received) return here.bytes_sent > here.bytes_received;
  // An end that has said all is held up by nothing.
  if (ends.there && stalled_at_all(here) < kDominant) return false;
  if (ends.there && stalled_at_all(*ends.there) < kDominant) return true;
  const bool idle = stalled(here, StallReason::source) >= kDominant;
  return !idle || !ends.there || stalled(*ends.there, StallReason::source) >= kDominant;
}

Direction direction_of(const BothEndsStats& ends, bool sends) {
  const EndStats* peer = ends.there ? &*ends.there : nullptr;
  if (sends) return {&ends.here, peer, Diagnosis::Where::here, Diagnosis::Where::there};
  return {peer, &ends.here, Diagnosis::Where::there, Diagnosis::Where::here};
}

/// Of one kind of threads, each.
struct Load {
  Diagnosis::Thread thread = Diagnosis::Thread::event_loop;
  double busy = 0;
  double waited = 0;
  [[nodiscard]] double sum() const { return busy + waited; }
};

Load load_of(const EndStats& end, Diagnosis::Thread thread) {
  const bool loop = thread == Diagnosis::Thread::event_loop;
  const ThreadTime& time = loop ? end.event_loop : end.cipher;
  const double threads = loop ? 1 : static_cast<double>(std::max<std::uint64_t>(end.cipher_threads, 1));
  return {thread, share(time.had, end.elapsed) / threads, share(time.waited, end.elapsed) / threads};
}

/// The load of the busier kind.
Load load_of(const EndStats& end) {
  if (end.elapsed < kLeastInterval) return {};
  const Load loop = load_of(end, Diagnosis::Thread::event_loop);
  const Load cipher = load_of(end, Diagnosis::Thread::cipher);
  return cipher.sum() > loop.sum() ? cipher : loop;
}

void note_load(const Load& load, Diagnosis& diagnosis) {
  diagnosis.thread = load.thread;
  diagnosis.busy = std::min(load.busy, 1.0);
  diagnosis.waited = std::clamp(load.waited, 0.0, 1 - diagnosis.busy);
}

void note_path(const EndStats& sender, Diagnosis& diagnosis) {
  diagnosis.path_rate = sender.path_rate;
  diagnosis.least_rtt = sender.least_rtt;
  diagnosis.lost = std::min(share(sender.packets_lost, sender.packets_sent), 1.0);
  diagnosis.queued_lost = std::min(share(sender.queued_lost, sender.packets_sent), diagnosis.lost);
  if (sender.least_rtt && sender.rtt_samples > 0) {
    const microseconds mean(sender.rtt_sum.count() / static_cast<std::int64_t>(sender.rtt_samples));
    diagnosis.queue = std::max(mean - *sender.least_rtt, microseconds(0));
  }
}

// ---- Whether this is to blame; then the diagnosis says so

bool blame_processor(const Direction& direction, Diagnosis& diagnosis) {
  const Load sender = direction.sender != nullptr ? load_of(*direction.sender) : Load{};
  const Load receiver = direction.receiver != nullptr ? load_of(*direction.receiver) : Load{};
  const bool sender_is = sender.sum() >= receiver.sum();
  const Load& busier = sender_is ? sender : receiver;
  if (busier.sum() < kFullyBusy) return false;
  diagnosis.limit = Limit::processor;
  diagnosis.where = sender_is ? direction.sender_at : direction.receiver_at;
  note_load(busier, diagnosis);
  return true;
}

double stalled_by_path(const EndStats& end) {
  return stalled(end, StallReason::sending) + stalled(end, StallReason::path);
}
double stalled_by_peer(const EndStats& end) {
  return stalled(end, StallReason::credit) + stalled(end, StallReason::peer_window);
}
bool consumes(const EndStats& end) { return share(end.consuming, end.elapsed) >= kConsumes; }

/// A thread that waits for a core sends and answers late: what path shows itself is the host's.
bool crowded(const EndStats* end, Diagnosis& diagnosis) {
  const Load load = end != nullptr ? load_of(*end, Diagnosis::Thread::event_loop) : Load{};
  if (load.waited < kCrowded) return false;
  note_load(load, diagnosis);
  return true;
}

bool blame_sockets(const Direction& direction, Diagnosis& diagnosis) {
  if (direction.sender == nullptr || direction.receiver == nullptr) return false;
  diagnosis.dropped = share(direction.receiver->socket_drops, direction.sender->packets_sent);
  if (direction.sender->packets_sent < kEnoughPackets || diagnosis.dropped < kDropsMatter) return false;
  // A consumer that takes less than comes is what limits, whatever falls off while it is waited for.
  if (stalled_by_peer(*direction.sender) >= kDominant && consumes(*direction.receiver)) return false;
  diagnosis.where = direction.receiver_at;
  // Larger buffers would not help a late reader.
  const bool are_as_wanted = direction.receiver->socket_buffer_bytes >= direction.receiver->socket_wanted_bytes;
  const bool is_late = are_as_wanted && crowded(direction.receiver, diagnosis);
  diagnosis.limit = is_late ? Limit::processor : Limit::socket_buffer;
  return true;
}

/// At that rate a round trip holds so much of the memory.
bool fills(std::uint64_t memory_bytes, double part, BitRate rate, std::optional<microseconds> round_trip) {
  if (!round_trip || memory_bytes == 0) return false;
  const double seconds = std::chrono::duration<double>(*round_trip).count();
  return static_cast<double>(rate.bytes_per_second()) * seconds >= part * static_cast<double>(memory_bytes);
}

/// The payload that moved needs so much of it in a round trip: a smaller transfer would not be faster with more.
bool moved_fills(std::uint64_t memory_bytes, double part, const Diagnosis& diagnosis) {
  return diagnosis.least_rtt && fills(memory_bytes, part, diagnosis.rate, *diagnosis.least_rtt + diagnosis.queue);
}

bool blame_memory(const Direction& direction, Diagnosis& diagnosis) {
  const std::uint64_t ours = direction.sender->memory_bytes;
  const std::uint64_t theirs = direction.receiver != nullptr ? direction.receiver->memory_bytes : 0;
  // The lesser of the limits that are known: if the peer's is unknown, ours.
  const bool theirs_is_less = theirs != 0 && (ours == 0 || theirs < ours);
  const std::uint64_t memory = theirs_is_less ? theirs : ours;
  if (!fills(memory, kMemoryFilled, diagnosis.path_rate, diagnosis.least_rtt)) return false;
  if (!moved_fills(memory, kMemoryMoved, diagnosis)) return false;
  diagnosis.limit = Limit::memory;
  diagnosis.where = theirs_is_less ? direction.receiver_at : direction.sender_at;
  return true;
}

/// Of the packets that one span has more than another, the part that is lost too (the slope of a least-squares line),
/// beyond the share that is lost anyway: 0 by chance, 1 at a policer.
struct LossGrowth {
  double share = 0;
  double beyond = 0;
  double error = 0;  // by so much chance alone makes it differ from 0

  [[nodiscard]] double doubt() const {
    return (share < kMaxRandomLoss ? kStandardErrors : kStandardErrorsOfMuchLoss) * error;
  }
  [[nodiscard]] bool is_policed() const { return beyond >= std::max(doubt(), kLeastPolicerSlope); }
};

/// none: too little, or at one rate alone
std::optional<LossGrowth> growth_of(const LossByRate& seen) {
  if (seen.sent < kEnoughPackets || seen.lost == 0) return std::nullopt;
  const double spans = static_cast<double>(seen.spans);
  const double sent = static_cast<double>(seen.sent);
  const double part = static_cast<double>(seen.lost) / sent;
  const double squares = static_cast<double>(seen.sent_squared) - sent * sent / spans;
  if (squares <= 0) return std::nullopt;
  const double slope =
      (static_cast<double>(seen.sent_by_lost) - sent * static_cast<double>(seen.lost) / spans) / squares;
  const double error = std::sqrt(part * (1 - part) * static_cast<double>(seen.sent_squared) / sent / squares);
  const double left = std::max(1 - part, kLeastLeft);
  return LossGrowth{.share = part, .beyond = (slope - part) / left, .error = error / left};
}

/// Chance loses the same share at any rate; a policer all that is beyond its own, once what it had saved up is used:
/// behind a loss. Of neither for certain: unknown.
Limit limit_of_loss(const EndStats& sender) {
  const auto all = growth_of(sender.loss_by_rate);
  const auto behind = growth_of(sender.loss_behind_loss);
  if ((all && all->is_policed()) || (behind && behind->is_policed())) return Limit::policer;
  if (!all || !behind || all->share < kLossLimits || all->share > kMaxRandomLoss) return Limit::unknown;
  // Chance leaves hardly a span out: nearly all come behind a loss.
  if (share(sender.loss_behind_loss.sent, sender.loss_by_rate.sent) < kLeastBehindLoss) return Limit::unknown;
  return all->beyond <= kMostChanceSlope && all->doubt() <= kLeastPolicerSlope ? Limit::loss : Limit::unknown;
}

Limit limit_of_path(const Direction& direction, Diagnosis& diagnosis) {
  const EndStats& sender = *direction.sender;
  const double lost = diagnosis.lost - diagnosis.queued_lost;
  diagnosis.path_changed = sender.path_changes > 0;
  if (diagnosis.path_changed || diagnosis.path_rate == BitRate() || !diagnosis.least_rtt) return Limit::unknown;
  if (sender.packets_sent >= kEnoughPackets && lost >= kLossMatters) {
    const Limit limit = limit_of_loss(sender);
    return limit == Limit::loss && lost < kLossLimits ? Limit::unknown : limit;
  }
  if (crowded(direction.sender, diagnosis) || crowded(direction.receiver, diagnosis)) return Limit::unknown;
  // A rate near that of a cap or of the memory may be theirs.
  const double of_cap = share(diagnosis.path_rate.bits_per_second(), sender.rate_cap.bits_per_second());
  if (of_cap >= kPathUsed || fills(sender.memory_bytes, kMemoryMoved, diagnosis.path_rate, diagnosis.least_rtt))
    return Limit::unknown;
  // One that was found to carry much more than has moved is not what limits.
  const double used = share(diagnosis.rate.bits_per_second(), diagnosis.path_rate.bits_per_second());
  return used >= kPathUsed ? Limit::path : Limit::unknown;
}

/// The other end grants no more: its consumer takes less than comes, or its windows are less than the path holds.
/// A path that is never waited for may not even have been found.
void blame_receiver(const Direction& direction, Diagnosis& diagnosis) {
  diagnosis.where = direction.receiver_at;
  diagnosis.limit = Limit::unknown;
  if (direction.receiver == nullptr) {
    diagnosis.limit = Limit::peer;
  } else if (consumes(*direction.receiver)) {
    diagnosis.limit = Limit::consumer;
    diagnosis.rate = BitRate::from_bytes_per(direction.receiver->bytes_received, direction.receiver->elapsed);
  } else if (direction.receiver->memory_bytes == 0) {
    diagnosis.limit = Limit::peer;
  } else if (moved_fills(direction.receiver->memory_bytes, kWindowPart, diagnosis)) {
    diagnosis.limit = Limit::memory;
  } else if (stalled_by_path(*direction.sender) >= kDominant) {
    diagnosis.where = Diagnosis::Where::between;
    diagnosis.limit = limit_of_path(direction, diagnosis);
  }
}

/// The diagnosis of the reason that held the sender for longest.
void blame_holds(const Direction& direction, Diagnosis& diagnosis) {
  const EndStats& sender = *direction.sender;
  const double by_path = stalled_by_path(sender);
  const double by_memory = stalled(sender, StallReason::memory);
  const double by_peer = stalled_by_peer(sender);
  // Of equals the first: what the transport waits for, the connection may wait for too.
  const std::array<std::pair<double, Limit>, 6> holds{{{by_path, Limit::path},
                                                       {stalled(sender, StallReason::rate_cap), Limit::rate_cap},
                                                       {by_memory, Limit::memory},
                                                       {stalled(sender, StallReason::cipher), Limit::processor},
                                                       {by_peer, Limit::peer},
                                                       {stalled(sender, StallReason::source), Limit::source}}};
  const auto longest = *std::ranges::max_element(holds, {}, [](const auto& each) { return each.first; });
  if (longest.first < kDominant) {
    // A sender that fills the memory waits for the path and for room by turns.
    if (by_path + by_memory + by_peer >= kDominant) std::ignore = blame_memory(direction, diagnosis);
    return;
  }
  diagnosis.where = direction.sender_at;
  diagnosis.limit = longest.second;
  if (diagnosis.limit == Limit::peer) return blame_receiver(direction, diagnosis);
  if (diagnosis.limit == Limit::memory && !moved_fills(sender.memory_bytes, kMemoryMoved, diagnosis))
    diagnosis.limit = Limit::unknown;
  if (diagnosis.limit == Limit::processor) {
    note_load(load_of(sender, Diagnosis::Thread::cipher), diagnosis);
    // Threads that have little of a core wait for something that nobody measures.
    if (diagnosis.busy + diagnosis.waited < kHalfBusy) diagnosis.limit = Limit::unknown;
  }
  if (diagnosis.limit != Limit::path || blame_memory(direction, diagnosis)) return;
  diagnosis.where = Diagnosis::Where::between;
  diagnosis.limit = limit_of_path(direction, diagnosis);
}

bool blame_cap(const Direction& direction, Diagnosis& diagnosis) {
  if (direction.sender == nullptr || direction.sender->rate_cap.unlimited()) return false;
  const double reached = share(diagnosis.rate.bits_per_second(), direction.sender->rate_cap.bits_per_second());
  if (reached < kCapReached || stalled(*direction.sender, StallReason::rate_cap) < kDominant) return false;
  diagnosis.limit = Limit::rate_cap;
  diagnosis.where = direction.sender_at;
  return true;
}

}  // namespace

Diagnosis diagnose(const BothEndsStats& ends) {
  Diagnosis diagnosis;
  diagnosis.sends = sends_here(ends);
  const EndStats& here = ends.here;
  diagnosis.rate = BitRate::from_bytes_per(diagnosis.sends ? here.bytes_sent : here.bytes_received, here.elapsed);
  if (here.elapsed < kLeastInterval) return diagnosis;
  const Direction direction = direction_of(ends, diagnosis.sends);
  if (direction.sender != nullptr) note_path(*direction.sender, diagnosis);
  if (blame_cap(direction, diagnosis) || blame_processor(direction, diagnosis) || blame_sockets(direction, diagnosis))
    return diagnosis;
  if (direction.sender != nullptr) {
    blame_holds(direction, diagnosis);
  } else if (share(here.consuming, here.elapsed) >= kFullyBusy) {
    diagnosis.limit = Limit::consumer;
    diagnosis.where = Diagnosis::Where::here;
  }
  return diagnosis;
}

std::string_view word_of(const Diagnosis& diagnosis) {
  const bool theirs = diagnosis.where == Diagnosis::Where::there;
  switch (diagnosis.limit) {
    case Limit::unknown:
      return "";
    case Limit::source:
      return theirs ? "peer_source" : "source";
    case Limit::consumer:
      return theirs ? "peer_consumer" : "consumer";
    case Limit::processor:
      return theirs ? "peer_processor" : "processor";
    case Limit::socket_buffer:
      return theirs ? "peer_socket_buffer" : "socket_buffer";
    case Limit::memory:
      return theirs ? "peer_memory" : "memory";
    case Limit::rate_cap:
      return theirs ? "peer_rate_cap" : "rate_cap";
    case Limit::path:
      return "path";
    case Limit::loss:
      return "loss";
    case Limit::policer:
      return "policer";
    case Limit::peer:
      return "peer";
  }
  return "";
}

}  // namespace udtcat
