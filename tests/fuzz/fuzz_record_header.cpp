// SPDX-License-Identifier: Apache-2.0
// Any 16 bytes give a header or an error; a header is within the limits and encodes to the same bytes.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "lib/session/record_format.hpp"

namespace fuzz_record_header {

using namespace udtcat;
using namespace udtcat::session;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < kRecordHeaderBytes) return 0;
  const auto in = std::as_bytes(std::span(data, size)).first<kRecordHeaderBytes>();
  const auto header = decode_record_header(in);
  if (!header) return 0;
  std::array<std::byte, kRecordHeaderBytes> again;
  encode(*header, again);
  const bool sound = std::equal(again.begin(), again.end(), in.begin()) && header->payload_bytes >= 1 &&
                     header->payload_bytes <= kMaxBlockBytes && header->lane < kMaxLanes &&
                     header->number < kMaxBlockNumber;
  if (!sound) std::abort();
  return 0;
}

}  // namespace fuzz_record_header
