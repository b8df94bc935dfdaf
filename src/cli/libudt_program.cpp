#include "cli/libudt_program.hpp"

#include <filesystem>
#include <string>

#include "bridge/child_process.hpp"
#include "transport/engine.hpp"

namespace udtcat::cli {

Status become_program_with(TransportKind kind, const char* const* argv) {
  if (transport::has_engine(kind)) return {};
  std::error_code error;
  const auto own = std::filesystem::read_symlink("/proc/self/exe", error);
  bridge::ChildRequest other;
  other.program = own.parent_path() / "udtcat-libudt";
  for (auto word = argv; *word != nullptr; ++word) other.words.emplace_back(*word);
  const std::string reason = errno_text(bridge::become(other));
  return fail(Errc::bad_argument, "use --transport libudt by running " + other.program,
              reason + "; install it there, or do without: native reaches the same peers");
}

}  // namespace udtcat::cli
