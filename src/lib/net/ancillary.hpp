/// What travels beside the bytes of a message: written before sendmsg, read after recvmsg.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstring>

namespace udtcat::net {

/// Entries in the form that the kernel reads, `kBytes` (a sum of CMSG_SPACE) at most.
/// Threads: unsynchronised.
template <std::size_t kBytes>
class AncillaryData {
 public:
  void clear() { used_bytes_ = 0; }
  template <typename Value>
  void append(int level, int type, const Value& value) {
    cmsghdr header{};
    header.cmsg_len = CMSG_LEN(sizeof value);
    header.cmsg_level = level;
    header.cmsg_type = type;
    std::memcpy(bytes_.data() + used_bytes_, &header, sizeof header);
    std::memcpy(bytes_.data() + used_bytes_ + CMSG_LEN(0), &value, sizeof value);
    used_bytes_ += CMSG_SPACE(sizeof value);
  }
  [[nodiscard]] std::byte* data() { return bytes_.data(); }
  [[nodiscard]] std::size_t used_bytes() const { return used_bytes_; }

 private:
  alignas(cmsghdr) std::array<std::byte, kBytes> bytes_{};
  std::size_t used_bytes_ = 0;
};

/// The value of an entry that is known to hold one.
template <typename Value>
[[nodiscard]] Value ancillary_value(const cmsghdr& entry) {
  Value value{};
  std::memcpy(&value, CMSG_DATA(&entry), sizeof value);
  return value;
}

/// Calls `visit` with every entry of a received message.
template <typename Visit>
void for_each_ancillary(msghdr& message, Visit&& visit) {
  for (cmsghdr* entry = CMSG_FIRSTHDR(&message); entry != nullptr; entry = CMSG_NXTHDR(&message, entry)) visit(*entry);
}

}  // namespace udtcat::net
