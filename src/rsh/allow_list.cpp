#include "rsh/allow_list.hpp"

#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "lib/core/printable.hpp"
#include "tool/shell_words.hpp"

namespace udtcat::rsh {

namespace {

std::string trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r";
  const auto begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(kSpace) - begin + 1));
}

}  // namespace

Result<AllowList> AllowList::parse(std::string_view text, const std::string& name) {
  AllowList list;
  std::istringstream lines{std::string(text)};
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const std::string content = trimmed(line);
    if (content.empty() || content.starts_with('#')) continue;
    constexpr std::string_view kIs = " = ";
    const auto is = content.find(kIs);
    const std::string asked = trimmed(content.substr(0, is));
    auto words =
        is == std::string::npos ? std::vector<std::string>{} : tool::split_words(content.substr(is + kIs.size()));
    if (asked.empty() || words.empty())
      return fail(Errc::bad_argument, fmt::format("{}, line {}", name, number), "wanted: TEXT = PROGRAM WORDS...");
    if (!list.programs_.emplace(asked, std::move(words)).second)
      return fail(Errc::bad_argument, fmt::format("{}, line {}", name, number), "\"" + asked + "\" is there already");
  }
  return list;
}

Result<bridge::ChildRequest> AllowList::launch(const ControlMessage& request) const {
  const auto* command = std::get_if<RunCommand>(&request);
  const auto found = command == nullptr ? programs_.end() : programs_.find(command->text);
  if (found == programs_.end())
    return fail(Errc::stream_refused, "run a command",
                fmt::format("this daemon's list does not have \"{}\"",
                            command == nullptr ? "a subsystem" : core::printable(command->text, core::kShownBytes)));
  return bridge::ChildRequest{.program = found->second.front(), .words = found->second, .core_limit_bytes = {}};
}

}  // namespace udtcat::rsh
