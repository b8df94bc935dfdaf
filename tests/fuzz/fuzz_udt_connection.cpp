// SPDX-License-Identifier: Apache-2.0
// A connection in virtual time whose peer, whose strangers and whose user do whatever the input says. Whatever that is:
// nothing is read that is not there, memory stays within its bound, and each turn and each wait comes to an end.
//
// The input: a byte of flags, and then operations, each a byte and what it needs.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "lib/transport/native/acknowledgement.hpp"
#include "lib/transport/native/udt_connection.hpp"

namespace fuzz_udt_connection {

using namespace udtcat;
using namespace udtcat::transport::native;

namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kMemoryBytes = 1 << 20;
constexpr std::size_t kChunkBytes = 65'536;
constexpr std::size_t kMaxTrains = 20'000;  // of one turn: a window of small packets, and a repair of each
constexpr Duration kLeastTimer = 20us;      // as the driver's
constexpr std::uint64_t kMaxWritten = 4 << 20;
constexpr std::uint32_t kPeerId = 9;
constexpr std::uint64_t kToken = 0x1111'2222'3333'4444;

void require(bool condition) {
  if (!condition) std::abort();
}

/// The rest of the input; zeros behind its end.
class Input {
 public:
  explicit Input(std::span<const std::uint8_t> bytes) : rest_(bytes) {}
  bool empty() const { return rest_.empty(); }
  std::uint32_t byte() {
    if (rest_.empty()) return 0;
    const auto value = rest_.front();
    rest_ = rest_.subspan(1);
    return value;
  }
  std::uint32_t pair() { return byte() << 8 | byte(); }
  std::uint32_t word() { return pair() << 16 | pair(); }
  std::span<const std::byte> bytes(std::size_t most) {
    const auto taken = rest_.first(std::min(most, rest_.size()));
    rest_ = rest_.subspan(taken.size());
    return std::as_bytes(taken);
  }

 private:
  std::span<const std::uint8_t> rest_;
};

Endpoint endpoint(const char* host, std::uint16_t port) { return resolve({host, port}, AddressFamily::any)->front(); }

class World {
 public:
  explicit World(Input& in) : in_(in), settings_(settings_of(in.byte())), connection_(settings_, chunks_) {}

  void step() {
    const std::uint32_t operation = in_.byte();
    from_ = (operation & 0x80) != 0 ? &stranger() : &peer();
    switch (operation % 12) {
      case 0:
        return hear(in_.bytes(in_.byte()));
      case 1:
        return hear_data();
      case 2:
        return hear_ack();
      case 3:
        return hear_nak();
      case 4:
        return hear_control();
      case 5:
        return pass(kLeastTimer * in_.pair());
      case 6:
        return pass(100ms * in_.byte());
      case 7:
        return write(in_.pair());
      case 8:
        return write(64 * in_.pair());
      case 9:
        return read(16 * in_.pair());
      case 10:
        return connection_.handle_port_closed(now_);
      default:
        return in_.byte() == 1 ? connection_.close(now_, 1s) : refuse_large();
    }
  }

  /// The driver's turn after whatever happened.
  void settle() {
    for (std::size_t trains = 0; transmit(); ++trains) require(trains < kMaxTrains);
    const auto deadline = connection_.deadline(now_);
    require(deadline.has_value() || connection_.over());
    require(connection_.sent_offset() <= connection_.written_bytes());
    require(connection_.fully_acknowledged_offset() <= connection_.sent_offset());
    require(!connection_.all_acknowledged() || connection_.sent_offset() == connection_.written_bytes());
    require(connection_.readable_bytes() <= kMemoryBytes + kChunkBytes);
    require(chunks_.in_use() * kChunkBytes <= 3 * kMemoryBytes);
  }

 private:
  static const Endpoint& peer() {
    static const Endpoint address = endpoint("192.0.2.1", 1000);
    return address;
  }
  static const Endpoint& stranger() {
    static const Endpoint address = endpoint("192.0.2.9", 2000);
    return address;
  }
  static ConnectionSettings settings_of(std::uint32_t flags) {
    ConnectionSettings settings;
    settings.peer = (flags & 1) != 0 ? PeerKind::own : PeerKind::plain;
    settings.local_id = 1;
    settings.peer_id = kPeerId;
    settings.initial_sequence = (flags & 2) != 0 ? 0x7fff'fff0 : 1000;
    settings.mss = (flags & 4) != 0 ? kMinMss_ : (flags & 8) != 0 ? 9000 : 1500;
    settings.flow_window = 16;
    settings.local_token = settings.peer_token = kToken;
    settings.peer_address = peer();
    settings.options.congestion = static_cast<CongestionKind>((flags >> 4 & 3) % 3);
    settings.options.memory_bytes = kMemoryBytes;
    if ((flags & 64) != 0 || settings.options.congestion == CongestionKind::fixed)
      settings.options.rate = BitRate::from_bits_per_second(50'000'000);
    settings.started = TimePoint{1h};
    settings.hold = 10ms;
    return settings;
  }

