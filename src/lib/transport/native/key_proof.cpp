// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/key_proof.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

#include "lib/core/byte_order.hpp"
#include "lib/core/try.hpp"
#include "lib/crypto/hkdf.hpp"

namespace udtcat::transport::native {

namespace {

/// The host's /etc/machine-id. Empty where it has none that may be read: the derived keys are then the same on all
/// hosts that hold this key.
constexpr const char* kMachineId = "/etc/machine-id";
/// The boot ID: cookies count time from the boot, and must not be valid again after the next one.
constexpr const char* kBootId = "/proc/sys/kernel/random/boot_id";

std::string content_of(const char* path) {
  std::ostringstream content;
  content << std::ifstream(path).rdbuf();  // which catches what iterators throw where it cannot be read
  return content.str();
}

}  // namespace

Result<PortKeys> PortKeys::derive(const PortSecrets& secrets) {
  PortKeys keys;
  if (!secrets.admission_key.empty()) {
    UDTCAT_TRY(const auto extracted, crypto::hkdf_extract(secrets.admission_key));
    UDTCAT_CHECK(crypto::hkdf_expand(extracted, "udtcat door", {}, keys.proof.emplace().writable()));
  }
  UDTCAT_TRY(const auto secret, crypto::hkdf_extract(secrets.own));
  const std::string host = content_of(kMachineId);
  UDTCAT_CHECK(crypto::hkdf_expand(secret, "udtcat reset", std::as_bytes(std::span(host)), keys.reset.writable()));
  const std::string boot = host + content_of(kBootId);
  UDTCAT_CHECK(crypto::hkdf_expand(secret, "udtcat return", std::as_bytes(std::span(boot)), keys.known.writable()));
  std::array<std::byte, sizeof keys.cookie> cookie{};
  UDTCAT_CHECK(crypto::hkdf_expand(secret, "udtcat rsh cookie", {}, cookie));
  keys.cookie = std::max<std::uint32_t>(core::load_be<std::uint32_t>(std::span<const std::byte>(cookie)), 1);
  return keys;
}

Result<KeyProof> KeyProof::create(std::span<const std::byte, crypto::KeyedHash::kKeyBytes> key) {
  UDTCAT_TRY(crypto::KeyedHash hash, crypto::KeyedHash::create(key));
  return KeyProof(std::move(hash));
}

Result<KeyProof::Words> KeyProof::make(const HandshakePacket& handshake, std::uint32_t additional,
                                       const std::optional<HandshakeExtension>& extension) {
  UDTCAT_TRY(const auto hash, hash_of(handshake, additional, extension));
  Words proof{};
  for (std::size_t i = 0; i < proof.size(); ++i)
    proof[i] = core::load_be<std::uint32_t>(std::span(hash).subspan(4 * i));
  return proof;
}

bool KeyProof::is_in(const HandshakePacket& handshake, std::uint32_t additional,
                     const std::optional<HandshakeExtension>& extension) {
  const auto hash = hash_of(handshake, additional, extension);
  crypto::KeyedHash::Hash128 said{};
  for (std::size_t i = 0; i < handshake.address.size(); ++i)
    core::store_be(std::span(said).subspan(4 * i), handshake.address[i]);
  return hash && crypto::same(*hash, said);
}

Result<crypto::KeyedHash::Hash128> KeyProof::hash_of(const HandshakePacket& handshake, std::uint32_t additional,
                                                     const std::optional<HandshakeExtension>& extension) {
  const std::uint64_t token = extension ? extension->token : 0;
  const std::array<std::uint32_t, 11> words{handshake.version,
                                            handshake.type,
                                            handshake.initial_sequence,
                                            handshake.mss,
                                            handshake.flow_window,
                                            static_cast<std::uint32_t>(handshake.request),
                                            handshake.socket_id,
                                            handshake.cookie,
                                            additional,
                                            static_cast<std::uint32_t>(token >> 32),
                                            static_cast<std::uint32_t>(token)};
  std::array<std::byte, 4 * words.size()> message{};
  for (std::size_t i = 0; i < words.size(); ++i) core::store_be(std::span<std::byte>(message).subspan(4 * i), words[i]);
  return hash_.hash128_of(message);
}

}  // namespace udtcat::transport::native
