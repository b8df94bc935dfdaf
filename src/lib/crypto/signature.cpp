// SPDX-License-Identifier: Apache-2.0
#include "lib/crypto/signature.hpp"

#include "lib/crypto/openssl.hpp"

namespace udtcat::crypto {

namespace {

using EvpDigestContext = std::unique_ptr<EVP_MD_CTX, Deleter<EVP_MD_CTX_free>>;

}  // namespace

Result<Signature> sign(const KeyPair& signer, std::span<const std::byte> message) {
  const auto secret = signer.secret();
  const EvpKey key(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, uchars(secret.data()), secret.size()));
  const EvpDigestContext context(EVP_MD_CTX_new());
  Signature signature{};
  std::size_t length = signature.size();
  if (!key || !context || EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key.get()) != 1 ||
      EVP_DigestSign(context.get(), uchars(signature.data()), &length, uchars(message.data()), message.size()) != 1 ||
      length != signature.size())
    return openssl_failed("sign");
  return signature;
}

bool is_signed_by(const PublicKey& signer, std::span<const std::byte> message,
                  std::span<const std::byte, kSignatureBytes> signature) {
  const auto half = signer.bytes();
  const EvpKey key(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, uchars(half.data()), half.size()));
  const EvpDigestContext context(EVP_MD_CTX_new());
  const bool right = key && context && EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
                     EVP_DigestVerify(context.get(), uchars(signature.data()), signature.size(), uchars(message.data()),
                                      message.size()) == 1;
  clear_openssl_errors();
  return right;
}

}  // namespace udtcat::crypto
