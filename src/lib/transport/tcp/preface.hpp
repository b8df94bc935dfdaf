// SPDX-License-Identifier: Apache-2.0
/// The words of both ends of a TCP connection before the bytes of a session. See docs/spec/tcp.md §2.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <udtcat/result.hpp>

#include "lib/crypto/keyed_hash.hpp"

namespace udtcat::transport::tcp {

inline constexpr std::size_t kPrefaceBytes = 28;  // spec: tcp.md §2

enum class PrefaceType : std::uint8_t {
  hello = 1,      ///< the client's: no proof follows
  hello_key = 2,  ///< the client's: a proof follows the challenge
  challenge = 3,  ///< the listener's: there is a place
  proof = 4,      ///< the client's
  relay = 5,  ///< an end's to a meeting place, with its token: the rest is for the other end (docs/spec/meet.md §6)
};

/// All types have one length, so that no answer is longer than what it answers.
struct Preface {
  using Value = std::array<std::byte, 16>;
  PrefaceType type = PrefaceType::hello;
  Value value{};  ///< of a proof the hash, of a relay the token, of the others random
};

[[nodiscard]] std::array<std::byte, kPrefaceBytes> encode(const Preface& preface);

struct DecodedPreface {
  enum class State { incomplete, malformed, complete };
  State state = State::incomplete;
  Preface preface{};  ///< if complete
};

/// Of the first kPrefaceBytes of `bytes`, or as many as there are: the first byte that is wrong is enough.
[[nodiscard]] DecodedPreface decode_preface(std::span<const std::byte> bytes);

/// A client's proof that it holds the engine's key. The listener's value is fresh, so that a recording is of no use.
/// Threads: unsynchronised.
class PrefaceProof {
 public:
  /// errors   Errc::cipher_failed
  [[nodiscard]] static Result<PrefaceProof> derive(std::span<const std::byte> admission_key);

  /// The answer to `challenge`, which answered `hello`.  errors   Errc::cipher_failed
  [[nodiscard]] Result<Preface> make(const Preface& hello, const Preface& challenge);
  [[nodiscard]] bool is_in(const Preface& proof, const Preface& hello, const Preface& challenge);

 private:
  explicit PrefaceProof(crypto::KeyedHash hash) : hash_(std::move(hash)) {}

  crypto::KeyedHash hash_;
};

}  // namespace udtcat::transport::tcp
