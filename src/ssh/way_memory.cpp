// SPDX-License-Identifier: Apache-2.0
#include "ssh/way_memory.hpp"

#include <algorithm>
#include <array>
#include <sstream>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tool/cli/user_files.hpp"

namespace udtcat::ssh {

namespace {

struct FindingWords {
  Finding finding;
  std::string_view word;  ///< in the file
  std::string_view text;
};
constexpr std::array kFindings{
    FindingWords{Finding::udp_blocked, "udp-blocked", "UDP did not get through"},
    FindingWords{Finding::udp_slow, "udp-slow", "UDP was slower than ssh"},
    FindingWords{Finding::one_command, "one-command", "its login ran no command of ours"},
};

struct WayLine {
  std::string destination;
  Finding finding;
  WayMemory::Clock::time_point found_at;
};

std::optional<WayLine> line_of(const std::string& text) {
  std::istringstream words(text);
  std::string destination;
  std::string word;
  std::int64_t seconds = 0;
  if (!(words >> destination >> word >> seconds) || seconds < 0) return std::nullopt;
  const auto known = std::ranges::find(kFindings, word, &FindingWords::word);
  if (known == kFindings.end()) return std::nullopt;
  return WayLine{destination, known->finding, WayMemory::Clock::time_point(std::chrono::seconds(seconds))};
}

/// Those that hold now, in the order in which they were found.
std::vector<WayLine> lines_of(const std::filesystem::path& file, WayMemory::Clock::time_point now) {
  std::vector<WayLine> lines;
  std::istringstream whole(tool::read_cache_file(file, WayMemory::kMaxFileBytes));
  for (std::string text; std::getline(whole, text);) {
    auto line = line_of(text);
    if (line && line->found_at <= now && now - line->found_at <= WayMemory::kLifetime)
      lines.push_back(std::move(*line));
  }
  return lines;
}

void write_lines(const std::filesystem::path& file, const std::vector<WayLine>& lines) {
  std::string text;
  const std::size_t first = lines.size() - std::min(lines.size(), WayMemory::kMaxLines);
  for (std::size_t i = first; i < lines.size(); ++i) {
    const auto known = std::ranges::find(kFindings, lines[i].finding, &FindingWords::finding);
    const auto found_at = std::chrono::duration_cast<std::chrono::seconds>(lines[i].found_at.time_since_epoch());
    text += fmt::format("{} {} {}\n", lines[i].destination, known->word, found_at.count());
  }
  tool::replace_cache_file(file, text);
}

}  // namespace

std::string_view to_text(Finding finding) {
  return std::ranges::find(kFindings, finding, &FindingWords::finding)->text;
}

WayMemory::WayMemory(std::filesystem::path file, std::string destination, std::function<Clock::time_point()> now)
    : file_(std::move(file)), destination_(std::move(destination)), now_(std::move(now)) {}

std::optional<WayMemory> WayMemory::of_user(std::string destination) {
  const auto file = tool::user_cache("ways");
  if (!file) return std::nullopt;
  return std::optional<WayMemory>(std::in_place, *file, std::move(destination), Clock::now);
}

std::optional<Finding> WayMemory::find() const {
  for (const WayLine& line : lines_of(file_, now_()))
    if (line.destination == destination_) return line.finding;
  return std::nullopt;
}

void WayMemory::note(Finding finding) const {
  auto lines = lines_of(file_, now_());
  std::erase_if(lines, [this](const WayLine& line) { return line.destination == destination_; });
  lines.push_back({destination_, finding, now_()});
  write_lines(file_, lines);
}

void WayMemory::forget() const {
  auto lines = lines_of(file_, now_());
  if (std::erase_if(lines, [this](const WayLine& line) { return line.destination == destination_; }) > 0)
    write_lines(file_, lines);
}

}  // namespace udtcat::ssh
