#include "rsh/pushed_program.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sys/utsname.h>

#include "lib/core/log.hpp"
#include "lib/crypto/sha256.hpp"

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

}  // namespace

Result<OwnProgram> own_program() {
  const std::string path = program_path();
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  utsname system{};
  if (!file || bytes.empty() || ::uname(&system) != 0)
    return fail(Errc::local_read_failed, "read " + path + " in order to push it");
  auto digest = crypto::sha256_hex(std::as_bytes(std::span(bytes)));
  if (!digest) return tl::unexpected(std::move(digest.error()));
  return OwnProgram{{path, std::string(system.sysname) + ' ' + system.machine}, {bytes.size(), std::move(*digest)}};
}

}  // namespace udtcat::rsh
