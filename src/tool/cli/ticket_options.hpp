// SPDX-License-Identifier: Apache-2.0
/// Tickets on command lines: docs/spec/meet.md §9. No input or output here.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <udtcat/key.hpp>
#include <udtcat/result.hpp>
#include <udtcat/ticket.hpp>

namespace udtcat::tool {

class CommandLine;
struct Options;

/// Of a command that is one transfer: the ticket that the other end has made, or that this one may make.
struct TicketOptions {
  std::optional<std::string> file{};  ///< --ticket: where it stands
  std::shared_ptr<const Key> key{};   ///< that of the ticket, whose place is Options::via
  bool wanted = false;                ///< --new-ticket: one is made also where this user has a key
  bool may_be_made = false;           ///< where there is no key
  bool made = false;                  ///< this end waits, with a new key, for one peer
};

/// --ticket, --new-ticket; behind the options of keys and of meeting places, and behind -l
void add_ticket_options(CommandLine& line, Options& options);
/// An argument that is a ticket.  errors: Errc::bad_argument: it is none; options beside it that it makes superfluous
[[nodiscard]] Status take_ticket(const CommandLine& line, const std::string& word, Options& options);
/// The place and the key of the ticket become those of the options.
void use_ticket(Ticket ticket, Options& options);
/// The command waits for one peer, which runs `counterpart`, with {ticket} and {options} in it.
/// errors: Errc::bad_argument: an option of a connector alone
[[nodiscard]] Status become_ticket_listener(const std::string& counterpart, Options& options);

}  // namespace udtcat::tool
