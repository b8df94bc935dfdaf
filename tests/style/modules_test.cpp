// SPDX-License-Identifier: Apache-2.0
/// The includes that a module allows itself. The order of the library's is that of CMakeLists.txt.
#include <algorithm>
#include <array>
#include <map>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>

#include "style/source_tree.hpp"

namespace udtcat::style {
namespace {

using testing::IsEmpty;

/// The modules of the library, from the bottom up, as CMakeLists.txt names them.
constexpr std::array<std::string_view, 9> kLibrary{"core",       "crypto", "net",    "transport", "session",
                                                   "connection", "plain",  "bridge", "meeting"};

/// The modules of the program, and upon which of them each may stand. All stand upon the library's front door, two of
/// its modules and five headers of a third.
const std::map<std::string_view, std::vector<std::string_view>> kProgram{
    {"tool", {"tool/"}},
    {"ssh", {"ssh/", "tool/"}},
    {"bench", {"bench/", "ssh/", "tool/"}},
    {"forward", {"forward/", "tool/"}},
    // A meeting place moves datagrams itself, and draws tokens and nonces.
    {"meet",
     {"meet/", "tool/", "lib/meeting/", "lib/net/", "lib/crypto/keyed_hash.hpp", "lib/crypto/secret_bytes.hpp"}},
    {"pipe", {"pipe/", "forward/", "bench/", "tool/"}},
    // rsh-server --bench is the far end of a bench (docs/spec/rsh.md §8).
    {"rsh", {"rsh/", "bench/", "ssh/", "tool/"}},
    {"files", {"files/"}},
    {"trees", {"trees/", "files/", "ssh/", "tool/"}},
    {"gridftp", {"gridftp/", "files/", "pipe/", "forward/", "tool/"}}};
const std::vector<std::string_view> kOpenToProgram{"lib/core/",
                                                   "lib/bridge/",
                                                   "lib/net/bind_errors.hpp",
                                                   "lib/net/event_loop.hpp",
                                                   "lib/net/resolver.hpp",
                                                   "lib/net/interface_addresses.hpp",
                                                   "lib/net/http_proxy.hpp"};

/// Headers that only few may include: the prefix of the header, and of the files that may.
struct Fence {
  std::string_view header;
  std::vector<std::string_view> inside;
};
const std::vector<Fence> kFences{
    {"udt/", {"src/lib/transport/libudt/"}},
    {"zlib.h", {"src/ssh/pushed_program.", "src/gridftp/disk/checksum."}},
    {"openssl/",
     {"src/lib/crypto/", "src/lib/session/tls", "src/ssh/pushed_program.", "src/files/sha256.",
      "src/gridftp/disk/checksum."}},
    {"netinet/udp.h", {"src/lib/net/"}},
    {"CLI/", {"src/tool/cli/"}},
    {"nlohmann/", {"src/tool/status/", "src/tool/cli/log_line.", "src/bench/"}},
    {"globus", {"src/gridftp/xio/driver."}},
    {"gridftp/xio/", {"src/gridftp/xio/"}},
};

/// The folders of a module, and upon which of its others each may stand.
using Folders = std::map<std::string_view, std::vector<std::string_view>>;
const Folders kBase{
    {"cli", {}},
    {"identity", {"cli"}},
    {"status", {"cli"}},
    {"run", {"cli", "identity", "status"}},
    {"program", {"cli", "identity", "status", "run"}},
};
/// Server and client do not know each other; the gateway reads only what control connections say; the Globus driver is
/// a program of its own.
const Folders kGridftp{
    {"coroutine", {}},
    {"disk", {"coroutine"}},
    {"dialogue", {"coroutine"}},
    {"mode_e", {"coroutine", "disk", "dialogue"}},
    {"client", {"coroutine", "disk", "dialogue", "mode_e"}},
    {"server", {"coroutine", "disk", "dialogue", "mode_e"}},
    {"gateway", {"coroutine", "dialogue"}},
    {"xio", {}},
    {"command", {"coroutine", "disk", "dialogue", "mode_e", "client", "server", "gateway"}},
};

std::string_view first_folder_of(std::string_view path_from_src) {
  return path_from_src.substr(0, path_from_src.find('/'));
}

std::size_t height(std::string_view module) {
  return static_cast<std::size_t>(std::find(kLibrary.begin(), kLibrary.end(), module) - kLibrary.begin());
}

bool starts_with_any(std::string_view text, const std::vector<std::string_view>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](auto prefix) { return text.starts_with(prefix); });
}

/// "src/lib/net/x.hpp" is in "lib" and there in "net".
std::string_view top_folder_of(std::string_view path) { return first_folder_of(path.substr(4)); }
std::string_view library_module_of(std::string_view path) { return first_folder_of(path.substr(8)); }

