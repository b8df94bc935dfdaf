// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/simulated_path.hpp"

#include <algorithm>

#include "lib/transport/native/parts.hpp"

namespace udtcat::transport::native {

namespace {

constexpr std::size_t kIpAndUdpBytes = 28;
constexpr std::size_t kWriteBytes = 256 * 1024;

std::byte pattern_at(std::uint64_t offset) { return static_cast<std::byte>((offset * 2654435761U) >> 13); }

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
                             std::uint32_t initial_sequence, std::uint32_t mss) {
  ends_[kNear].address = endpoint("192.0.2.1", 1001);
  ends_[kFar].address = endpoint("192.0.2.2", 1002);
  set_path(path);
  for (const End end : {kNear, kFar}) {
    auto settings = settings_for(end == kNear ? 1 : 2, ends_[end == kNear ? kFar : kNear].address, kind, options, now_);
    settings.initial_sequence = initial_sequence;
    settings.mss = mss;
    ends_[end].connection.emplace(settings, chunks_);
  }
}

void SimulatedPath::set_path(const PathSettings& path) { ends_[kNear].path = ends_[kFar].path = path; }

bool SimulatedPath::chance(double probability) {
  return probability > 0 && std::uniform_real_distribution<>(0, 1)(random_) < probability;
}

void SimulatedPath::write(End end, std::uint64_t bytes) {
  Side& side = ends_[end];
  while (bytes > 0) {
    std::vector<std::byte> piece(std::min<std::uint64_t>(bytes, kWriteBytes));
    for (std::byte& each : piece) each = pattern_at(side.written++);
    bytes -= piece.size();
    side.connection->write(core::SharedBytes::adopt(std::move(piece)));
  }
}

void SimulatedPath::read_all(End end) {
  Side& side = ends_[end];
  std::array<std::byte, 4096> memory{};
  while (!side.stopped) {
    const std::size_t got = side.connection->read(now_, memory);
    if (got == 0) return;
    for (std::size_t i = 0; i < got; ++i) intact_ = intact_ && memory[i] == pattern_at(side.read + i);
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
  const std::size_t bytes = datagram.size() + kIpAndUdpBytes;
  const bool relayed = relay_ && to == (*relay_)[sender];
  if (outage_ || bytes > side.path.mtu || (!relayed && (direct_cut_ || !(to == ends_[receiver].address)))) return;
  const Endpoint from = relayed ? (*relay_)[receiver] : side.address;
  if (side.losing > 0 || chance(side.path.loss)) {
    side.losing = side.losing > 0 ? side.losing - 1 : side.path.loss_burst - 1;
    return;
  }
  const auto time_of = [&](std::size_t count) {
    return Duration(static_cast<std::int64_t>(static_cast<double>(count) * 8e9 /
                                              static_cast<double>(side.path.rate.bits_per_second())));
  };
  side.link_free = std::max(side.link_free, now_);
  if (side.link_free - now_ > time_of(side.path.queue_bytes)) return;
  side.link_free += time_of(bytes);
  TimePoint at = side.link_free + side.path.delay;
  if (chance(side.path.reorder)) at += side.path.reorder_delay;
  if (chance(side.path.duplicate)) flights_.push({at, next_number_++, receiver, from, datagram});
  flights_.push({at, next_number_++, receiver, from, std::move(datagram)});
}

bool SimulatedPath::run_until(const std::function<bool()>& done, Duration limit) {
  const TimePoint end = now_ + limit;
  settle(kNear);
  settle(kFar);
  while (!done()) {
    TimePoint next = flights_.empty() ? TimePoint::max() : flights_.top().at;
    for (const End each : {kNear, kFar})
      if (const auto due = ends_[each].connection->deadline(now_)) next = std::min(next, std::max(*due, now_));
    if (next > end) {
      now_ = end;
      return done();
    }
    // A timer that is due now and did nothing is due a moment later, as with a real timer.
    now_ = std::max(next, now_ + std::chrono::microseconds(1));
    while (!flights_.empty() && flights_.top().at <= now_) {
      const Flight flight = flights_.top();
      flights_.pop();
      ends_[flight.to].connection->handle_packet(now_, flight.datagram, flight.from, std::nullopt, {});
      settle(flight.to);
    }
    for (const End each : {kNear, kFar}) {
      const auto due = ends_[each].connection->deadline(now_);
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
