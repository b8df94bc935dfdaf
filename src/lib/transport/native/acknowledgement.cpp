// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/acknowledgement.hpp"

#include "lib/transport/native/packet.hpp"
#include "lib/transport/native/sequence.hpp"

namespace udtcat::transport::native {

namespace {

constexpr std::size_t kExtendedWords = 13;  // spec: udt4.md §9

std::uint32_t microseconds(Duration time) {
  return static_cast<std::uint32_t>(std::chrono::duration_cast<std::chrono::microseconds>(time).count());
}

/// libudt's estimators can say 0 or less, which means that they do not know.
std::optional<std::uint32_t> positive(std::optional<std::uint32_t> word) {
  if (!word || *word == 0 || *word > kSequenceMask) return std::nullopt;
  return word;
}

}  // namespace

std::optional<Acknowledgement> decode_acknowledgement(std::span<const std::byte> body) {
  const auto next = word_at(body, 0);
  if (!next) return std::nullopt;
  Acknowledgement ack;
  ack.next = *next;
  ack.rtt_us = positive(word_at(body, 1));
  ack.window_packets = word_at(body, 3);
  ack.rate_packets = positive(word_at(body, 4));
  ack.capacity_packets = positive(word_at(body, 5));
  if (!word_at(body, kExtendedWords - 1)) return ack;
  const auto word = [&](std::size_t index) { return *word_at(body, index); };
  ack.extended = ExtendedReport{word(6),
                                (std::uint64_t{word(7)} << 32) | word(8),
                                word(9),
                                word(10),
                                word(11),
                                word(12),
                                word_at(body, kExtendedWords)};
  return ack;
}

std::vector<std::uint32_t> light_words(std::uint32_t next) { return {next}; }

std::vector<std::uint32_t> full_words(const FullReport& report) {
  std::vector<std::uint32_t> words;
  words.reserve(kExtendedWords + 1);
  words.assign({report.next, microseconds(report.rtt), microseconds(report.rtt_variation), report.window_packets,
                report.rate_packets, report.capacity_packets});
  return words;
}

void append_extension(std::vector<std::uint32_t>& words, const ExtendedReport& report) {
  words.insert(words.end(), {report.highest, static_cast<std::uint32_t>(report.received_bytes >> 32),
                             static_cast<std::uint32_t>(report.received_bytes), report.echo_us, report.delay_us,
                             report.free_kib, report.host_overloads});
  if (report.arrived_us) words.push_back(*report.arrived_us);
}

}  // namespace udtcat::transport::native
