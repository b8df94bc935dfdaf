// SPDX-License-Identifier: Apache-2.0
// A client and a listener that hear anything: what they agree to is within the limits, and answers are no larger than
// what asked. The input: a byte that says who hears what follows, a byte of length, a packet; and so on.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "lib/core/byte_order.hpp"
#include "lib/transport/native/active_open.hpp"
#include "lib/transport/native/passive_open.hpp"

namespace fuzz_udt_handshake {

using namespace udtcat;
using namespace udtcat::transport::native;

namespace {

constexpr TimePoint kStart{std::chrono::hours(1)};
constexpr std::size_t kCookieOffset = kHeaderBytes + 28;
constexpr std::size_t kSocketOffset = kHeaderBytes + 24;
constexpr std::size_t kMaxAdded = 16;  // the words behind the 48 bytes

void require(bool condition) {
  if (!condition) std::abort();
}

void check(const ConnectionSettings& made) {
  require(made.mss >= kMinMss && made.mss <= 1500);
  require(made.flow_window >= 1 && made.flow_window <= kMaxWindowPackets);
  require(made.peer_id >= 1 && made.peer_id <= kSequenceMask && made.initial_sequence <= kSequenceMask);
}

class Ends {
 public:
  void client_hears(std::span<const std::byte> packet) {
    client_.handle(now_, packet);
    if (client_.state() == ActiveOpen::State::done) check(client_.settings());
  }
  void listener_hears(std::span<const std::byte> packet) {
    const auto verdict = listener_.handle(now_, packet, address_, [](bool) { return PassiveOpen::Numbers{42, 4242}; });
    require(verdict.reply.size() <= packet.size() + kMaxAdded);
    require(PassiveOpen::refusal(packet).size() <= packet.size());
    require(verdict.handshake_data.size() <= packet.size());
    if (verdict.accepted) check(*verdict.accepted);
  }
  /// The same, from a client that has the key.
  void listener_hears_with_proof(std::span<const std::byte> packet) {
    if (packet.size() < kHeaderBytes + kHandshakeBytes) return listener_hears(packet);
    const ControlHeader header = decode_control_header(packet);
    const auto body = packet.subspan(kHeaderBytes);
    auto handshake = *decode_handshake(body);
    const auto extension = decode_extension(body);
    handshake.address = key_proof_.make(handshake, header.additional, extension).value();
    listener_hears(encode(handshake, 0, header.additional, extension));
  }
  /// The same, from a client that has been given its cookie.
  void listener_hears_with_cookie(std::span<const std::byte> packet) {
    if (packet.size() < kCookieOffset + 4) return listener_hears(packet);
    std::vector<std::byte> signed_packet(packet.begin(), packet.end());
    const auto socket = core::load_be<std::uint32_t>(packet.subspan(kSocketOffset));
    const auto asked =
        listener_.handle(now_, encode(HandshakePacket{.socket_id = socket}, 0, 0, std::nullopt), address_, {});
    if (asked.reply.empty()) return;
    std::memcpy(signed_packet.data() + kCookieOffset, asked.reply.data() + kCookieOffset, 4);
    listener_hears(signed_packet);
  }
  void wait(Duration time) {
    now_ += time;
    int sent = 0;
    while (client_.poll_transmit(now_)) require(++sent <= 2);  // as one that was there before, and as a stranger
  }

 private:
  TimePoint now_ = kStart;
  KeyProof key_proof_ = KeyProof::create(std::array<std::byte, crypto::KeyedHash::kKeyBytes>{}).value();
  Endpoint address_ = resolve({"192.0.2.1", 1000}, AddressFamily::ipv4).value().front();
  ActiveOpen client_{now_, {address_, 5, 1000, 1500, 360, 0xabcdef, std::nullopt, &key_proof_, {}, 99}};
  std::array<std::byte, crypto::KeyedHash::kKeyBytes> known_{};
  PassiveOpen listener_ = PassiveOpen::create({1500, 360, 77}, &key_proof_, known_).value();
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto in = std::as_bytes(std::span(data, size));
  Ends ends;
  while (in.size() >= 2) {
    const auto who = std::to_integer<unsigned>(in[0]) % 5;
    const auto length = std::min(std::to_integer<std::size_t>(in[1]), in.size() - 2);
    const auto packet = in.subspan(2, length);
    in = in.subspan(2 + length);
    if (who == 0) ends.client_hears(packet);
    if (who == 1) ends.listener_hears(packet);
    if (who == 2) ends.listener_hears_with_cookie(packet);
    if (who == 4) ends.listener_hears_with_proof(packet);
    if (who == 3) ends.wait(std::chrono::milliseconds(10 * length));
  }
  return 0;
}

}  // namespace fuzz_udt_handshake
