#include "tool/libudt_program.hpp"

#include <cerrno>
#include <filesystem>
#include <string>

#include <unistd.h>

#include "lib/core/dumps.hpp"
#include "lib/transport/engine.hpp"

namespace udtcat::tool {

namespace {

constexpr const char* kOtherName = "udtcat-libudt";

/// A copy of this program, or a link to it, would do as we do, and for ever.
bool is_ourselves(const std::filesystem::path& own, const std::filesystem::path& other) {
  std::error_code error;
  return own.filename() == kOtherName || std::filesystem::equivalent(own, other, error);
}

}  // namespace

Status become_program_with(TransportKind kind, const char* const* argv, std::uint64_t core_limit_bytes) {
  if (transport::has_engine(kind)) return {};
  std::error_code error;
  const auto own = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto other = own.parent_path() / kOtherName;
  std::string reason = "it is this program, which has no libudt";
  if (!is_ourselves(own, other)) {
    core::allow_core_dumps(core_limit_bytes);
    std::ignore = ::execv(other.c_str(), const_cast<char* const*>(argv));  // exec() promises not to write
    reason = errno_text(errno);
  }
  return fail(Errc::bad_argument, "use --transport libudt by running " + other.string(),
              reason + "; install it there, or do without: native reaches the same peers");
}

}  // namespace udtcat::tool
