#include <udtcat/key.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <tuple>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <openssl/rand.h>

#include "lib/core/invariant.hpp"
#include "lib/core/secret_text.hpp"
#include "lib/core/text.hpp"
#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"
#include "lib/crypto/openssl.hpp"
#include "lib/crypto/secret_bytes.hpp"

namespace udtcat {

namespace {

constexpr std::string_view kPrefix = "udtcat1-";  // spec: docs/spec/handshake.md §1
constexpr std::size_t kCheckBytes = 4;            // spec: docs/spec/handshake.md §1
constexpr std::size_t kRawBytes = Key::kBytes + kCheckBytes;
constexpr std::size_t kCharacters = kRawBytes / 3 * 4;
static_assert(kRawBytes % 3 == 0, "no padding is needed");
constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";  // spec: RFC 4648 §5

using Raw = crypto::SecretBytes<kRawBytes>;

// Three bytes are four characters of six bits.
std::string to_base64url(const Raw& raw) {
  std::string text;
  text.reserve(kPrefix.size() + kCharacters);
  text = kPrefix;
  for (std::size_t i = 0; i < kRawBytes; i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k) bits = (bits << 8) | std::to_integer<std::uint32_t>(raw.bytes()[i + k]);
    for (int shift = 18; shift >= 0; shift -= 6) text += kAlphabet[(bits >> shift) & 0x3fU];
  }
  return text;
}

std::optional<Raw> from_base64url(std::string_view characters) {
  Raw raw;
  for (std::size_t i = 0; i < kCharacters; i += 4) {
    std::uint32_t bits = 0;
    for (const char character : characters.substr(i, 4)) {
      const std::size_t value = kAlphabet.find(character);
      if (value == std::string_view::npos) return std::nullopt;
      bits = (bits << 6) | static_cast<std::uint32_t>(value);
    }
    for (std::size_t k = 0; k < 3; ++k) raw.writable()[i / 4 * 3 + k] = static_cast<std::byte>(bits >> (16 - 8 * k));
  }
  return raw;
}

std::array<std::byte, kCheckBytes> check_of(std::span<const std::byte, Key::kBytes> key) {
  crypto::Secret32 digest;
  std::size_t length = 0;
  UDTCAT_INVARIANT(EVP_Q_digest(nullptr, "SHA256", nullptr, key.data(), key.size(),
                                crypto::uchars(digest.writable().data()), &length) == 1,
                   "no TLS is possible without SHA-256, and the digest has its 32 bytes");
  std::array<std::byte, kCheckBytes> check;
  std::copy_n(digest.bytes().begin(), kCheckBytes, check.begin());
  return check;
}

// The text is a secret, or nearly one: no message quotes it.
tl::unexpected<Error> not_a_key(std::string why) { return fail(Errc::bad_argument, "read a key", std::move(why)); }

// ---- Key files -----------------------------------------------------------------------------------------------------

constexpr std::size_t kMaxKeyFileBytes = 4096;  // guess: a key is 56 characters; white space around it is fine
constexpr mode_t kOthers = S_IRWXG | S_IRWXO;
constexpr uid_t kRoot = 0;

class OpenFile {
 public:
  OpenFile(const std::string& path, int flags)
      : number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | flags)) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (number_ >= 0) std::ignore = ::close(number_);  // nothing was written: nothing can be lost
  }
  [[nodiscard]] int number() const { return number_; }

 private:
  const int number_;
};

tl::unexpected<Error> refused(const std::string& path, std::string why) {
  return fail(Errc::bad_argument, fmt::format("key file \"{}\"", path), std::move(why));
}

/// Permissions are checked for regular files only: a pipe was opened by the user.
Status check_access(const std::string& path, const struct stat& about) {
  if (!S_ISREG(about.st_mode)) return {};
  if (about.st_uid != ::geteuid() && about.st_uid != kRoot)
    return refused(path, "it belongs to another user, who can know or change it");
  const mode_t mode = about.st_mode & 07777U;
  if ((mode & kOthers) != 0)
    return refused(
        path, fmt::format("permissions {:04o} are too open; it must not be accessible by others: chmod 600 it", mode));
  return {};
}

}  // namespace

Result<Key> Key::generate() {
  Key key;
  if (RAND_priv_bytes(crypto::uchars(key.bytes_.data()), static_cast<int>(kBytes)) != 1)
    return crypto::openssl_failed("make a key");
  return key;
}

Result<Key> Key::parse(std::string_view text) {
  text = core::trimmed(text, " \t\r\n\v\f");
  if (!text.starts_with(kPrefix)) return not_a_key("it does not begin with " + std::string(kPrefix));
  text.remove_prefix(kPrefix.size());
  if (text.size() != kCharacters)
    return not_a_key("after " + std::string(kPrefix) + " it has " + std::to_string(text.size()) + " characters, not " +
                     std::to_string(kCharacters));
  const std::optional<Raw> raw = from_base64url(text);
  if (!raw) return not_a_key("it has a character other than letters, digits, - and _");
  Key key;
  std::copy_n(raw->bytes().begin(), kBytes, key.bytes_.begin());
  const auto check = check_of(key.bytes_);
  if (!std::equal(check.begin(), check.end(), raw->bytes().begin() + kBytes))
    return not_a_key("its check does not match: a typing error");
  return key;
}

Result<Key> Key::from_file(const std::string& path, FromFile kind) {
  // O_NONBLOCK opens a pipe without a writer at once, so that it can be refused.
  const OpenFile file(path, kind == FromFile::regular_only ? O_NONBLOCK : 0);
  struct stat about {};
  if (file.number() < 0 || ::fstat(file.number(), &about) != 0) return refused(path, core::errno_text(errno));
  if (kind == FromFile::regular_only && !S_ISREG(about.st_mode)) return refused(path, "it is no regular file");
  UDTCAT_CHECK(check_access(path, about));
  core::SecretText text;
  text.reserve(kMaxKeyFileBytes);
  // Byte by byte: behind the line in a pipe may stand data that is not ours to take.
  for (char byte = 0; text.size_bytes() < kMaxKeyFileBytes;) {
    const ssize_t taken = ::read(file.number(), &byte, 1);
    if (taken < 0 && errno == EINTR) continue;
    if (taken < 0) return refused(path, core::errno_text(errno));
    if (taken == 0 || (byte == '\n' && !S_ISREG(about.st_mode))) break;
    text.append(byte);
  }
  auto key = parse(text.view());
  if (!key) return refused(path, key.error().cause.empty() ? key.error().message() : key.error().cause);
  return key;
}

Key::Key(Key&& other) noexcept : bytes_(other.bytes_) { crypto::erase(other.bytes_); }

Key& Key::operator=(Key&& other) noexcept {
  if (this != &other) {
    bytes_ = other.bytes_;
    crypto::erase(other.bytes_);
  }
  return *this;
}

Key::~Key() { crypto::erase(bytes_); }

Key Key::duplicate() const {
  Key copy;
  copy.bytes_ = bytes_;
  return copy;
}

bool operator==(const Key& one, const Key& other) { return crypto::same(one.bytes_, other.bytes_); }

std::string Key::reveal_text() const {
  const auto check = check_of(bytes_);
  Raw raw;
  std::copy(check.begin(), check.end(), std::copy(bytes_.begin(), bytes_.end(), raw.writable().begin()));
  return to_base64url(raw);
}

}  // namespace udtcat
