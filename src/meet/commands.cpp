// SPDX-License-Identifier: Apache-2.0
#include "meet/commands.hpp"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "lib/core/user_text.hpp"
#include "meet/meet_command.hpp"
#include "meet/meet_options.hpp"
#include "tool/program/check_summary.hpp"

namespace udtcat::meet {

namespace {

std::string rate_text(BitRate rate) {
  return rate.unlimited() ? "as fast as it can" : "at most " + core::format_bit_rate(rate);
}

class MeetInvocation final : public tool::OptionsInvocation<MeetOptions> {
 public:
  using OptionsInvocation::OptionsInvocation;

  [[nodiscard]] bool needs_key() const override { return !options_.serves_everybody; }
  /// A key that the user has for other things lets nobody in here.
  [[nodiscard]] Status prepare(bool has_key_candidate, tool::Console& /*console*/) override {
    if (options_.serves_everybody || options_.key_file || options_.peers_file || has_key_candidate) return {};
    return tool::misplaced("meet",
                           "needs -k FILE, the key of those that may come, --peers FILE, their key pairs, or --public");
  }
  [[nodiscard]] Result<tool::Words> check_summary() const override {
    const std::string where = tool::local_address_text("udp", options_.local, options_.family);
    tool::Words lines{
        fmt::format("a meeting place at {}", where),
        fmt::format("lets in {}", options_.serves_everybody ? "everybody" : "those who prove the key"),
        fmt::format("takes {} registrations and {} pairs at a time", options_.place.registrations,
                    options_.place.pairs),
        fmt::format("relays for one pair {}, for all {}", rate_text(options_.pair_rate), rate_text(options_.rate))};
    if (options_.local.port != 0)
      lines.push_back(
          fmt::format("a firewall has to let in {}", firewall_text(options_.local.port, options_.place.pairs, true)));
    return lines;
  }
  [[nodiscard]] tool::ExitStatus run(tool::FoundCredentials found, const tool::RunContext& context) override {
    return meet_command(options_, std::move(found), context.console);
  }
};

}  // namespace

tool::Commands commands() {
  return {{.words = {"meet"},
           .help = meet_help_text,
           .parse = tool::parse_as<MeetInvocation, parse_meet_options>,
           .options = meet_options_declared}};
}

}  // namespace udtcat::meet
