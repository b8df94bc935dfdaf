/// Who may include what. The order of the rooms is that of CMakeLists.txt.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <gmock/gmock.h>

#include "style/source_tree.hpp"

namespace udtcat::style {
namespace {

using testing::IsEmpty;

constexpr std::array<std::string_view, 13> kRooms{"core",    "crypto", "net", "transport", "session", "lanes", "stream",
                                                  "peering", "bridge", "rsh", "gridftp",   "xio",     "cli"};

/// Whose headers only few may include: the prefix of the header, and of the files that may.
struct Fence {
  std::string_view header;
  std::vector<std::string_view> inside;
};
const std::vector<Fence> kFences{
    {"udt/", {"src/transport/libudt/"}},
    {"openssl/", {"src/crypto/", "src/session/tls"}},
    {"netinet/udp.h", {"src/net/"}},
    {"CLI/", {"src/cli/"}},
    {"nlohmann/", {"src/cli/"}},
    {"globus", {"src/xio/globus."}},
    {"xio/", {"src/xio/"}},
};

std::string_view room_of(std::string_view path_from_src) { return path_from_src.substr(0, path_from_src.find('/')); }

std::size_t height(std::string_view room) {
  return static_cast<std::size_t>(std::find(kRooms.begin(), kRooms.end(), room) - kRooms.begin());
}

bool starts_with_any(std::string_view text, const std::vector<std::string_view>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](auto prefix) { return text.starts_with(prefix); });
}

TEST(Rooms, AreTheFoldersOfSrc) {
  Offences offences;
  for (const auto& file : read_sources({"src"}))
    if (height(room_of(std::string_view(file.path).substr(4))) == kRooms.size()) offences.push_back(file.path);
  EXPECT_THAT(offences, IsEmpty());
}

TEST(Rooms, IncludeOnlyThemselvesAndRoomsBelow) {
  Offences offences;
  for (const auto& file : read_sources({"src"})) {
    const auto own = height(room_of(std::string_view(file.path).substr(4)));
    for (const auto& include : includes_of(file))
      if (include.quoted && height(room_of(include.target)) > own)
        offences.push_back(offence(file, include.line_index));
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

/// Replaces the last "from" of a path.
std::string with(std::string path, std::string_view from, std::string_view to) {
  return path.replace(path.rfind(from), from.size(), to);
}

TEST(PlatformCode, ComesAsTwins) {
  Offences offences;
  for (const auto& file : read_sources({"src"})) {
    if (file.path.ends_with("_linux.cpp") && !exists(with(file.path, "_linux", "_default")))
      offences.push_back(file.path);
    if (file.path.ends_with("_default.cpp") && !exists(with(file.path, "_default", "_linux")))
      offences.push_back(file.path);
  }
  EXPECT_THAT(offences, IsEmpty());
}

}  // namespace
}  // namespace udtcat::style
