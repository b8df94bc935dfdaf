// SPDX-License-Identifier: Apache-2.0
#include "rsh/allow_list.hpp"

#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "lib/core/printable.hpp"
#include "lib/core/text.hpp"
#include "tool/cli/shell_words.hpp"

namespace udtcat::rsh {

namespace {

constexpr std::string_view kBlanks = " \t\r";

}  // namespace

Result<AllowList> AllowList::parse(std::string_view text, const std::string& name) {
  AllowList list;
  std::istringstream lines{std::string(text)};
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const std::string content(core::trimmed(line, kBlanks));
    if (content.empty() || content.starts_with('#')) continue;
    constexpr std::string_view kIs = " = ";
    const auto is = content.find(kIs);
    const std::string asked(core::trimmed(content.substr(0, is), kBlanks));
    auto words = is == std::string::npos ? std::nullopt : tool::split_words(content.substr(is + kIs.size()));
    if (asked.empty() || !words || words->empty())
      return fail(Errc::bad_argument, fmt::format("{}, line {}", name, number),
                  "wanted: TEXT = PROGRAM WORDS..., with quotes that end");
    if (!list.programs_.emplace(asked, std::move(*words)).second)
      return fail(Errc::bad_argument, fmt::format("{}, line {}", name, number), "\"" + asked + "\" is there already");
  }
  return list;
}

Result<bridge::ChildRequest> AllowList::program_for(const ssh::ControlMessage& request) const {
  const auto* command = std::get_if<ssh::RunCommand>(&request);
  const auto found = command == nullptr ? programs_.end() : programs_.find(command->text);
  if (found == programs_.end())
    return fail(Errc::stream_refused, "run a command",
                fmt::format("this daemon's list does not have \"{}\"",
                            command == nullptr ? "a subsystem" : core::printable(command->text, core::kShownBytes)));
  return bridge::ChildRequest{.program = found->second.front(), .words = found->second, .core_limit_bytes = {}};
}

}  // namespace udtcat::rsh
