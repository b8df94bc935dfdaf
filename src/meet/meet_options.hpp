// SPDX-License-Identifier: Apache-2.0
/// The command line of udtcat meet.
#pragma once

#include <string>

#include <udtcat/result.hpp>
#include <udtcat/units.hpp>

#include "meet/peer_ledger.hpp"
#include "tool/cli/command_line.hpp"
#include "tool/cli/options.hpp"

namespace udtcat::meet {

struct MeetOptions : tool::Options {
  bool serves_everybody = false;  ///< --public
  PlaceLimits place{};
  BitRate pair_rate{};  ///< of the datagrams of one pair, both ways together
  BitRate rate{};       ///< of those of all
};

/// errors: Errc::bad_argument
[[nodiscard]] Result<MeetOptions> parse_meet_options(const tool::Words& arguments);
[[nodiscard]] tool::DeclaredOptions meet_options_declared();
[[nodiscard]] std::string meet_help_text();

/// "UDP 9000-9100 and TCP 9000", for people with a firewall; the ports that the relays have follow the place's own.
[[nodiscard]] std::string firewall_text(std::uint16_t port, std::size_t pairs, bool with_tcp);

}  // namespace udtcat::meet
