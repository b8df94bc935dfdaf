#include "rsh/known_cookie.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "lib/core/byte_order.hpp"
#include "lib/crypto/hkdf.hpp"

namespace udtcat::rsh {

Result<std::uint32_t> known_cookie(const Key& key) {
  constexpr std::string_view kLabel = "udtcat rsh cookie";  // spec: docs/spec/rsh.md §1
  std::array<std::byte, 4> bytes{};
  auto secret = crypto::hkdf_extract(key.bytes());
  if (!secret) return tl::unexpected(std::move(secret.error()));
  if (auto status = crypto::hkdf_expand(*secret, kLabel, {}, bytes); !status)
    return tl::unexpected(std::move(status.error()));
  return std::max<std::uint32_t>(core::load_be<std::uint32_t>(std::span<const std::byte>(bytes)), 1);
}

}  // namespace udtcat::rsh
