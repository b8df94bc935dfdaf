#include "lib/transport/native/port_keys.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <utility>

#include "lib/core/byte_order.hpp"
#include "lib/crypto/hkdf.hpp"

namespace udtcat::transport::native {

namespace {

/// Empty where the host has none, or not for us: then all hosts with this key share the reset key.
std::string machine_id() {
  std::ifstream file("/etc/machine-id");
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

Result<PortKeys> PortKeys::derive(const Key& key) {
  auto secret = crypto::hkdf_extract(key.bytes());
  if (!secret) return tl::unexpected(std::move(secret.error()));
  PortKeys keys;
  const std::string host = machine_id();
  if (auto made = crypto::hkdf_expand(*secret, "udtcat door", {}, keys.door.writable()); !made)
    return tl::unexpected(std::move(made.error()));
  if (auto made = crypto::hkdf_expand(*secret, "udtcat reset", std::as_bytes(std::span(host)), keys.reset.writable());
      !made)
    return tl::unexpected(std::move(made.error()));
  std::array<std::byte, sizeof keys.cookie> cookie{};
  if (auto made = crypto::hkdf_expand(*secret, "udtcat rsh cookie", {}, cookie); !made)
    return tl::unexpected(std::move(made.error()));
  keys.cookie = std::max<std::uint32_t>(core::load_be<std::uint32_t>(std::span<const std::byte>(cookie)), 1);
  return keys;
}

}  // namespace udtcat::transport::native
