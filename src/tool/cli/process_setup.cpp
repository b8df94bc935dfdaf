// SPDX-License-Identifier: Apache-2.0
#include "tool/cli/process_setup.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <tuple>
#include <utility>

#include <fcntl.h>
#include <nss.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/core/core_dumps.hpp"
#include "lib/core/user_text.hpp"

namespace udtcat::tool {

void fill_standard_descriptors() {
  for (int number = STDIN_FILENO; number <= STDERR_FILENO; ++number) {
    if (::fcntl(number, F_GETFD) >= 0 || errno != EBADF) continue;
    // open() takes the lowest free number, which is this one. The wrong direction on purpose: bytes for a closed stdout
    // are not delivered, and must not seem so.
    const int direction = number == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    std::ignore = ::open("/dev/null", direction);  // without /dev/null it stays closed, and fails as well
  }
}

std::uint64_t harden_process() {
  const std::uint64_t before = core::forbid_core_dumps(false);
  std::ignore = ::signal(SIGPIPE, SIG_IGN);
  std::ignore = ::signal(SIGXFSZ, SIG_IGN);  // a file that may grow no more is a write that fails
  std::ignore = ::signal(SIGUSR1, SIG_IGN);
  core::forbid_tracing();
  return before;
}

void use_no_modules_of_the_host() {
  if constexpr (UDTCAT_IS_STATIC == 0) return;
  constexpr std::pair<const char*, const char*> kServices[] = {
      {"passwd", "files"}, {"group", "files"}, {"hosts", "files dns"}};
  for (const auto& [database, services] : kServices)
    std::ignore = ::__nss_configure_lookup(database, services);  // fails for want of memory alone
}

void forbid_core_dumps_for_good() { std::ignore = core::forbid_core_dumps(true); }

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

void allow_descriptors(std::uint64_t wanted) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, wanted);
  std::ignore = ::setrlimit(RLIMIT_NOFILE, &limit);  // then connections wait when there are no more
}

Status exec_program_with(TransportKind kind, const std::vector<std::string>& argv, std::uint64_t core_limit_bytes) {
  if (has_transport(kind)) return {};
  if constexpr (UDTCAT_HAS_LIBUDT == 0)
    return fail(Errc::bad_argument, "use --transport libudt",
                "this udtcat was built without libudt; native reaches the same peers");
  std::error_code unknown;
  const auto own = std::filesystem::read_symlink("/proc/self/exe", unknown);
  const auto other = own.parent_path() / "udtcat-libudt";
  std::string reason = "it is this program, which has no libudt";
  // A copy of this program, or a link to it, would run it again without end.
  if (own != other && !std::filesystem::equivalent(own, other, unknown)) {
    core::allow_core_dumps(core_limit_bytes);
    std::vector<char*> words;
    words.reserve(argv.size() + 1);
    for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));  // exec() does not write
    words.push_back(nullptr);
    std::ignore = ::execv(other.c_str(), words.data());
    reason = core::errno_text(errno);
  }
  return fail(Errc::bad_argument, "use --transport libudt by running " + other.string(),
              reason + "; install it there, or do without: native reaches the same peers");
}

}  // namespace udtcat::tool
