#include "lib/transport/native/cookie.hpp"

#include <utility>
#include <vector>

#include "lib/core/byte_order.hpp"

namespace udtcat::transport::native {

namespace {

std::int64_t minute_of(TimePoint now) {
  return std::chrono::duration_cast<std::chrono::minutes>(now.time_since_epoch()).count();
}

void append_be(std::vector<std::byte>& out, std::uint64_t value) {
  out.resize(out.size() + sizeof value);
  core::store_be<std::uint64_t>(std::span(out).last<sizeof value>(), value);
}

}  // namespace

Result<CookieJar> CookieJar::create() {
  auto hash = crypto::KeyedHash::create();
  if (!hash) return tl::unexpected(hash.error());
  return CookieJar(std::move(*hash));
}

Result<std::uint32_t> CookieJar::make(TimePoint now, const Endpoint& client, std::uint32_t client_id) {
  return at(minute_of(now), client, client_id);
}

bool CookieJar::accepts(TimePoint now, const Endpoint& client, std::uint32_t client_id, std::uint32_t cookie) {
  const std::int64_t minute = minute_of(now);
  return at(minute, client, client_id) == cookie || at(minute - 1, client, client_id) == cookie;
}

Result<std::uint32_t> CookieJar::at(std::int64_t minute, const Endpoint& client, std::uint32_t client_id) {
  const auto* const address =
      reinterpret_cast<const std::byte*>(client.data());  // SAFETY: any object may be read as bytes
  std::vector<std::byte> message(address, address + client.size_bytes());
  append_be(message, client_id);
  append_be(message, static_cast<std::uint64_t>(minute));
  const auto hash = hash_.of(message);
  if (!hash) return tl::unexpected(hash.error());
  return static_cast<std::uint32_t>(*hash) | 1U;
}

}  // namespace udtcat::transport::native
