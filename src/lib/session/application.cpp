// SPDX-License-Identifier: Apache-2.0
#include "lib/session/application.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "lib/core/printable.hpp"
#include "lib/core/text.hpp"

namespace udtcat::session {

namespace {

// spec: handshake.md §4
constexpr std::array<std::string_view, 8> kAssigned{"pipe",    "forward", "rsh",   "gridftp",
                                                    "gateway", "driver",  "bench", "trees"};
constexpr std::uint8_t kFirst = 1;  // spec: handshake.md §4

std::string shown(std::string_view application) {
  if (application.empty()) return "nothing that it says, as an older udtcat";
  if (application.starts_with('#')) return "what only a later udtcat knows";
  return std::string(application);
}

}  // namespace

std::uint8_t assigned_number(std::string_view application) {
  if (application.starts_with('#')) return core::parse_number<std::uint8_t>(application.substr(1)).value_or(0);
  const auto* const found = std::ranges::find(kAssigned, application);
  return found == kAssigned.end() ? 0 : static_cast<std::uint8_t>(found - kAssigned.begin() + kFirst);
}

std::string application_of(std::uint8_t number) {
  if (number < kFirst || number >= kFirst + kAssigned.size()) return fmt::format("#{}", number);
  return std::string(kAssigned[number - kFirst]);
}

Status check_application(const SessionOptions& session) {
  if (is_service_name(session.application)) return {};
  return fail(
      Errc::bad_argument,
      "use the application name \"" + core::printable(session.application, core::kShownBytes) + "\"",
      fmt::format("SessionOptions::application needs 1 to {} letters, digits, '-', '_' or '.'", kMaxServiceNameBytes));
}

std::string application_refusal(std::string_view listener, std::string_view connector,
                                decltype(SessionOptions::commands_of) commands_of) {
  const auto none = [](std::string_view) { return ApplicationCommands{}; };
  const std::string_view dials = (commands_of != nullptr ? commands_of : none)(listener).dials;
  const std::string_view listens = (commands_of != nullptr ? commands_of : none)(connector).listens;
  return fmt::format("the listener is for {}{}{}; the connector is for {}{}{}", shown(listener),
                     dials.empty() ? "" : ", which is dialled by ", dials, shown(connector),
                     listens.empty() ? "" : ", which dials ", listens);
}

}  // namespace udtcat::session
