// SPDX-License-Identifier: Apache-2.0
#include "ssh/fallback_cache.hpp"

#include <algorithm>
#include <array>
#include <sstream>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tool/cli/user_files.hpp"

namespace udtcat::ssh {

namespace {

struct ReasonName {
  FallbackReason reason;
  std::string_view word;  ///< in the file
  std::string_view text;
};
constexpr std::array kReasons{
    ReasonName{FallbackReason::udp_blocked, "udp-blocked", "UDP did not get through"},
    ReasonName{FallbackReason::udp_slow, "udp-slow", "UDP was slower than ssh"},
    ReasonName{FallbackReason::one_command, "one-command", "its login ran no command of ours"},
};

struct CacheLine {
  std::string destination;
  FallbackReason reason;
  FallbackCache::Clock::time_point found_at;
};

std::optional<CacheLine> line_of(const std::string& text) {
  std::istringstream words(text);
  std::string destination;
  std::string word;
  std::int64_t seconds = 0;
  if (!(words >> destination >> word >> seconds) || seconds < 0) return std::nullopt;
  const auto known = std::ranges::find(kReasons, word, &ReasonName::word);
  if (known == kReasons.end()) return std::nullopt;
  return CacheLine{destination, known->reason, FallbackCache::Clock::time_point(std::chrono::seconds(seconds))};
}

/// The lines in force, oldest first.
std::vector<CacheLine> lines_of(const std::filesystem::path& file, FallbackCache::Clock::time_point now) {
  std::vector<CacheLine> lines;
  std::istringstream whole(tool::read_cache_file(file, FallbackCache::kMaxFileBytes));
  for (std::string text; std::getline(whole, text);) {
    auto line = line_of(text);
    if (line && line->found_at <= now && now - line->found_at <= FallbackCache::kLifetime)
      lines.push_back(std::move(*line));
  }
  return lines;
}

void write_lines(const std::filesystem::path& file, const std::vector<CacheLine>& lines) {
  std::string text;
  const std::size_t first = lines.size() - std::min(lines.size(), FallbackCache::kMaxLines);
  for (std::size_t i = first; i < lines.size(); ++i) {
    const auto known = std::ranges::find(kReasons, lines[i].reason, &ReasonName::reason);
    const auto found_at = std::chrono::duration_cast<std::chrono::seconds>(lines[i].found_at.time_since_epoch());
    text += fmt::format("{} {} {}\n", lines[i].destination, known->word, found_at.count());
  }
  tool::replace_cache_file(file, text);
}

}  // namespace

std::string_view to_text(FallbackReason reason) {
  return std::ranges::find(kReasons, reason, &ReasonName::reason)->text;
}

FallbackCache::FallbackCache(std::filesystem::path file, std::string destination,
                             std::function<Clock::time_point()> now)
    : file_(std::move(file)), destination_(std::move(destination)), now_(std::move(now)) {}

std::optional<FallbackCache> FallbackCache::of_user(std::string destination) {
  const auto file = tool::user_cache("fallbacks");
  if (!file) return std::nullopt;
  return std::optional<FallbackCache>(std::in_place, *file, std::move(destination), Clock::now);
}

std::optional<FallbackReason> FallbackCache::find() const {
  for (const CacheLine& line : lines_of(file_, now_()))
    if (line.destination == destination_) return line.reason;
  return std::nullopt;
}

void FallbackCache::note(FallbackReason reason) const {
  auto lines = lines_of(file_, now_());
  std::erase_if(lines, [this](const CacheLine& line) { return line.destination == destination_; });
  lines.push_back({destination_, reason, now_()});
  write_lines(file_, lines);
}

void FallbackCache::forget() const {
  auto lines = lines_of(file_, now_());
  if (std::erase_if(lines, [this](const CacheLine& line) { return line.destination == destination_; }) > 0)
    write_lines(file_, lines);
}

}  // namespace udtcat::ssh
