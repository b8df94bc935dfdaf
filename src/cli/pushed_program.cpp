#include "cli/pushed_program.hpp"

#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include <sys/utsname.h>

#include "crypto/sha256.hpp"

namespace udtcat::cli {

namespace {

constexpr const char* kOwnPath = "/proc/self/exe";

}  // namespace

Result<OwnProgram> own_program() {
  std::ifstream file(kOwnPath, std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  utsname system{};
  if (!file || bytes.empty() || ::uname(&system) != 0)
    return fail(Errc::local_read_failed, std::string("read ") + kOwnPath + " in order to push it");
  auto digest = crypto::sha256_hex(std::as_bytes(std::span(bytes)));
  if (!digest) return tl::unexpected(std::move(digest.error()));
  return OwnProgram{{kOwnPath, std::string(system.sysname) + ' ' + system.machine}, {bytes.size(), std::move(*digest)}};
}

}  // namespace udtcat::cli
