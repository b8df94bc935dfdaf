#include "lib/transport/native/port_keys.hpp"

#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <utility>

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
  return keys;
}

}  // namespace udtcat::transport::native
