// SPDX-License-Identifier: Apache-2.0
#include "tool/cli/applications.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace udtcat::tool {

namespace {

using Row = std::pair<std::string_view, ApplicationCommands>;
constexpr std::array<Row, 9> kCommands{{
    {kPipe, {"udtcat -l PORT", "udtcat HOST PORT"}},
    {kForward, {"udtcat -l PORT --to PLACE", "udtcat HOST PORT --from PLACE"}},
    {kRsh, {"udtcat rsh-server, which ssh starts", "udtcat rsh HOST COMMAND"}},
    {kGridftp, {"udtcat gridftp serve", "udtcat gridftp get, put or copy"}},
    {kGateway, {"udtcat gridftp gateway -l", "udtcat gridftp gateway HOST PORT"}},
    {kDriver, {"a GridFTP server's data port", "a GridFTP client's data connection"}},
    {kBench, {"udtcat -l PORT", "udtcat bench HOST PORT"}},
    {kTrees, {"udtcat receive -l or send --serve", "udtcat send or receive with HOST PORT"}},
    {kMeet, {"udtcat meet -l PORT", "any command with --via HOST"}},
}};

}  // namespace

ApplicationCommands commands_of(std::string_view application) {
  const auto* const found = std::ranges::find(kCommands, application, &Row::first);
  return found == kCommands.end() ? ApplicationCommands{} : found->second;
}

}  // namespace udtcat::tool
