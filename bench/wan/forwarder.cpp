// SPDX-License-Identifier: Apache-2.0
#include "wan/forwarder.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace udtcat::wan {
namespace {

constexpr std::size_t kMostWaiting = 1'000'000;  // guess: a gigabyte of full packets
constexpr int kPacketsATurn = 32;                // guess: the other direction must not wait long
constexpr std::size_t kSmallPacketBytes =
    32 * 1024;  // guess: half a super-packet; below it memory matters more than the copy

std::optional<TimePoint> earlier(std::optional<TimePoint> a, std::optional<TimePoint> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

}  // namespace

Forwarder::Forwarder(TunDevice near, TunDevice far, const std::vector<PathSettings>& paths, std::uint64_t seed,
                     TimePoint now)
    : near_(std::move(near)), far_(std::move(far)), random_(seed), latest_(now) {
  for (const PathSettings& settings : paths) paths_.emplace_back(settings, random_, now);
}

void Forwarder::take(const std::function<TimePoint()>& clock) {
  take(near_, &Path::out, clock);
  take(far_, &Path::back, clock);
}

void Forwarder::take(const TunDevice& from, Direction Path::*way, const std::function<TimePoint()>& clock) {
  for (int i = 0; i < kPacketsATurn; ++i) {
    Packet packet{.memory = pool_.take(), .bytes = 0, .pooled = true};
    packet.bytes = from.read({packet.memory.get(), kMaxPacketBytes});
    if (packet.bytes == 0) return discard(std::move(packet));
    // Not before it is read: a packet that comes while others are carried would leave before it has come.
    latest_ = std::max(clock(), latest_);
    enqueue(std::move(packet), way, latest_);
  }
}

void Forwarder::enqueue(Packet packet, Direction Path::*way, TimePoint now) {
  const auto shape = shape_of(packet.view());
  if (!shape) return discard(std::move(packet));
  const Flow flow = flow_of(packet.view());
  Direction& direction = paths_[path_of(flow, paths_.size())].*way;
  dequeue(direction, now);
  if (direction.queue.size() >= kMostWaiting) {
    direction.model.count_overflow(shape->segments);
    return discard(std::move(packet));
  }
  if (direction.model.offer(*shape, now, flow) == 0) return discard(std::move(packet));
  direction.queue.push_back({shrink(std::move(packet)), *shape});
}

void Forwarder::dequeue(Direction& direction, TimePoint now) {
  while (const auto departure = direction.model.next_departure(now)) {
    if (departure->copies > 0) send_on(direction, *departure);
    if (!departure->is_last) continue;
    discard(std::move(direction.queue.front().packet));
    direction.queue.pop_front();
  }
}

void Forwarder::send_on(Direction& direction, const Departure& departure) {
  Waiting& waiting = direction.queue.front();
  for (int copy = departure.copies; copy > 0; --copy) {
    if (!direction.line.has_room()) return direction.model.count_overflow(departure.count);
    const bool is_whole = departure.count == waiting.shape.segments && copy == 1;
    direction.line.push(is_whole ? std::move(waiting.packet) : cut(waiting, departure), departure.due, departure.late);
  }
}

Packet Forwarder::cut(const Waiting& waiting, const Departure& departure) {
  Packet piece{.memory = pool_.take(), .bytes = 0, .pooled = true};
  piece.bytes = copy_segments(waiting.packet.view(), waiting.shape, departure.first, departure.count,
                              {piece.memory.get(), kMaxPacketBytes});
  return shrink(std::move(piece));
}

Packet Forwarder::shrink(Packet packet) {
  if (packet.bytes > kSmallPacketBytes) return packet;
  Packet small{.memory = std::make_unique_for_overwrite<std::byte[]>(packet.bytes), .bytes = packet.bytes};
  std::memcpy(small.memory.get(), packet.memory.get(), packet.bytes);
  discard(std::move(packet));
  return small;
}

void Forwarder::discard(Packet packet) {
  if (packet.pooled && packet.memory) pool_.give_back(std::move(packet.memory));
}

void Forwarder::deliver(TimePoint now, std::chrono::nanoseconds early) {
  for (Path& path : paths_) {
    deliver(path.out, far_, now, early);
    deliver(path.back, near_, now, early);
  }
}

void Forwarder::deliver(Direction& direction, const TunDevice& to, TimePoint now, std::chrono::nanoseconds early) {
  dequeue(direction, now);
  const TimePoint until = direction.gate.last_open(now + early);
  while (auto packet = direction.line.pop(until)) {
    if (!to.write(packet->view())) direction.model.count_undelivered();
    discard(std::move(*packet));
  }
}

std::optional<TimePoint> Forwarder::Direction::next_due() const {
  const auto due = earlier(line.next_due(), model.next_due());
  return due ? std::optional(gate.opens_for(*due)) : std::nullopt;
}

std::optional<TimePoint> Forwarder::next_due() const {
  std::optional<TimePoint> due;
  for (const Path& path : paths_) due = earlier(due, earlier(path.out.next_due(), path.back.next_due()));
  return due;
}

LinkCounters Forwarder::out() const {
  LinkCounters sum;
  for (const Path& path : paths_) sum += path.out.model.counters();
  return sum;
}

LinkCounters Forwarder::back() const {
  LinkCounters sum;
  for (const Path& path : paths_) sum += path.back.model.counters();
  return sum;
}

void Forwarder::set(const std::vector<PathSettings>& paths, TimePoint now) {
  const auto change = [&](Direction& direction, const LinkSettings& settings) {
    dequeue(direction, now);
    direction.model.set(settings, now);
    direction.gate.set(settings.release);
  };
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    change(paths_[i].out, paths[i].out);
    change(paths_[i].back, paths[i].back);
  }
}

void Forwarder::set_down(bool down, TimePoint now) {
  for (std::size_t path = 0; path < paths_.size(); ++path) set_down(path, down, now);
}

void Forwarder::set_down(std::size_t path, bool down, TimePoint now) {
  paths_[path].down = down;
  for (Direction* direction : {&paths_[path].out, &paths_[path].back}) {
    dequeue(*direction, now);
    direction->model.set_down(down);
  }
}

bool Forwarder::is_down() const {
  return std::ranges::all_of(paths_, [](const Path& path) { return path.down; });
}

}  // namespace udtcat::wan
