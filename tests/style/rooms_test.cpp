// SPDX-License-Identifier: Apache-2.0
/// The includes that a room allows itself. The order of the rooms is that of CMakeLists.txt.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>

#include <gmock/gmock.h>

#include "style/source_tree.hpp"

namespace udtcat::style {
namespace {

using testing::IsEmpty;

/// The rooms of the library, from the bottom up, as CMakeLists.txt names them.
constexpr std::array<std::string_view, 8> kRooms{"core",    "crypto",     "net",   "transport",
                                                 "session", "connection", "plain", "bridge"};

/// The wings of the program and the rooms that they share, and upon which of them each may stand. All stand upon the
/// library's front door, two of its rooms and two headers of a third.
const std::map<std::string_view, std::vector<std::string_view>> kWings{
    {"coroutine", {"coroutine/"}},
    {"files", {"files/", "coroutine/"}},
    {"trees", {"trees/", "tool/", "files/", "coroutine/"}},
    {"tool", {"tool/"}},
    {"rsh", {"rsh/", "tool/"}},
    {"gridftp", {"gridftp/", "tool/", "files/", "coroutine/"}}};
const std::vector<std::string_view> kOpenToWings{"lib/core/", "lib/bridge/", "lib/net/names.hpp",
                                                 "lib/net/interface_addresses.hpp"};

/// Headers that only few may include: the prefix of the header, and of the files that may.
struct Fence {
  std::string_view header;
  std::vector<std::string_view> inside;
};
const std::vector<Fence> kFences{
    {"udt/", {"src/lib/transport/libudt/"}},
    {"zlib.h", {"src/rsh/pushed_program.", "src/files/checksum."}},
    {"openssl/",
     {"src/lib/crypto/", "src/lib/session/tls", "src/rsh/pushed_program.", "src/files/sha256.", "src/files/checksum."}},
    {"netinet/udp.h", {"src/lib/net/"}},
    {"CLI/", {"src/tool/", "src/rsh/", "src/gridftp/"}},
    {"nlohmann/", {"src/tool/", "src/rsh/", "src/gridftp/"}},
    {"globus", {"src/gridftp/xio/globus."}},
    {"gridftp/xio/", {"src/gridftp/xio/"}},
};

/// The folders of the GridFTP wing, and upon which of its others each may stand. Server and client do not know each
/// other; the gateway reads only what control connections say; the Globus driver is a program of its own.
const std::map<std::string_view, std::vector<std::string_view>> kGridftp{
    {"coroutine.hpp", {}},
    {"dialogue", {}},
    {"mode_e", {"dialogue"}},
    {"client", {"dialogue", "mode_e"}},
    {"server", {"dialogue", "mode_e"}},
    {"gateway", {"dialogue"}},
    {"xio", {}},
    {"command", {"dialogue", "mode_e", "client", "server", "gateway"}},
};

std::string_view room_of(std::string_view path_from_src) { return path_from_src.substr(0, path_from_src.find('/')); }

std::size_t height(std::string_view room) {
  return static_cast<std::size_t>(std::find(kRooms.begin(), kRooms.end(), room) - kRooms.begin());
}

bool starts_with_any(std::string_view text, const std::vector<std::string_view>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](auto prefix) { return text.starts_with(prefix); });
}

/// "src/lib/net/x.hpp" is in "lib" and there in "net".
std::string_view storey_of(std::string_view path) { return room_of(path.substr(4)); }
std::string_view library_room_of(std::string_view path) { return room_of(path.substr(8)); }

TEST(Rooms, AreTheFoldersOfSrc) {
  Offences offences;
  for (const auto& file : read_sources({"src"})) {
    if (file.path == "src/main.cpp") continue;  // stands above all wings
    const auto storey = storey_of(file.path);
    if (storey == "lib" ? height(library_room_of(file.path)) == kRooms.size() : !kWings.contains(storey))
      offences.push_back(file.path);
  }
  EXPECT_THAT(offences, IsEmpty());
}

TEST(Rooms, OfTheLibraryIncludeOnlyThemselvesAndRoomsBelow) {
  Offences offences;
  for (const auto& file : read_sources({"src/lib"})) {
    const auto own = height(library_room_of(file.path));
    for (const auto& include : includes_of(file))
      if (include.quoted && (!include.target.starts_with("lib/") || height(room_of(include.target.substr(4))) > own))
        offences.push_back(offence(file, include.line_index));
  }
  EXPECT_THAT(offences, IsEmpty());
}

TEST(Rooms, AboveTheLibraryUseItsFrontDoorItsCoreAndItsBridges) {
  Offences offences;
  for (const auto& file : read_sources({"src"})) {
    const auto wing = kWings.find(storey_of(file.path));
    if (wing == kWings.end()) continue;
    for (const auto& include : includes_of(file))
      if (include.quoted && !starts_with_any(include.target, wing->second) &&
          !starts_with_any(include.target, kOpenToWings))
        offences.push_back(offence(file, include.line_index));
  }
  EXPECT_THAT(offences, IsEmpty());
}

TEST(Rooms, OfGridftpStandUponOneAnotherInOneOrder) {
  constexpr std::string_view kWing = "gridftp/";
  constexpr std::string_view kWords = "coroutine.hpp";  // those of another room, for all folders
  Offences offences;
  for (const auto& file : read_sources({"src/gridftp"})) {
    const auto own = room_of(std::string_view(file.path).substr(4 + kWing.size()));
    const auto below = kGridftp.find(own);
    if (below == kGridftp.end()) {
      offences.push_back(file.path);
      continue;
    }
    for (const auto& include : includes_of(file)) {
      if (!include.quoted || !include.target.starts_with(kWing)) continue;
      const auto other = room_of(std::string_view(include.target).substr(kWing.size()));
      if (other != own && other != kWords && std::ranges::find(below->second, other) == below->second.end())
        offences.push_back(offence(file, include.line_index));
    }
  }
  EXPECT_THAT(offences, IsEmpty());
}

TEST(Rooms, KeepForeignHeadersBehindTheirFence) {
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
