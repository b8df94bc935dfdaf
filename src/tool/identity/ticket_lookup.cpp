// SPDX-License-Identifier: Apache-2.0
#include "tool/identity/ticket_lookup.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

#include <udtcat/ticket.hpp>

#include "lib/core/try.hpp"
#include "tool/cli/signal_watch.hpp"
#include "tool/cli/terminal_prompt.hpp"
#include "tool/identity/credential_lookup.hpp"
#include "tool/identity/key_pair_lookup.hpp"

namespace udtcat::tool {

namespace {

Result<Ticket> ticket_in(const std::string& file) {
  const UnblockedSignals meanwhile;
  if (file != kTerminal) return Ticket::from_file(file);
  UDTCAT_TRY(const core::SecretText typed, ask_on_terminal("Ticket: "));
  return Ticket::parse(typed.view());
}

}  // namespace

Status read_ticket(Options& options) {
  const auto& file = options.ticket.file;
  std::error_code unknown;
  if (!file || (options.check && !std::filesystem::is_regular_file(*file, unknown))) return {};
  UDTCAT_TRY(Ticket ticket, ticket_in(*file));
  use_ticket(std::move(ticket), options);
  return {};
}

Result<bool> makes_ticket(const Options& options, bool has_key_candidate) {
  if (!options.ticket.may_be_made || options.ticket.wanted) return options.ticket.may_be_made;
  if (options.key_file || has_key_candidate) return false;
  UDTCAT_TRY(const bool wants_pair, asks_for_pair(options));
  return !wants_pair && !users_key_file();
}

}  // namespace udtcat::tool