TEST(Modules, AreTheFoldersOfSrc) {
  Offences offences;
  for (const auto& file : read_sources({"src"})) {
    if (file.path == "src/main.cpp") continue;  // stands above all modules
    const auto folder = top_folder_of(file.path);
    if (folder == "lib" ? height(library_module_of(file.path)) == kLibrary.size() : !kProgram.contains(folder))
      offences.push_back(file.path);
  }
  EXPECT_THAT(offences, IsEmpty());
}

TEST(Modules, OfTheLibraryIncludeOnlyThemselvesAndLowerModules) {
  Offences offences;
  for (const auto& file : read_sources({"src/lib"})) {
    const auto own = height(library_module_of(file.path));
    for (const auto& include : includes_of(file))
      if (include.quoted &&
          (!include.target.starts_with("lib/") || height(first_folder_of(include.target.substr(4))) > own))
        offences.push_back(offence(file, include.line_index));
  }
  EXPECT_THAT(offences, IsEmpty());
}

TEST(Modules, OfTheProgramIncludePublicHeadersCoreAndBridge) {
  Offences offences;
  for (const auto& file : read_sources({"src"})) {
    const auto module = kProgram.find(top_folder_of(file.path));
    if (module == kProgram.end()) continue;
    for (const auto& include : includes_of(file))
      if (include.quoted && !starts_with_any(include.target, module->second) &&
          !starts_with_any(include.target, kOpenToProgram))
        offences.push_back(offence(file, include.line_index));
  }
  EXPECT_THAT(offences, IsEmpty());
}

/// Where a file of the module includes one of a folder upon which its own may not stand.
Offences offences_within(const std::string& module, const Folders& folders) {
  Offences offences;
  for (const auto& file : read_sources({"src/" + module})) {
    const auto own = first_folder_of(std::string_view(file.path).substr(5 + module.size()));
    const auto below = folders.find(own);
    if (below == folders.end()) {
      offences.push_back(file.path);
      continue;
    }
    for (const auto& include : includes_of(file)) {
      if (!include.quoted || !include.target.starts_with(module + "/")) continue;
      const auto other = first_folder_of(std::string_view(include.target).substr(1 + module.size()));
      if (other != own && std::ranges::find(below->second, other) == below->second.end())
        offences.push_back(offence(file, include.line_index));
    }
  }
  return offences;
}

TEST(Modules, OfTheBaseIncludeOneAnotherInOneOrder) { EXPECT_THAT(offences_within("tool", kBase), IsEmpty()); }

TEST(Modules, OfGridftpIncludeOneAnotherInOneOrder) { EXPECT_THAT(offences_within("gridftp", kGridftp), IsEmpty()); }

/// A program of ours as a child: by the link that the system has to it, or by its name in front of one of its commands.
bool starts_our_program(std::string_view line) {
  static const std::regex kStarts(R"re("/proc/self/exe"|\{"udtcat(-[a-z]+)?", ")re");
  return std::regex_search(line.begin(), line.end(), kStarts);
}

TEST(Modules, DoNotStartOurOwnProgram) {
  EXPECT_TRUE(starts_our_program(R"(  rsh{.program = "/proc/self/exe", .words = {"udtcat", "rsh"}};)"));
  EXPECT_FALSE(starts_our_program(R"(  {.words = {"rsh-server"}, .help = rsh_help_text},)"));
  // A push reads it, to send it; the one with libudt takes the place of the one without.
  const std::vector<std::string_view> allowed{"src/ssh/pushed_program.cpp", "src/tool/cli/process_setup.cpp"};
  Offences offences;
  for (const auto& file : read_sources({"include", "src"}))
    for (std::size_t i = 0; i < file.lines.size(); ++i)
      if (starts_our_program(file.lines[i]) && !starts_with_any(file.path, allowed))
        offences.push_back(offence(file, i));
  EXPECT_THAT(offences, IsEmpty());
}

TEST(Modules, IncludeForeignHeadersInOnePlaceOnly) {
  Offences offences;
  for (const auto& file : read_sources({"src", "include"}))
    for (const auto& include : includes_of(file))
      for (const auto& fence : kFences)
        if (include.target.starts_with(fence.header) && !starts_with_any(file.path, fence.inside))
          offences.push_back(offence(file, include.line_index));
  EXPECT_THAT(offences, IsEmpty());
}

TEST(PublicHeaders, NeedOnlyTheStandardLibraryAsioAndExpected) {
  Offences offences;
  for (const auto& file : read_sources({"include"}))
    for (const auto& include : includes_of(file)) {
      const bool standard = include.target.find('/') == std::string::npos;
      if (include.quoted ||
          !(standard || starts_with_any(include.target, {"udtcat/", "boost/asio/", "tl/expected.hpp"})))
        offences.push_back(offence(file, include.line_index));
    }
  EXPECT_THAT(offences, IsEmpty());
}

}  // namespace
}  // namespace udtcat::style
