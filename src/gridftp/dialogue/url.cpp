// SPDX-License-Identifier: Apache-2.0
#include "gridftp/dialogue/url.hpp"

#include <optional>
#include <vector>

#include <fmt/format.h>

#include "lib/core/printable.hpp"
#include "lib/core/text.hpp"
#include "lib/core/try.hpp"
#include "tool/cli/options.hpp"

namespace udtcat::gridftp {

namespace {

constexpr std::string_view kScheme = "ftp://";
constexpr std::string_view kSealedScheme = "udtcat://";

tl::unexpected<Error> no_url(std::string_view text, std::string_view why) {
  return fail(Errc::bad_argument, "read " + core::printable(text, core::kShownBytes), std::string(why));
}

/// "%2F" and the like; none where an escape is cut off or not hexadecimal.
std::optional<std::string> unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      plain += text[at];
      continue;
    }
    constexpr std::size_t kDigits = 2;
    const auto digits = text.substr(at + 1, kDigits);
    const auto code = core::parse_number<unsigned>(digits, 16);
    if (digits.size() < kDigits || !code) return std::nullopt;
    plain += static_cast<char>(*code);
    at += kDigits;
  }
  return plain;
}

void walk(std::vector<std::string_view>& words, std::string_view path) {
  while (!path.empty()) {
    const auto slash = path.find('/');
    const std::string_view word = path.substr(0, slash);
    if (word == ".." && !words.empty()) words.pop_back();
    if (!word.empty() && word != "." && word != "..") words.push_back(word);
    path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
  }
}

}  // namespace

std::string FtpUrl::to_string() const {
  return fmt::format("{}{}{}", sealed ? kSealedScheme : kScheme, udtcat::to_string(server), path);
}

bool can_be_said(std::string_view word) {
  constexpr std::string_view kNever("\r\n\0\xff", 4);
  return word.find_first_of(kNever) == std::string_view::npos;
}

Result<FtpUrl> parse_ftp_url(std::string_view text) {
  const bool sealed = text.starts_with(kSealedScheme);
  if (text.starts_with("gsiftp://")) return no_url(text, "GSI is not spoken here: ftp:// or udtcat://");
  if (!sealed && !text.starts_with(kScheme))
    return no_url(text, "the form is ftp://[USER@]HOST[:PORT]/PATH, or udtcat:// for a server with --auth key");
  std::string_view rest = text.substr(sealed ? kSealedScheme.size() : kScheme.size());
  const auto slash = rest.find('/');
  if (slash == std::string_view::npos) return no_url(text, "it names no path: ftp://[USER@]HOST[:PORT]/PATH");
  FtpUrl url;
  url.sealed = sealed;
  std::string_view authority = rest.substr(0, slash);
  if (const auto at = authority.rfind('@'); at != std::string_view::npos) {
    const auto user = unescaped(authority.substr(0, at));
    if (!user || user->empty()) return no_url(text, "its user is empty or badly escaped");
    if (user->find(':') != std::string::npos) return no_url(text, "a password has no place in a URL");
    url.user = *user;
    authority.remove_prefix(at + 1);
  }
  const auto path = unescaped(rest.substr(slash));
  if (!path) return no_url(text, "a % in its path is not followed by two hexadecimal digits");
  for (const std::string& word : {url.user, *path})
    if (!can_be_said(word)) return no_url(text, "a line end, a zero byte and 0xFF have no place in a command");
  url.path = *path;
  const bool has_port = authority.rfind(':') != std::string_view::npos && !authority.ends_with(']');
  UDTCAT_TRY(auto server,
             parse_peer(has_port ? std::string(authority) : fmt::format("{}:{}", authority, kDefaultPort)));
  url.server = server;
  return url;
}

std::string absolute_path(std::string_view directory, std::string_view path) {
  std::vector<std::string_view> words;
  if (path.starts_with("/~")) path.remove_prefix(1);
  const bool home = path == "~" || path.starts_with("~/");
  if (home) path.remove_prefix(1);
  if (!home && !path.starts_with('/')) walk(words, directory);
  walk(words, path);
  std::string all;
  for (const std::string_view word : words) (all += '/') += word;
  return all.empty() ? "/" : all;
}

}  // namespace udtcat::gridftp
