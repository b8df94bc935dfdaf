/// The proof that a client really is where it says it is, without remembering anything of it.
#pragma once

#include <cstdint>
#include <memory>

#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>

#include "lib/crypto/keyed_hash.hpp"
#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

/// A keyed hash of who asks and when. Good for one to two minutes.
/// Threads: unsynchronised; time is a parameter.
class CookieJar {
 public:
  /// errors   Errc::cipher_failed
  [[nodiscard]] static Result<CookieJar> create();

  /// Never 0, which is what a client says that has none.  errors   Errc::cipher_failed
  [[nodiscard]] Result<std::uint32_t> make(TimePoint now, const Endpoint& client, std::uint32_t client_id);
  [[nodiscard]] bool accepts(TimePoint now, const Endpoint& client, std::uint32_t client_id, std::uint32_t cookie);

 private:
  explicit CookieJar(crypto::KeyedHash hash) : hash_(std::move(hash)) {}
  [[nodiscard]] Result<std::uint32_t> at(std::int64_t minute, const Endpoint& client, std::uint32_t client_id);

  crypto::KeyedHash hash_;
};

}  // namespace udtcat::transport::native
