// SPDX-License-Identifier: Apache-2.0
/// A meeting place and a key as one word, for one transfer by that place.
#pragma once

#include <string>
#include <string_view>

#include <udtcat/endpoint.hpp>
#include <udtcat/key.hpp>
#include <udtcat/result.hpp>

namespace udtcat {

/// "meet.example.org:9000/udtcat1-…": its listener is registered there by the key. Source: docs/spec/meet.md §9
struct Ticket {
  HostPort place;
  Key key;

  /// Whether a word is one, or what a cut has left of one; a path, or a host with a directory, seldom is.
  [[nodiscard]] static bool is_meant(std::string_view word);
  /// Total. Surrounding white space is ignored.  errors: Errc::bad_argument, never quoting the key
  [[nodiscard]] static Result<Ticket> parse(std::string_view text);
  /// The ticket in a file; of a pipe the first line is read, and no more. Blocks while it reads.
  /// errors: as of Key::from_file()
  [[nodiscard]] static Result<Ticket> from_file(const std::string& path);

  /// The text form. The caller prints it only where the user asked for it.
  [[nodiscard]] std::string reveal_text() const;
};

}  // namespace udtcat
