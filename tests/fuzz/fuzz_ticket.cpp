// SPDX-License-Identifier: Apache-2.0
// Any text gives a ticket or an error; a ticket's text is read as the same again, and nothing is left of its key where
// it is hidden.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <udtcat/ticket.hpp>

#include "tool/cli/key_hiding.hpp"

namespace fuzz_ticket {

using namespace udtcat;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // SAFETY: char may alias anything.
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto ticket = Ticket::parse(text);
  if (!ticket) {
    if (ticket.error().code != Errc::bad_argument) std::abort();
    return 0;
  }
  if (!Ticket::is_meant(ticket->reveal_text())) std::abort();
  const auto again = Ticket::parse(ticket->reveal_text());
  if (!again || again->place.host != ticket->place.host || !(again->key == ticket->key)) std::abort();
  if (tool::without_keys(text).find(ticket->key.reveal_text()) != std::string::npos) std::abort();
  return 0;
}

}  // namespace fuzz_ticket
