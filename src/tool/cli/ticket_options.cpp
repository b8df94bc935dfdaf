// SPDX-License-Identifier: Apache-2.0
#include "tool/cli/ticket_options.hpp"

#include <utility>

#include <fmt/format.h>

#include "lib/core/try.hpp"
#include "tool/cli/options.hpp"

namespace udtcat::tool {

namespace {

/// Refuses the options of another key, or place, than the ticket's.  ticket   as the user wrote it, without its key
Status check_beside_ticket(const CommandLine& line, const Options& options, const std::string& ticket) {
  for (const char* name : {"-k", "--peers", "--trust-first"})
    if (line.has(name)) return misplaced(fmt::format("{} and {}", ticket, name), "the key is in the ticket");
  if (options.peer_key) return misplaced(ticket + " and --peer PUBLIC-KEY", "the key is in the ticket");
  if (line.has("--via")) return misplaced(ticket + " and --via", "the meeting place is in the ticket");
  if (line.has("-l")) return misplaced(ticket + " and -l", "the end that has made the ticket waits");
  return {};
}

}  // namespace

void add_ticket_options(CommandLine& line, Options& options) {
  line.value("--ticket", options.ticket.file);
  line.value_is(":file");
  line.flag("--new-ticket", options.ticket.wanted);
  line.exclusive("--ticket", "--new-ticket");
  line.check([&]() -> Status {
    if (options.ticket.file) UDTCAT_CHECK(check_beside_ticket(line, options, "--ticket"));
    if (!options.ticket.wanted) return {};
    if (!options.via) return misplaced("--new-ticket", "needs --via, the meeting place to which it leads");
    for (const char* name : {"-k", "--peers", "--trust-first", "-l"})
      if (line.has(name))
        return misplaced(fmt::format("--new-ticket and {}", name), "a ticket has a new key, for one transfer");
    if (options.peer_key) return misplaced("--new-ticket and --peer PUBLIC-KEY", "a ticket has a key of its own");
    return {};
  });
}

Status take_ticket(const CommandLine& line, const std::string& word, Options& options) {
  UDTCAT_TRY(Ticket ticket, Ticket::parse(word));
  UDTCAT_CHECK(check_beside_ticket(line, options, "a ticket"));
  for (const char* name : {"--ticket", "--new-ticket"})
    if (line.has(name)) return misplaced(fmt::format("a ticket and {}", name), "allowed: one ticket");
  use_ticket(std::move(ticket), options);
  return {};
}

void use_ticket(Ticket ticket, Options& options) {
  options.ticket.key = std::make_shared<const Key>(std::move(ticket.key));
  options.via = ticket.place;
  options.peer = ticket.place;  // for messages
}

Status become_ticket_listener(const std::string& counterpart, Options& options) {
  if (options.closed_port_patience == options.connect_timeout)
    return misplaced("--connect-timeout", "without a key this end makes a ticket, and waits: --accept-timeout");
  options.ticket.made = options.listens = true;
  options.counterpart = counterpart;
  options.further.clear();
  return {};
}

}  // namespace udtcat::tool
