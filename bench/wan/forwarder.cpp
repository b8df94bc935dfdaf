// SPDX-License-Identifier: Apache-2.0
#include "wan/forwarder.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace udtcat::wan {
namespace {

constexpr int kPacketsATurn = 32;  // guess: the other direction must not wait long
constexpr std::size_t kSmallPacketBytes =
    32 * 1024;  // guess: half a super-packet; below it memory matters more than the copy

}  // namespace

Forwarder::Forwarder(TunDevice near, TunDevice far, const PathSettings& path, std::uint64_t seed)
    : near_(std::move(near)),
      far_(std::move(far)),
      random_(seed),
      out_{LinkModel(path.out, random_), {}},
      back_{LinkModel(path.back, random_), {}} {}

void Forwarder::take(TimePoint now) {
  now = latest_ = std::max(now, latest_);
  take(near_, far_, out_, now);
  take(far_, near_, back_, now);
}

void Forwarder::take(const TunDevice& from, const TunDevice& to, Direction& direction, TimePoint now) {
  for (int i = 0; i < kPacketsATurn; ++i) {
    Packet packet{.memory = pool_.take(), .bytes = 0, .pooled = true};
    packet.bytes = from.read({packet.memory.get(), kMaxPacketBytes});
    if (packet.bytes == 0) return discard(std::move(packet));
    if (const auto shape = shape_of(packet.view()))
      send_on(std::move(packet), *shape, to, direction, now);
    else
      discard(std::move(packet));
  }
}

void Forwarder::send_on(Packet packet, const Shape& shape, const TunDevice& to, Direction& direction, TimePoint now) {
  direction.model.offer(shape, now, runs_);
  if (runs_.size() == 1 && runs_.front().count == shape.segments)
    return dispatch(std::move(packet), runs_.front(), to, direction, now);
  for (const SegmentRun& run : runs_) dispatch(cut(packet, shape, run), run, to, direction, now);
  discard(std::move(packet));
}

Packet Forwarder::cut(const Packet& packet, const Shape& shape, const SegmentRun& run) {
  Packet piece{.memory = pool_.take(), .bytes = 0, .pooled = true};
  piece.bytes = copy_segments(packet.view(), shape, run.first, run.count, {piece.memory.get(), kMaxPacketBytes});
  return piece;
}

/// Straight to the other end if it is due already.
void Forwarder::dispatch(Packet packet, const SegmentRun& run, const TunDevice& to, Direction& direction,
                         TimePoint now) {
  if (run.due <= now && !direction.line.next_due()) {
    hand_over(packet, to, direction);
    return discard(std::move(packet));
  }
  if (!direction.line.has_room()) {
    direction.model.count_overflow(run.count);
    return discard(std::move(packet));
  }
  if (packet.bytes <= kSmallPacketBytes) {
    Packet small{.memory = std::make_unique_for_overwrite<std::byte[]>(packet.bytes), .bytes = packet.bytes};
    std::memcpy(small.memory.get(), packet.memory.get(), packet.bytes);
    discard(std::exchange(packet, std::move(small)));
  }
  direction.line.push(std::move(packet), run.due, run.late);
}

void Forwarder::deliver(TimePoint now) {
  deliver(out_, far_, now);
  deliver(back_, near_, now);
}

void Forwarder::deliver(Direction& direction, const TunDevice& to, TimePoint now) {
  while (auto packet = direction.line.pop(now)) {
    hand_over(*packet, to, direction);
    discard(std::move(*packet));
  }
}

void Forwarder::hand_over(const Packet& packet, const TunDevice& to, Direction& direction) {
  if (!to.write(packet.view())) direction.model.count_undelivered();
}

void Forwarder::discard(Packet packet) {
  if (packet.pooled) pool_.give_back(std::move(packet.memory));
}

std::optional<TimePoint> Forwarder::next_due() const {
  const auto out = out_.line.next_due();
  const auto back = back_.line.next_due();
  if (!out || !back) return out ? out : back;
  return std::min(*out, *back);
}

void Forwarder::set(const PathSettings& path) {
  out_.model.set(path.out);
  back_.model.set(path.back);
}

void Forwarder::set_down(bool down) {
  down_ = down;
  out_.model.set_down(down);
  back_.model.set_down(down);
}

}  // namespace udtcat::wan
