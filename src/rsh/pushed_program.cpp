// SPDX-License-Identifier: Apache-2.0
#include "rsh/pushed_program.hpp"

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/evp.h>
#include <sys/utsname.h>

#include "lib/core/log.hpp"
#include "lib/core/try.hpp"

namespace udtcat::rsh {

namespace {

constexpr const char* kSelf = "/proc/self/exe";

/// udtcat-static beside this program, which the preset `static` makes and which needs no libraries there; or else this
/// program.
std::string program_path() {
  std::error_code error;
  const auto path = std::filesystem::read_symlink(kSelf, error).parent_path() / "udtcat-static";
  if (std::filesystem::is_regular_file(path, error)) return path.string();
  core::log().info("no static udtcat beside this one: what is pushed needs its libraries there");
  return kSelf;
}

/// In hexadecimal, as sha256sum(1) prints it; none where OpenSSL fails.
std::optional<std::string> sha256_hex(std::span<const std::byte> bytes) {
  constexpr std::size_t kDigestBytes = 32;  // spec: FIPS 180-4
  std::array<unsigned char, kDigestBytes> digest{};
  std::size_t length = 0;
  if (EVP_Q_digest(nullptr, "SHA256", nullptr, bytes.data(), bytes.size(), digest.data(), &length) != 1)
    return std::nullopt;
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

}  // namespace

Result<std::vector<std::byte>> read_program(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file || bytes.empty()) return fail(Errc::local_read_failed, "read " + path + " in order to push it");
  const auto raw = std::as_bytes(std::span(bytes));
  return std::vector<std::byte>(raw.begin(), raw.end());
}

Result<PushedProgram> own_program() {
  const std::string path = program_path();
  UDTCAT_TRY(const auto bytes, read_program(path));
  auto digest = sha256_hex(bytes);
  if (!digest) return fail(Errc::cipher_failed, "compute a digest");
  utsname system{};
  std::ignore = ::uname(&system);  // fails for no valid argument
  return PushedProgram{.path = path,
                       .system = std::string(system.sysname) + ' ' + system.machine,
                       .size_bytes = bytes.size(),
                       .sha256_hex = std::move(*digest)};
}

}  // namespace udtcat::rsh
