// SPDX-License-Identifier: Apache-2.0
#include "trees/selection.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <udtcat/units.hpp>

#include "files/whole_io.hpp"
#include "lib/bridge/descriptor.hpp"
#include "lib/core/text.hpp"
#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"

namespace udtcat::trees {

namespace {

constexpr std::size_t kMaxPathListBytes = kGiB;  // guess: ten million paths

Result<std::string> read_list(const std::string& path) {
  const std::string shown = "the list of files " + path;
  const bridge::Descriptor file(path == "-" ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return core::fail_by_errno(Errc::local_read_failed, "read " + shown);
  std::string text;
  std::vector<std::byte> piece(kMiB);
  for (std::size_t got = piece.size(); got == piece.size();) {
    UDTCAT_TRY(got, files::read_whole(file, piece, shown));
    text += core::as_text(std::span(piece).first(got));
    if (text.size() > kMaxPathListBytes)
      return fail(Errc::local_read_failed, "read " + shown,
                  fmt::format("it is longer than {} GiB", kMaxPathListBytes / kGiB));
  }
  return text;
}

Result<std::vector<std::string>> names_of(const std::string& list) {
  UDTCAT_TRY(const std::string text, read_list(list));
  const std::string doing = "read the list of files " + list;
  if (text.find('\0') == std::string::npos && text.find('\n') != std::string::npos)
    return fail(Errc::bad_argument, doing,
                "it has lines; its names are to end with NUL, as those of find -print0 do, or of tr '\\n' '\\0'");
  if (!text.empty() && !text.ends_with('\0'))
    return fail(Errc::bad_argument, doing, "its last name does not end with NUL: it was cut, or is no such list");
  std::vector<std::string> names;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = text.find('\0', at);
    if (end > at) names.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return names;
}

Status check_is_there(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0) return {};
  return core::fail_by_errno(Errc::local_read_failed, "send " + path);
}

}  // namespace

Result<Selection> ready(Selection selection) {
  if (selection.list) {
    UDTCAT_TRY(selection.listed, names_of(*selection.list));
    return selection;
  }
  const auto is_there = [](const std::string& path) { return check_is_there(path).has_value(); };
  if (std::ranges::none_of(selection.paths, is_there)) UDTCAT_CHECK(check_is_there(selection.paths.front()));
  UDTCAT_CHECK(Source::of_arguments(selection.paths));
  return selection;
}

Status check(const Selection& selection) {
  for (const std::string& path : selection.paths) UDTCAT_CHECK(check_is_there(path));
  UDTCAT_CHECK(ready(selection));
  return {};
}

Result<Source> source_of(const Selection& selection) {
  if (!selection.list) return Source::of_arguments(selection.paths);
  if (selection.listed) return Source::of_list(*selection.listed);
  UDTCAT_TRY(auto names, names_of(*selection.list));
  return Source::of_list(std::move(names));
}

}  // namespace udtcat::trees
