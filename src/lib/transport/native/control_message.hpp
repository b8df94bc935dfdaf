/// A control packet about to be sent, but for its destination.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/transport/native/packet.hpp"

namespace udtcat::transport::native {

struct ControlMessage {
  ControlType type = ControlType::keep_alive;
  std::uint16_t subtype = 0;
  std::uint32_t additional = 0;
  std::vector<std::uint32_t> words;
};

/// How a peer is spoken to.
enum class PeerKind {
  plain,  ///< any UDT4 program
  own,    ///< one of ours: it understands docs/spec/udt4.md §9
};

}  // namespace udtcat::transport::native
