// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/simulated_path.hpp"

#include <algorithm>
#include <cstring>

#include "lib/transport/native/parts.hpp"

namespace udtcat::transport::native {

namespace {

constexpr std::size_t kWriteBytes = 256 * 1024;
constexpr std::size_t kPatternBytes = 1 << 21;  // its period

/// The bytes of a stream from `offset` on: a view of one pattern, so that gigabytes cost nothing.
std::span<const std::byte> pattern_at(std::uint64_t offset, std::size_t bytes) {
  static const std::vector<std::byte> pattern = [] {
    std::vector<std::byte> made(kPatternBytes + kWriteBytes);
    for (std::uint64_t i = 0; i < made.size(); ++i) made[i] = static_cast<std::byte>((i * 2654435761U) >> 13);
    return made;
  }();
  return std::span(pattern).subspan(offset % kPatternBytes, bytes);
}

ConnectionSettings settings_for(std::uint32_t id, const Endpoint& peer, PeerKind kind, const TransportOptions& options,
                                TimePoint now) {
  ConnectionSettings settings;
  settings.peer = kind;
  settings.local_id = id;
  settings.peer_id = 3 - id;
  settings.flow_window = 360;
  settings.local_token = 0x1111'0000'0000'0000 + id;
  settings.peer_token = 0x1111'0000'0000'0000 + 3 - id;
  settings.peer_address = peer;
  settings.options = options;
  settings.started = now;
  settings.random_seed = id;
  return settings;
}

}  // namespace

SimulatedPath::SimulatedPath(const PathSettings& path, PeerKind kind, TransportOptions options,
                             std::uint32_t initial_sequence, std::uint32_t mss, Duration handshake_rtt)
    : read_memory_(kWriteBytes) {
  ends_[kNear].address = endpoint("192.0.2.1", 1001);
  ends_[kFar].address = endpoint("192.0.2.2", 1002);
  set_path(path);
  for (const End end : {kNear, kFar}) {
    auto settings = settings_for(end == kNear ? 1 : 2, ends_[end == kNear ? kFar : kNear].address, kind, options, now_);
    settings.initial_sequence = initial_sequence;
    settings.mss = mss;
    if (end == kNear && handshake_rtt > Duration::zero()) settings.first_rtt = {handshake_rtt, 216};
    ends_[end].connection.emplace(settings, chunks_);
  }
}

void SimulatedPath::set_path(const PathSettings& settings) { path(kNear) = path(kFar) = settings; }

void SimulatedPath::write(End end, std::uint64_t bytes) {
  Side& side = ends_[end];
  while (bytes > 0) {
    const auto piece = pattern_at(side.written, std::min<std::uint64_t>(bytes, kWriteBytes));
    side.connection->write(core::SharedBytes(piece, nullptr));
    side.written += piece.size();
    bytes -= piece.size();
  }
}

void SimulatedPath::read_all(End end) {
  Side& side = ends_[end];
  while (!side.stopped) {
    const std::size_t got = side.connection->read(now_, read_memory_);
    if (got == 0) return;
    intact_ = intact_ && std::memcmp(read_memory_.data(), pattern_at(side.read, got).data(), got) == 0;
    side.read += got;
  }
}

void SimulatedPath::settle(End end) {
  Side& side = ends_[end];
  read_all(end);
  while (side.endless && side.connection->written_bytes() - side.connection->sent_offset() < 2 * kWriteBytes)
    write(end, kWriteBytes);
  for (;;) {
    builder_.clear();
    if (!side.connection->poll_transmit(now_, builder_)) return;
    const auto& train = builder_.train();
    auto piece = train.pieces.begin();
    const bool lost = !train.singly && train.datagrams() >= lost_trains_from_;
    std::size_t left = lost ? survivors_ : train.datagrams();
    for (const std::uint16_t count : train.piece_counts) {
      std::vector<std::byte> datagram;
      if (!spare_.empty()) {
        datagram = std::move(spare_.back());
        spare_.pop_back();
        datagram.clear();
      }
      for (int i = 0; i < count; ++i, ++piece) datagram.insert(datagram.end(), piece->begin(), piece->end());
      if (left > 0) carry(end, train.to, std::move(datagram));
      left -= std::min<std::size_t>(left, 1);
    }
    if (side.endless && side.connection->written_bytes() - side.connection->sent_offset() < kWriteBytes)
      write(end, kWriteBytes);
  }
}

void SimulatedPath::carry(End sender, const Endpoint& to, std::vector<std::byte> datagram) {
  Side& side = ends_[sender];
  const End receiver = sender == kNear ? kFar : kNear;
  ++side.datagrams;
  if (filter_ && !filter_(sender, datagram)) return;
  const bool relayed = relay_ && to == (*relay_)[sender];
  if (outage_ || (!relayed && (direct_cut_[sender] || !(to == ends_[receiver].address)))) return;
  SimulatedLink::Packet packet{relayed ? (*relay_)[receiver] : side.address, std::move(datagram)};
  if (!side.link.take(now_, std::move(packet), random_)) spare_.push_back(std::move(packet.bytes));
}

std::optional<TimePoint> SimulatedPath::alarm(End end) const {
  auto due = ends_[end].connection->deadline(now_);
  const bool exact = !due || tick_ == Duration::zero() || *due == TimePoint::max();
  if (!exact) *due += (tick_ - due->time_since_epoch() % tick_) % tick_;
  return due;
}

void SimulatedPath::deliver() {
  SimulatedLink::Packet packet;
  for (;;) {
    const End sender = ends_[kFar].link.next_at() < ends_[kNear].link.next_at() ? kFar : kNear;
    if (!ends_[sender].link.next(now_, packet)) return;
    const End receiver = sender == kNear ? kFar : kNear;
    ends_[receiver].connection->handle_packet(now_, packet.bytes, packet.from, std::nullopt, {});
    spare_.push_back(std::move(packet.bytes));
    settle(receiver);
  }
}

bool SimulatedPath::run_until(const std::function<bool()>& done, Duration limit) {
  const TimePoint end = now_ + limit;
  settle(kNear);
  settle(kFar);
  while (!done()) {
    TimePoint next = std::min(ends_[kNear].link.due(), ends_[kFar].link.due());
    for (const End each : {kNear, kFar})
      if (const auto due = alarm(each)) next = std::min(next, std::max(*due, now_));
    if (next > end) {
      now_ = end;
      return done();
    }
    // A timer that is due now and changed nothing is due a moment later, as a real one.
    now_ = std::max(next, now_ + std::chrono::microseconds(1));
    for (Side& each : ends_) each.link.advance(now_);
    deliver();
    for (const End each : {kNear, kFar}) {
      const auto due = alarm(each);
      if (!due || *due > now_) continue;
      ends_[each].connection->handle_timeout(now_);
      settle(each);
    }
  }
  return true;
}

double SimulatedPath::rate_over(End reader, Duration time) {
  const std::uint64_t before = read_bytes(reader);
  run_for(time);
  return static_cast<double>(read_bytes(reader) - before) * 8 / std::chrono::duration<double>(time).count();
}

}  // namespace udtcat::transport::native
