// SPDX-License-Identifier: Apache-2.0
// Any bytes as the block headers of a peer: the account of what has come stays true and bounded.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "gridftp/mode_e/incoming_file.hpp"

namespace fuzz_mode_e {

using namespace udtcat::gridftp;
namespace files = udtcat::files;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::uint64_t kFileBytes = 1'000'000;
  auto in = std::as_bytes(std::span(data, size));
  IncomingFile file(files::ByteRange{0, kFileBytes});
  while (in.size() >= kBlockHeaderBytes) {
    const BlockHeader header = decode_block_header(in.first<kBlockHeaderBytes>());
    if (!std::ranges::equal(encode(header), in.first<kBlockHeaderBytes>())) std::abort();
    in = in.subspan(kBlockHeaderBytes);
    if (!file.on_header(header)) return 0;
    const std::uint64_t payload = header.payload_bytes();
    if (payload > kFileBytes || (payload > 0 && header.offset + payload > kFileBytes)) std::abort();
    if (payload > 0 && !file.on_stored({header.offset, header.offset + payload})) return 0;
    if (header.ends_data() && !file.on_end_of_data()) return 0;
    if (file.arrived().bytes() > kFileBytes) std::abort();
  }
  if (file.whole().has_value() != (file.arrived().bytes() == kFileBytes)) std::abort();
  return 0;
}

}  // namespace fuzz_mode_e