  // ---- What may happen
  std::uint32_t sequence() { return (settings_.initial_sequence + in_.pair()) & kSequenceMask; }
  void hear(std::span<const std::byte> datagram) {
    if (datagram.size() < kHeaderBytes) return;  // as the driver
    const std::vector<std::byte> packet(datagram.begin(), datagram.end());
    connection_.handle_packet(now_, packet, *from_, std::nullopt, {{}, {}});
  }
  void hear_data() {
    const std::uint32_t number = sequence();
    const std::uint32_t message = in_.byte() < 128 ? 0 : in_.word();
    std::vector<std::byte> packet(kHeaderBytes + in_.pair() % 1500);
    encode(DataHeader{number, message, in_.pair(), 1}, std::span(packet).first<kHeaderBytes>());
    hear(packet);
  }
  void hear_ack() {
    const std::uint32_t shape = in_.byte();
    auto words = light_words(sequence());
    if (shape % 4 > 0) words = full_words({words[0], 10ms, 1ms, in_.pair(), in_.pair(), in_.pair()});
    if (shape % 4 > 1)
      append_extension(words, {.highest = sequence(),
                               .received_bytes = std::uint64_t{in_.pair()} * (shape >> 2),
                               .echo_us = in_.word(),
                               .free_kib = in_.pair()});
    hear(encode(ControlHeader{ControlType::ack, 0, shape % 4 > 0 ? in_.byte() : 0, 0, 1}, words));
  }
  void hear_nak() {
    std::vector<std::uint32_t> words;
    for (std::uint32_t count = in_.byte() % 32; count > 0; --count) append_loss(words, {sequence(), sequence()});
    hear(encode(ControlHeader{ControlType::nak, 0, 0, 0, 1}, words));
  }
  void hear_control() {
    const auto type = static_cast<ControlType>(std::min(in_.byte(), 9U) == 9 ? 0x7fff : in_.byte() % 9);
    const auto subtype = static_cast<std::uint16_t>(in_.byte() % 6);
    std::vector<std::uint32_t> words;
    for (std::uint32_t count = in_.byte() % 8; count > 0; --count) {
      const std::uint32_t kind = in_.byte();
      words.push_back(kind == 1   ? static_cast<std::uint32_t>(kToken >> 32)
                      : kind == 2 ? static_cast<std::uint32_t>(kToken)
                      : kind < 6  ? nonce_[(kind - 3) & 1]
                                  : in_.word());
    }
    hear(encode(ControlHeader{type, subtype, in_.pair(), 0, 1}, words));
  }
  /// Time passes, and the driver's timer fires: not much more often than something happens.
  void pass(Duration time) {
    const TimePoint end = now_ + time;
    for (std::size_t idle = 0;;) {
      const auto due = connection_.deadline(now_);
      if (!due || *due > end) break;
      now_ = std::max(*due, now_ + kLeastTimer);
      connection_.handle_timeout(now_);
      std::size_t trains = 0;
      for (; transmit(); ++trains) require(trains < kMaxTrains);
      idle = trains == 0 ? idle + 1 : 0;
      require(idle < 50);
    }
    now_ = std::max(now_, end);
  }
  void write(std::size_t bytes) {
    if (connection_.written_bytes() + bytes > kMaxWritten || connection_.over()) return;
    connection_.write(core::SharedBytes::adopt(std::vector<std::byte>(bytes)));
  }
  void read(std::size_t bytes) {
    std::vector<std::byte> into(bytes);
    require(connection_.read(now_, into) <= bytes);
  }
  void refuse_large() {
    net::DatagramTrain train;
    train.segment_bytes = in_.pair();
    connection_.handle_too_large(now_, train);
  }

  /// Reads all that leaves, for the address sanitizer to see, and remembers a challenge.
  bool transmit() {
    builder_.clear();
    if (!connection_.poll_transmit(now_, builder_)) return false;
    const auto& train = builder_.train();
    require(!builder_.empty() && train.to.port() != 0);
    datagram_.clear();
    for (const auto piece : train.pieces) datagram_.insert(datagram_.end(), piece.begin(), piece.end());
    require(datagram_.size() == train.total_bytes && train.total_bytes <= 65'535);
    require(train.datagrams() * train.segment_bytes >= train.total_bytes);
    require(destination_of(datagram_) == kPeerId);
    if (!is_control(datagram_) || decode_control_header(datagram_).type != ControlType::user) return true;
    const auto body = std::span<const std::byte>(datagram_).subspan(kHeaderBytes);
    for (std::size_t i = 0; i < 2; ++i) nonce_[i] = word_at(body, i).value_or(0);
    return true;
  }

  static constexpr std::uint32_t kMinMss_ = 76;

  Input& in_;
  core::ChunkPool chunks_{kChunkBytes};
  const ConnectionSettings settings_;
  TimePoint now_ = settings_.started;
  UdtConnection connection_;
  TrainBuilder builder_{64, 65'000};
  const Endpoint* from_ = &peer();
  std::vector<std::byte> datagram_;
  std::array<std::uint32_t, 2> nonce_{};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input in({data, size});
  World world(in);
  world.settle();
  for (int steps = 0; !in.empty() && steps < 500; ++steps) {
    world.step();
    world.settle();
  }
  return 0;
}

}  // namespace fuzz_udt_connection
