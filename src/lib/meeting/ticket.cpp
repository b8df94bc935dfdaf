// SPDX-License-Identifier: Apache-2.0
#include <udtcat/ticket.hpp>

#include <algorithm>
#include <utility>

#include "lib/core/text.hpp"
#include "lib/crypto/key_file.hpp"

namespace udtcat {

namespace {

constexpr std::string_view kKeyPrefix = "udtcat1-";  // spec: docs/spec/handshake.md §1

bool is_digit(char c) { return c >= '0' && c <= '9'; }

tl::unexpected<Error> no_ticket(std::string why) {
  return fail(Errc::bad_argument, "read a ticket", "allowed: HOST:PORT/KEY, as it was printed; " + std::move(why));
}

}  // namespace

bool Ticket::is_meant(std::string_view word) {
  const auto slash = word.find('/');
  if (word.starts_with(kKeyPrefix) || word.find("/" + std::string(kKeyPrefix)) != std::string_view::npos) return true;
  if (slash == std::string_view::npos || slash + 1 == word.size()) return false;  // a directory, with its slash
  const std::string_view place = word.substr(0, slash);
  if (!kKeyPrefix.starts_with(word.substr(slash + 1)) || place.find('@') != std::string_view::npos) return false;
  const auto colon = place.rfind(':');
  return colon != std::string_view::npos && colon > 0 && colon + 1 < place.size() &&
         std::ranges::all_of(place.substr(colon + 1), is_digit);
}

Result<Ticket> Ticket::parse(std::string_view text) {
  text = core::trimmed(text, " \t\r\n\v\f");
  const auto slash = text.find('/');
  if (slash == std::string_view::npos)
    return no_ticket(text.starts_with(kKeyPrefix) ? "this is a key alone, without its place" : "this has no /KEY");
  auto at = parse_peer(text.substr(0, slash));
  if (!at || at->port == 0) return no_ticket("what stands before the / in this one is no HOST:PORT");
  auto key = Key::parse(text.substr(slash + 1));
  if (!key) return no_ticket("what stands behind the / in this one is no key: " + key.error().cause);
  return Ticket{std::move(*at), std::move(*key)};
}

Result<Ticket> Ticket::from_file(const std::string& path) {
  return crypto::secret_from_file(path, Key::FromFile::any_kind, parse);
}

std::string Ticket::reveal_text() const { return to_string(place) + '/' + key.reveal_text(); }

}  // namespace udtcat
