// SPDX-License-Identifier: Apache-2.0
#include "ssh/greeting.hpp"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "lib/core/printable.hpp"
#include "lib/core/text.hpp"
#include "ssh/candidates.hpp"

namespace udtcat::ssh {

namespace {

constexpr std::string_view kVersion = "1";  // spec: docs/spec/rsh.md §1

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (;;) {
    const auto space = line.find(' ');
    words.push_back(line.substr(0, space));
    if (space == std::string_view::npos) return words;
    line.remove_prefix(space + 1);
  }
}

}  // namespace

std::string to_text(const ConnectLine& line) {
  return fmt::format("\nUDTCAT CONNECT {} {} {} {}\n", kVersion, line.port, line.key.reveal_text(),
                     to_text(line.addresses));
}

std::optional<GreetingReader::Line> GreetingReader::parse(std::string_view line) const {
  if (line.ends_with('\r')) line.remove_suffix(1);  // a terminal in between
  const auto words = words_of(line);
  constexpr std::size_t kConnectWords = 6;
  if (words.size() < 3 || words[0] != "UDTCAT") return std::nullopt;
  constexpr std::size_t kShownReason = 256;  // guess: a line of a loader, with a path in it
  const auto behind = [&] { return line.substr(words[0].size() + words[1].size() + 2); };
  if (line == kLoginLine) return LoginLine{};
  if (line == kScriptLine) return ScriptLine{};
  if (words[1] == "MISSING") return MissingLine{core::printable(behind(), 128)};
  if (words[1] == "UNFIT") return UnusableLine{core::printable(behind(), kShownReason)};
  if (words[1] == "HAVE") {
    const auto bytes = core::parse_number<std::uint64_t>(behind());
    if (!bytes || !program_bytes_ || *bytes > *program_bytes_) return std::nullopt;
    return HaveLine{*bytes};
  }
  if (words[1] != "CONNECT" || words[2].find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  if (words[2] != kVersion) return OtherVersionLine{core::printable(words[2], 16)};
  if (words.size() != kConnectWords) return std::nullopt;
  const auto port = core::parse_number<std::uint16_t>(words[3]);
  auto key = Key::parse(words[4]);
  if (!port || !key) return std::nullopt;
  return ConnectLine{*port, std::move(*key), parse_candidates(words[5], *port)};
}

std::optional<GreetingReader::Line> GreetingReader::next() {
  for (;;) {
    const auto end = arrived_.find('\n');
    if (end == std::string::npos) {
      // A line of the far end is shorter: this one is noise.
      if (arrived_.size() > kMaxLineBytes) noise_ += std::exchange(arrived_, {});
      return std::nullopt;
    }
    const std::string line = arrived_.substr(0, end);
    arrived_.erase(0, end + 1);
    if (auto words = parse(line)) {
      // The far end's line begins with a newline, which is no noise where no line was unfinished.
      if (noise_ == "\n" || noise_.ends_with("\n\n")) noise_.pop_back();
      return words;
    }
    noise_.append(line).push_back('\n');
  }
}

std::string GreetingReader::take_noise(bool all) {
  if (all) noise_ += std::exchange(arrived_, {});
  // An empty last line is kept: it may be the newline before the far end's line.
  std::string taken = std::exchange(noise_, {});
  if (!all && (taken == "\n" || taken.ends_with("\n\n"))) {
    taken.pop_back();
    noise_.assign(1, '\n');
  }
  return taken;
}

}  // namespace udtcat::ssh
