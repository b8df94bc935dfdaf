// SPDX-License-Identifier: Apache-2.0
/// The names of applications in parameter messages: udtcat's own travel as numbers. See docs/spec/handshake.md §4.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <udtcat/options.hpp>
#include <udtcat/result.hpp>

namespace udtcat::session {

/// Also of what application_of() makes of a number that is assigned to none. 0: it has none, and travels by its name.
[[nodiscard]] std::uint8_t assigned_number(std::string_view application);
/// A number that is assigned to none gives "#" and the number, which is no name that an end may have.
[[nodiscard]] std::string application_of(std::uint8_t number);

/// errors: Errc::bad_argument: it is no name that an application can have
[[nodiscard]] Status check_application(const SessionOptions& session);

/// Said to both ends where they differ, which is why each is called by its part.
[[nodiscard]] std::string application_refusal(std::string_view listener, std::string_view connector,
                                              decltype(SessionOptions::commands_of) commands_of);

}  // namespace udtcat::session
