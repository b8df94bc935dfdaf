// SPDX-License-Identifier: Apache-2.0
#include "trees/selection.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <udtcat/units.hpp>

#include "lib/bridge/descriptor.hpp"
#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"

namespace udtcat::trees {

namespace {

constexpr std::size_t kMaxListBytes = kGiB;  // guess: ten million paths

Result<std::string> read_list(const std::string& path) {
  const bridge::Descriptor file(path == "-" ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  std::vector<char> piece(kMiB);
  while (file.is_open()) {
    const ssize_t got = ::read(file.number(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) break;
    if (got == 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(got));
    if (text.size() > kMaxListBytes)
      return fail(Errc::local_read_failed, "read the list of files " + path,
                  fmt::format("it is longer than {} GiB", kMaxListBytes / kGiB));
  }
  return fail(Errc::local_read_failed, "read the list of files " + path, core::errno_text(errno));
}

}  // namespace

Status check_selection(const Selection& selection) {
  if (selection.list) return {};
  UDTCAT_CHECK(Source::of_arguments(selection.paths));
  return {};
}

Result<Source> source_of(const Selection& selection) {
  if (!selection.list) return Source::of_arguments(selection.paths);
  UDTCAT_TRY(const std::string text, read_list(*selection.list));
  if (text.find('\0') == std::string::npos && text.find('\n') != std::string::npos)
    return fail(Errc::bad_argument, "read the list of files " + *selection.list,
                "it has lines; its names are to end with NUL, as those of find -print0 do, or of tr '\\n' '\\0'");
  std::vector<std::string> names;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\0', at), text.size());
    if (end > at) names.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return Source::of_list(std::move(names));
}

}  // namespace udtcat::trees
