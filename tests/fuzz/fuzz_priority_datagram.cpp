// SPDX-License-Identifier: Apache-2.0
// Any datagram as a priority datagram: a payload or nothing; and what was sealed is opened behind it.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "lib/session/priority_datagrams.hpp"

namespace fuzz_priority_datagram {

using namespace udtcat::session;

namespace {

PriorityDatagrams priority_datagrams_of(Role role) {
  const udtcat::crypto::SecretBytes<KeySchedule::kExporterBytes> exporter;
  return std::move(*PriorityDatagrams::create(NegotiatedParameters(), *KeySchedule::from_exporter(exporter), role));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static PriorityDatagrams sender = priority_datagrams_of(Role::connector);
  static PriorityDatagrams receiver = priority_datagrams_of(Role::listener);
  std::ignore = receiver.open(std::as_bytes(std::span(data, size)));
  const std::array<std::byte, 3> word{};
  const auto record = sender.seal(word);
  if (!record) std::abort();
  const auto opened = receiver.open(*record);
  if (!opened || opened->size() != word.size()) std::abort();
  return 0;
}

}  // namespace fuzz_priority_datagram
