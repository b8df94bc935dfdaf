// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/packet.hpp"

#include "lib/core/byte_order.hpp"
#include "lib/transport/native/sequence.hpp"

namespace udtcat::transport::native {

namespace {

constexpr std::size_t kWordBytes = 4;
constexpr std::uint32_t kControlBit = 0x8000'0000;
constexpr std::uint32_t kRangeBit = 0x8000'0000;

std::uint32_t header_word(std::span<const std::byte> packet, std::size_t index) {
  return core::load_be<std::uint32_t>(packet.subspan(index * kWordBytes));
}

}  // namespace

std::optional<std::uint32_t> destination_of(std::span<const std::byte> packet) {
  if (packet.size() < kHeaderBytes) return std::nullopt;
  return header_word(packet, 3);
}

DataHeader decode_data_header(std::span<const std::byte> packet) {
  return {header_word(packet, 0) & kSequenceMask, header_word(packet, 1), header_word(packet, 2),
          header_word(packet, 3)};
}

ControlHeader decode_control_header(std::span<const std::byte> packet) {
  const std::uint32_t first = header_word(packet, 0);
  return {static_cast<ControlType>((first >> 16) & 0x7fff), static_cast<std::uint16_t>(first & 0xffff),
          header_word(packet, 1), header_word(packet, 2), header_word(packet, 3)};
}

void encode(const DataHeader& header, std::span<std::byte, kHeaderBytes> out) {
  core::store_be<std::uint32_t>(out, header.sequence & kSequenceMask);
  core::store_be<std::uint32_t>(out.subspan(4), header.message);
  core::store_be<std::uint32_t>(out.subspan(8), header.timestamp_us);
  core::store_be<std::uint32_t>(out.subspan(12), header.destination);
}

std::vector<std::byte> encode(const ControlHeader& header, std::span<const std::uint32_t> words) {
  std::vector<std::byte> packet(kHeaderBytes + words.size() * kWordBytes);
  const std::span out(packet);
  const auto type = static_cast<std::uint32_t>(header.type);
  core::store_be<std::uint32_t>(out, kControlBit | (type << 16) | header.subtype);
  core::store_be<std::uint32_t>(out.subspan(4), header.additional);
  core::store_be<std::uint32_t>(out.subspan(8), header.timestamp_us);
  core::store_be<std::uint32_t>(out.subspan(12), header.destination);
  for (std::size_t i = 0; i < words.size(); ++i)
    core::store_be<std::uint32_t>(out.subspan(kHeaderBytes + i * kWordBytes), words[i]);
  return packet;
}

std::optional<std::uint32_t> word_at(std::span<const std::byte> body, std::size_t index) {
  if (body.size() / kWordBytes <= index) return std::nullopt;
  return header_word(body, index);
}

std::optional<std::uint64_t> number_at(std::span<const std::byte> body, std::size_t index) {
  const auto high = word_at(body, index);
  const auto low = word_at(body, index + 1);
  if (!high || !low) return std::nullopt;
  return (std::uint64_t{*high} << 32) | *low;
}

void append_number(std::vector<std::uint32_t>& words, std::uint64_t number) {
  words.push_back(static_cast<std::uint32_t>(number >> 32));
  words.push_back(static_cast<std::uint32_t>(number));
}

std::vector<SequenceRange> decode_loss_list(std::span<const std::byte> body) {
  std::vector<SequenceRange> list;
  const std::size_t words = body.size() / kWordBytes;
  for (std::size_t i = 0; i < words; ++i) {
    const std::uint32_t first = header_word(body, i);
    if ((first & kRangeBit) == 0) {
      list.push_back({first, first});
      continue;
    }
    const auto last = word_at(body, ++i);
    if (!last || (*last & kRangeBit) != 0) break;
    list.push_back({first & kSequenceMask, *last});
  }
  return list;
}

void append_be(std::vector<std::byte>& out, std::uint64_t value) {
  out.resize(out.size() + sizeof value);
  core::store_be<std::uint64_t>(std::span(out).last<sizeof value>(), value);
}

void append_loss(std::vector<std::uint32_t>& words, SequenceRange range) {
  if (range.first == range.last) return words.push_back(range.first);
  words.push_back(range.first | kRangeBit);
  words.push_back(range.last);
}

}  // namespace udtcat::transport::native
