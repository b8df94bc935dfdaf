// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/train_builder.hpp"

#include <algorithm>
#include <utility>

namespace udtcat::transport::native {

TrainBuilder::TrainBuilder(std::size_t most_packets, std::size_t most_bytes)
    : most_packets_(std::clamp<std::size_t>(most_packets, 1, kMaxPackets)), most_bytes_(most_bytes) {}

void TrainBuilder::clear() {
  train_.clear();
  ends_short_ = false;
}

bool TrainBuilder::takes(std::size_t payload_bytes) const {
  if (empty()) return true;
  const std::size_t bytes = kHeaderBytes + payload_bytes;
  return !ends_short_ && bytes <= train_.segment_bytes && train_.datagrams() < most_packets_ &&
         train_.total_bytes + bytes <= most_bytes_;
}

void TrainBuilder::begin_packet(const DataHeader& header, std::size_t payload_bytes) {
  auto& memory = headers_[train_.datagrams()];
  encode(header, memory);
  first_piece_ = train_.pieces.size();
  train_.pieces.emplace_back(memory);
  packet_bytes_ = kHeaderBytes + payload_bytes;
}

void TrainBuilder::end_packet() {
  if (empty()) train_.segment_bytes = packet_bytes_;
  ends_short_ = packet_bytes_ < train_.segment_bytes;
  train_.total_bytes += packet_bytes_;
  train_.piece_counts.push_back(static_cast<std::uint16_t>(train_.pieces.size() - first_piece_));
}

void TrainBuilder::drop_front(std::size_t packets) {
  std::size_t pieces = 0;
  for (std::size_t i = 0; i < packets; ++i) pieces += train_.piece_counts[i];
  train_.pieces.erase(train_.pieces.begin(), train_.pieces.begin() + static_cast<std::ptrdiff_t>(pieces));
  train_.piece_counts.erase(train_.piece_counts.begin(),
                            train_.piece_counts.begin() + static_cast<std::ptrdiff_t>(packets));
  train_.total_bytes -= std::min(train_.total_bytes, packets * train_.segment_bytes);
}

void TrainBuilder::keep() {
  std::vector<std::byte> all;
  all.reserve(train_.total_bytes);
  for (const auto piece : train_.pieces) all.insert(all.end(), piece.begin(), piece.end());
  auto rest = std::span<const std::byte>(all);
  for (auto& piece : train_.pieces) {
    const std::size_t bytes = piece.size();
    piece = rest.first(bytes);
    rest = rest.subspan(bytes);
  }
  kept_ = std::move(all);  // `all` has copies of what kept_ had
}

void TrainBuilder::set_control(std::vector<std::byte> packet) {
  clear();
  control_ = std::move(packet);
  train_.pieces.emplace_back(control_);
  train_.segment_bytes = train_.total_bytes = control_.size();
  train_.piece_counts.push_back(1);
}

}  // namespace udtcat::transport::native
