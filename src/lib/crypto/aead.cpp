// SPDX-License-Identifier: Apache-2.0
#include "lib/crypto/aead.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <climits>
#include <vector>

#include "lib/core/invariant.hpp"
#include "lib/crypto/openssl.hpp"

namespace udtcat::crypto {

namespace {

const char* openssl_name(Cipher cipher) {
  switch (cipher) {
    case Cipher::aes_256_gcm:
      return "AES-256-GCM";
    case Cipher::aes_128_gcm:
      return "AES-128-GCM";
    case Cipher::chacha20_poly1305:
      return "ChaCha20-Poly1305";
  }
  UDTCAT_INVARIANT(false, "decoders and parsers make only ciphers that exist");
}

constexpr int kTagLength = static_cast<int>(kTagBytes);

}  // namespace

struct Aead::Context {
  // Reads or writes in place, or takes associated data where there is no output.
  bool update(unsigned char* out, std::span<const std::byte> in) {
    UDTCAT_INVARIANT(in.size() <= INT_MAX, "the record layer seals blocks of at most kMaxBlockBytes");
    int length = 0;
    return in.empty() || EVP_CipherUpdate(evp.get(), out, &length, uchars(in.data()), static_cast<int>(in.size())) == 1;
  }

  // A new message: new nonce, the key stays scheduled.
  bool begin(std::span<const std::byte, kNonceBytes> nonce, std::span<const std::byte> aad) {
    return EVP_CipherInit_ex2(evp.get(), nullptr, nullptr, uchars(nonce.data()), -1, nullptr) == 1 &&
           update(nullptr, aad);
  }

  // Both modes have no last block: only the tag is made or compared.
  bool finish() {
    unsigned char none[EVP_MAX_BLOCK_LENGTH];
    int length = 0;
    return EVP_CipherFinal_ex(evp.get(), none, &length) == 1;
  }

  const Cipher cipher;  // constant after construction
  const AeadDirection direction;
  EvpCipherContext evp{EVP_CIPHER_CTX_new()};
};

Result<Aead> Aead::create(Cipher cipher, AeadDirection direction, std::span<const std::byte> key) {
  UDTCAT_INVARIANT(key.size() == key_bytes(cipher), "the caller cuts the key to the cipher's length");
  auto context = std::make_unique<Context>(Context{cipher, direction});
  const EvpCipher evp_cipher(EVP_CIPHER_fetch(nullptr, openssl_name(cipher), nullptr));
  if (!evp_cipher || !context->evp ||
      EVP_CipherInit_ex2(context->evp.get(), evp_cipher.get(), uchars(key.data()), nullptr,
                         direction == AeadDirection::seal ? 1 : 0, nullptr) != 1)
    return openssl_failed(std::string("set up ") + openssl_name(cipher));
  return Aead(std::move(context));
}

std::size_t Aead::key_bytes(Cipher cipher) { return cipher == Cipher::aes_128_gcm ? 16 : 32; }

Aead::Aead(std::unique_ptr<Context> context) : context_(std::move(context)) {}
Aead::Aead(Aead&&) noexcept = default;
Aead& Aead::operator=(Aead&&) noexcept = default;
Aead::~Aead() = default;

Status Aead::rekey(std::span<const std::byte> key) {
  UDTCAT_INVARIANT(key.size() == key_bytes(context_->cipher), "the caller cuts the key to the cipher's length");
  if (EVP_CipherInit_ex2(context_->evp.get(), nullptr, uchars(key.data()), nullptr, -1, nullptr) != 1)
    return openssl_failed("change the key");
  return {};
}

Status Aead::seal(std::span<const std::byte, kNonceBytes> nonce, std::span<const std::byte> aad,
                  std::span<std::byte> payload, std::span<std::byte, kTagBytes> tag) {
  UDTCAT_INVARIANT(context_->direction == AeadDirection::seal, "a lane seals or opens, never both");
  if (!context_->begin(nonce, aad) || !context_->update(uchars(payload.data()), payload) || !context_->finish() ||
      EVP_CIPHER_CTX_ctrl(context_->evp.get(), EVP_CTRL_AEAD_GET_TAG, kTagLength, tag.data()) != 1)
    return openssl_failed("seal a block");
  return {};
}

Status Aead::open(std::span<const std::byte, kNonceBytes> nonce, std::span<const std::byte> aad,
                  std::span<std::byte> payload, std::span<const std::byte, kTagBytes> tag) {
  UDTCAT_INVARIANT(context_->direction == AeadDirection::open, "a lane seals or opens, never both");
  std::array<std::byte, kTagBytes> expected;  // OpenSSL takes it through a pointer to non-const
  std::copy(tag.begin(), tag.end(), expected.begin());
  if (!context_->begin(nonce, aad) || !context_->update(uchars(payload.data()), payload) ||
      EVP_CIPHER_CTX_ctrl(context_->evp.get(), EVP_CTRL_AEAD_SET_TAG, kTagLength, expected.data()) != 1) {
    erase(payload);
    return openssl_failed("open a record");
  }
  if (!context_->finish()) {
    // The forger's text is erased, so that no caller uses it by mistake.
    erase(payload);
    clear_openssl_errors();
    return fail(Errc::tampered, "open a record");
  }
  return {};
}

// ---- The faster cipher ---------------------------------------------------------------------------------------------

namespace {

constexpr std::size_t kProbeBytes = 16 * kKiB;  // guess: long enough for the bulk code, short enough without AES-NI
constexpr unsigned kProbeRounds = 3;            // guess: the best of three is free of an unlucky interrupt

// The best time to seal the probe; the longest duration where it could not be measured.
std::chrono::nanoseconds probe(Cipher cipher) {
  using Clock = std::chrono::steady_clock;
  auto best = std::chrono::nanoseconds::max();
  const std::array<std::byte, 32> key{};
  auto aead = Aead::create(cipher, AeadDirection::seal, key);
  if (!aead) return best;
  std::vector<std::byte> payload(kProbeBytes);
  std::array<std::byte, kTagBytes> tag;
  for (unsigned round = 0; round < kProbeRounds; ++round) {
    const std::array<std::byte, kNonceBytes> nonce{std::byte(round)};
    const auto start = Clock::now();
    if (!aead->seal(nonce, {}, payload, tag)) return std::chrono::nanoseconds::max();
    best = std::min<std::chrono::nanoseconds>(best, Clock::now() - start);
  }
  return best;
}

}  // namespace

Cipher fastest_256_bit_cipher() {
  static const Cipher fastest =
      probe(Cipher::chacha20_poly1305) < probe(Cipher::aes_256_gcm) ? Cipher::chacha20_poly1305 : Cipher::aes_256_gcm;
  return fastest;
}

}  // namespace udtcat::crypto
