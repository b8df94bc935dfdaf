#include "rsh/pushed_program.hpp"

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/evp.h>
#include <sys/utsname.h>

#include "lib/core/log.hpp"

namespace udtcat::rsh {

namespace {

constexpr const char* kSelf = "/proc/self/exe";

/// One that needs no libraries there, which the preset `static` makes, where it lies beside this one; else this one
/// itself.
std::string program_path() {
  std::error_code error;
  const auto path = std::filesystem::read_symlink(kSelf, error).parent_path() / "udtcat-static";
  if (std::filesystem::is_regular_file(path, error)) return path.string();
  core::log().info("no static udtcat beside this one: what is pushed needs its libraries there");
  return kSelf;
}

/// In hexadecimal, as sha256sum(1) prints it; none where OpenSSL fails.
std::optional<std::string> sha256_hex(std::span<const char> bytes) {
  constexpr std::size_t kDigestBytes = 32;  // spec: FIPS 180-4
  std::array<unsigned char, kDigestBytes> digest{};
  std::size_t length = 0;
  if (EVP_Q_digest(nullptr, "SHA256", nullptr, bytes.data(), bytes.size(), digest.data(), &length) != 1)
    return std::nullopt;
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

}  // namespace

Result<OwnProgram> own_program() {
  const std::string path = program_path();
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  utsname system{};
  if (!file || bytes.empty() || ::uname(&system) != 0)
    return fail(Errc::local_read_failed, "read " + path + " in order to push it");
  auto digest = sha256_hex(bytes);
  if (!digest) return fail(Errc::cipher_failed, "compute a digest");
  return OwnProgram{{path, std::string(system.sysname) + ' ' + system.machine}, {bytes.size(), std::move(*digest)}};
}

}  // namespace udtcat::rsh
