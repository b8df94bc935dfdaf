#include "gridftp/mode_e/block_header.hpp"

#include "lib/core/byte_order.hpp"

namespace udtcat::gridftp {

std::array<std::byte, kBlockHeaderBytes> encode(const BlockHeader& header) {
  std::array<std::byte, kBlockHeaderBytes> out{};
  const std::span<std::byte> bytes(out);
  bytes[0] = std::byte{header.descriptor};
  core::store_be(bytes.subspan(1), header.count);
  core::store_be(bytes.subspan(9), header.offset);
  return out;
}

BlockHeader decode_block_header(std::span<const std::byte, kBlockHeaderBytes> in) {
  return {.descriptor = std::to_integer<std::uint8_t>(in[0]),
          .count = core::load_be<std::uint64_t>(in.subspan(1)),
          .offset = core::load_be<std::uint64_t>(in.subspan(9))};
}

}  // namespace udtcat::gridftp
