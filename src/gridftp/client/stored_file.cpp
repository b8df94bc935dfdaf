// SPDX-License-Identifier: Apache-2.0
#include "gridftp/client/stored_file.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "gridftp/dialogue/listed_entries.hpp"
#include "lib/core/log.hpp"
#include "lib/core/printable.hpp"
#include "lib/core/try.hpp"

namespace udtcat::gridftp {

namespace {

bool is_beyond_ascii(char each) { return static_cast<unsigned char>(each) >= 0x80; }

/// Takes the last name off; empty: there is none.
std::string_view take_name(std::string_view& path) {
  std::string_view name = ".";
  while (name == "." && !path.empty()) {
    while (path.ends_with('/')) path.remove_suffix(1);
    name = path.substr(path.rfind('/') + 1);  // npos + 1 is 0
    path.remove_suffix(name.size());
  }
  return name == "." ? std::string_view() : name;
}

/// The server has no such command: its answer says nothing of the file.
bool is_unknown_command(const Reply& answer) {
  constexpr std::array kWords{"nderstood", "nknown", "nrecognized", "mplemented"};
  const std::string text = answer.text();
  return answer.code == 502 || (answer.code == 500 && std::ranges::any_of(kWords, [&](const char* words) {
                                  return text.find(words) != std::string::npos;
                                }));
}

tl::unexpected<Error> lost(std::string doing, std::string cause) {
  return fail(Errc::remote_write_failed, std::move(doing), std::move(cause));
}

/// SIZE of a path with bytes beyond ASCII without them, at a server without MLST: a server that drops them has the file
/// there.
Task<Result<std::optional<std::uint64_t>>> size_by_name(RemoteServer& server, std::string path) {
  std::string plain = path;
  std::erase_if(plain, is_beyond_ascii);
  UDTCAT_CO_TRY(const auto size, co_await server.size_of(path));
  if (!size) co_return size;
  UDTCAT_CO_TRY(const auto other, co_await server.size_of(plain));
  co_return other == size ? std::nullopt : size;
}

}  // namespace

std::optional<ListedFile> parse_listed_file(const Reply& reply) {
  if (!reply.is_completion() || reply.lines.size() < 3) return std::nullopt;
  std::string_view line = reply.lines[1];
  if (line.starts_with(' ')) line.remove_prefix(1);
  const auto blank = line.find(' ');
  if (blank == std::string_view::npos || blank + 1 == line.size()) return std::nullopt;
  return ListedFile{std::string(line.substr(blank + 1)), parse_facts(line.substr(0, blank)).bytes};
}

bool is_same_path(std::string_view said, std::string_view path) {
  for (;;) {
    const auto here = take_name(path);
    const auto there = take_name(said);
    if (here.empty() || there.empty()) return true;
    if (here == ".." || here.starts_with('~')) return true;  // the paths cannot be compared further
    if (here != there && std::ranges::any_of(here, is_beyond_ascii)) return false;
  }
}

Task<Status> prove_stored(RemoteServer& server, StoredFile stored, std::string doing) {
  // Not one co_await of a conditional expression: GCC 12 gets that wrong.
  const bool is_plain = std::ranges::none_of(stored.path, is_beyond_ascii);
  std::optional<std::uint64_t> size;
  if (is_plain) {
    UDTCAT_CO_TRY(size, co_await server.size_of(stored.path));
  }
  if (!size) {
    UDTCAT_CO_TRY(const auto answer, co_await server.control().ask("MLST " + stored.path));
    const auto listed = parse_listed_file(answer);
    if (listed && !is_same_path(listed->path, stored.path))
      co_return lost(doing, "the server has it as " + core::printable(listed->path, core::kShownBytes));
    if (listed) size = listed->bytes;
    if (!size && !is_plain && listed) {
      UDTCAT_CO_TRY(size, co_await server.size_of(stored.path));
    }
    if (!size && !is_plain && !listed) {
      UDTCAT_CO_TRY(size, co_await size_by_name(server, stored.path));
    }
    if (!size && is_plain && is_unknown_command(answer)) {
      UDTCAT_CO_TRY(const auto by_size, co_await server.control().ask("SIZE " + stored.path));
      if (is_unknown_command(by_size)) {
        core::log().warn("{}: the server cannot be asked whether it is there: it knows neither SIZE nor MLST", doing);
        co_return Status{};
      }
    }
    if (!size)
      co_return lost(doing,
                     fmt::format("{} bytes were sent, and the server does not say that it has them by that name: "
                                 "{} {}",
                                 stored.bytes, answer.code, answer.text()));
  }
  if (stored.whole ? *size == stored.bytes : *size >= stored.bytes) co_return Status{};
  co_return fail(Errc::stream_refused, doing, fmt::format("it has {} of {} bytes", *size, stored.bytes));
}

Task<Status> check_name(RemoteServer& server, std::string path, Errc otherwise, std::string doing) {
  if (std::ranges::none_of(path, is_beyond_ascii)) co_return Status{};
  UDTCAT_CO_TRY(const auto answer, co_await server.control().ask("MLST " + path));
  const auto listed = parse_listed_file(answer);
  if (!listed || is_same_path(listed->path, path)) co_return Status{};
  co_return fail(otherwise, std::move(doing),
                 "the server has it as " + core::printable(listed->path, core::kShownBytes));
}

}  // namespace udtcat::gridftp
