// SPDX-License-Identifier: Apache-2.0
#include "lib/crypto/header_cipher.hpp"

#include "lib/crypto/openssl.hpp"

namespace udtcat::crypto {

namespace {

// One block at a time through a context that stays keyed: ECB of a single block is the bare permutation.
Status permute(EVP_CIPHER_CTX* context, std::span<std::byte, kHeaderBlockBytes> block) {
  int written = 0;
  if (EVP_CipherUpdate(context, uchars(block.data()), &written, uchars(block.data()), static_cast<int>(block.size())) !=
          1 ||
      written != static_cast<int>(block.size()))
    return openssl_failed("encipher a record header");
  return {};
}

bool set_up(EVP_CIPHER_CTX* context, const EVP_CIPHER* cipher, const Secret32& key, bool encipher) {
  return EVP_CipherInit_ex2(context, cipher, uchars(key.bytes().data()), nullptr, encipher ? 1 : 0, nullptr) == 1 &&
         EVP_CIPHER_CTX_set_padding(context, 0) == 1;
}

}  // namespace

struct HeaderCipher::Contexts {
  EvpCipherContext encipher{EVP_CIPHER_CTX_new()};
  EvpCipherContext decipher{EVP_CIPHER_CTX_new()};
};

Result<HeaderCipher> HeaderCipher::create(const Secret32& key) {
  auto contexts = std::make_unique<Contexts>();
  const EvpCipher cipher(EVP_CIPHER_fetch(nullptr, "AES-256-ECB", nullptr));
  if (!cipher || !contexts->encipher || !contexts->decipher ||
      !set_up(contexts->encipher.get(), cipher.get(), key, true) ||
      !set_up(contexts->decipher.get(), cipher.get(), key, false))
    return openssl_failed("set up the header cipher");
  return HeaderCipher(std::move(contexts));
}

HeaderCipher::HeaderCipher(std::unique_ptr<Contexts> contexts) : contexts_(std::move(contexts)) {}
HeaderCipher::HeaderCipher(HeaderCipher&&) noexcept = default;
HeaderCipher& HeaderCipher::operator=(HeaderCipher&&) noexcept = default;
HeaderCipher::~HeaderCipher() = default;

Status HeaderCipher::encipher(std::span<std::byte, kHeaderBlockBytes> block) {
  return permute(contexts_->encipher.get(), block);
}
Status HeaderCipher::decipher(std::span<std::byte, kHeaderBlockBytes> block) {
  return permute(contexts_->decipher.get(), block);
}

}  // namespace udtcat::crypto
