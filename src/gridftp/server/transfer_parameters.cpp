// SPDX-License-Identifier: Apache-2.0
#include "gridftp/server/transfer_parameters.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "gridftp/dialogue/command.hpp"
#include "gridftp/dialogue/data_port.hpp"
#include "lib/core/try.hpp"

namespace udtcat::gridftp {

namespace {

constexpr std::size_t kMaxConnections = 64;              // guess: that we make for one client, over all addresses
constexpr std::size_t kMaxModeEBlockBytes = 16'777'216;  // guess: 1 MiB on each of 16; Globus' has it on 64

DataOptions tcp_of(DataOptions data) {
  data.kind = DataKind::tcp;
  return data;
}

}  // namespace

std::optional<std::uint64_t> read_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || number > IncomingFile::kMaxBytes) return std::nullopt;
  return number;
}

Reply to_reply(const Error& error) {
  switch (error.code) {
    case Errc::local_read_failed:
    case Errc::stream_refused:
      // spec: RFC 959 §4.2.2: 552: exceeded storage allocation
      return make_reply(error.errno_value == EDQUOT ? 552 : 550, error.message());
    case Errc::local_write_failed:
      return make_reply(553, error.message());
    case Errc::out_of_resources:  // of a client that has just gone, perhaps
      return make_reply(450, error.message());
    case Errc::cannot_reach:
    case Errc::cannot_bind:
      return make_reply(425, error.message());
    case Errc::authentication_failed:  // the next time too
    case Errc::parameters_refused:
      return make_reply(535, error.message());
    default:
      return make_reply(426, error.message());
  }
}

TransferParameters::TransferParameters(boost::asio::io_context& io, std::shared_ptr<Service> service,
                                       const Quota& quota, const ControlEnds& ends)
    : io_(io),
      service_(std::move(service)),
      quota_(quota),
      local_(ends.local.with_port(0)),
      peer_(ends.peer.with_port(0)),
      peer_key_(ends.peer_key),
      level_(options_.data.session.protection),
      path_(io, make_stack(io, tcp_of(options_.data)),
            [this] { return service_->data_slots.take(peer_, quota_.data_connections); }) {}

// ---- MODE, parallelism, stack and protection ------------------------------------------------------------------------

Reply TransferParameters::set_mode(const std::string& mode) {
  const bool blocks = to_upper(mode) == "E";
  if (!blocks && to_upper(mode) != "S") return make_reply(504, "The modes are E and S.");
  if (blocks != mode_e_) path_.close();
  mode_e_ = blocks;
  return make_reply(200, blocks ? "Mode E: blocks, on several connections." : "Mode S: a stream.");
}

/// "Parallelism=4,4,4;": where to begin, the least, the most. The first counts, as with Globus.
Reply TransferParameters::set_parallelism(const std::string& options) {
  constexpr std::string_view kName = "PARALLELISM=";
  const auto at = to_upper(options).find(kName);
  if (at == std::string::npos)
    return make_reply(200, "Ignored.");  // stripe layouts and the like, which change nothing here
  const auto count = read_number(std::string_view(options).substr(at + kName.size()));
  if (!count || *count == 0) return make_reply(501, "Parallelism takes a number above 0.");
  parallelism_ = std::min<std::size_t>(*count, kMaxConnections);
  path_.close();
  return make_reply(200, fmt::format("Parallelism {}.", parallelism_));
}

Protection TransferParameters::protection() const {
  const bool protects = kind_ == DataKind::session && (authenticates_ || level_ > Protection::auth);
  return protects ? level_ : Protection::clear;
}

Reply TransferParameters::change_stack() {
  DataOptions data = options_.data;
  data.kind = kind_;
  data.session.protection = protection();
  if (!options_.third_party) data.only_peer = peer_key_;
  if (protection() < options_.least)
    return make_reply(
        536, fmt::format("Data have to be {} here: SITE SETNETSTACK udtcat, DCAU A, PROT.", to_string(options_.least)));
  if (protection() != Protection::clear && !data.credentials)
    return make_reply(534, "This server has no key: nothing can be proved or protected.");
  if (protection() == Protection::clear) data.credentials = nullptr;
  path_.use(make_stack(io_, data));
  return make_reply(200, fmt::format("Data are {}.", to_string(protection())));
}

/// "udtcat", "udt,gsi", "tcp:opt=value": from the bottom up.
Reply TransferParameters::set_stack(const std::string& stack) {
  const std::string name = stack.substr(0, stack.find_first_of(":,"));
  if (name != "tcp" && name != "udt" && name != "udtcat") return make_reply(501, "The stacks are tcp, udt and udtcat.");
  if (stack.find(",gsi") != std::string::npos && authenticates_)
    return make_reply(534, "There is no GSI here: DCAU N first, or no gsi.");
  if (name != "udtcat" && protection_agreed_)
    return make_reply(536, "Protected data were asked for, and " + name + " has none: DCAU N and PROT C first.");
  const DataKind before = std::exchange(kind_, name == "tcp"   ? DataKind::tcp
                                               : name == "udt" ? DataKind::udt
                                                               : DataKind::session);
  Reply answer = change_stack();
  if (answer.code != 200) kind_ = before;
  return answer;
}

Reply TransferParameters::set_authentication(const std::string& mode) {
  if (mode != "A" && mode != "N") return make_reply(504, "DCAU is A or N here.");
  if (mode == "A" && kind_ != DataKind::session)
    return make_reply(534, "Nothing can be proved over tcp or udt: SITE SETNETSTACK udtcat, or DCAU N.");
  if (mode == "A" && !options_.data.credentials)
    return make_reply(534, "This server has no key: nothing can be proved.");
  if (mode == "A") level_ = std::max(level_, Protection::auth);
  const bool before = std::exchange(authenticates_, mode == "A");
  Reply answer = kind_ == DataKind::session ? change_stack() : make_reply(200, "DCAU N.");
  if (answer.code != 200)
    authenticates_ = before;
  else
    protection_agreed_ = authenticates_ || (protection_agreed_ && level_ > Protection::auth);
  return answer;
}

Reply TransferParameters::set_protection(const std::string& level) {
  if (level != "C" && level != "S" && level != "P") return make_reply(536, "The levels are C, S and P.");
  if (kind_ != DataKind::session)
    return level == "C" ? make_reply(200, "Data are clear.")
                        : make_reply(536, "Nothing can be protected over tcp or udt: SITE SETNETSTACK udtcat first.");
  const Protection before = std::exchange(level_, level == "P"   ? Protection::private_
                                                  : level == "S" ? Protection::safe
                                                                 : Protection::auth);
  Reply answer = change_stack();
  if (answer.code != 200) level_ = before;
  protection_agreed_ = protection_agreed_ || (answer.code == 200 && level_ > Protection::auth);
  if (level == "C" && !authenticates_) protection_agreed_ = false;
  return answer;
}

// ---- Data ports -----------------------------------------------------------------------------------------------------

/// Data of a session may come from any host, as its peer proves the key, with key pairs the client's own.
Result<Endpoint> TransferParameters::open_port() {
  const bool from_anywhere = options_.third_party || protection() > Protection::clear;
  UDTCAT_TRY(const auto ports, path_.listen(local_, 1, from_anywhere ? std::nullopt : std::optional(peer_)));
  if (!options_.data_address) return ports.front();
  return options_.data_address->with_port(ports.front().port());
}

Reply TransferParameters::answer_pasv() {
  if (local_.family() != AddressFamily::ipv4) return make_reply(522, "PASV is for IPv4 only: EPSV.");
  const auto port = open_port();
  if (!port) return to_reply(port.error());
  return make_reply(227, fmt::format("Entering Passive Mode ({})", to_data_port(*port)));
}

Reply TransferParameters::answer_spas() {
  if (local_.family() != AddressFamily::ipv4) return make_reply(522, "SPAS is for IPv4 only: EPSV.");
  const auto port = open_port();
  if (!port) return to_reply(port.error());
  Reply answer;
  answer.code = 229;
  answer.lines = {"Entering Striped Passive Mode", ' ' + to_data_port(*port), "End"};
  return answer;
}

Reply TransferParameters::answer_epsv(const std::string& protocol) {
  const AddressFamily family = local_.family();
  const bool fits = protocol.empty() || protocol == "ALL" || (protocol == "1" && family == AddressFamily::ipv4) ||
                    (protocol == "2" && family == AddressFamily::ipv6);
  if (!fits) return make_reply(522, "The network protocol of this connection is another.");
  const auto port = open_port();
  if (!port) return to_reply(port.error());
  return make_reply(229, fmt::format("Entering Extended Passive Mode (|||{}|)", port->port()));
}

/// spec: RFC 2577 §3
std::optional<Reply> TransferParameters::cannot_aim(const Endpoint& target) const {
  if (!options_.third_party && target.with_port(0) != peer_)
    return make_reply(504, fmt::format("Data go to {} only, where you are: from behind a NAT PASV, and for a transfer "
                                       "between two servers --third-party here.",
                                       peer_.host_to_string()));
  if (const auto allowed = may_connect(target, peer_); !allowed) return make_reply(504, allowed.error().message());
  return std::nullopt;
}

Reply TransferParameters::aim(const std::string& ports) {
  std::vector<Endpoint> at;
  std::string_view rest = ports;
  while (!rest.empty()) {
    const auto blank = rest.find(' ');
    const auto port = parse_data_port(rest.substr(0, blank));
    if (!port || at.size() >= kMaxConnections) return make_reply(501, "A port is written h1,h2,h3,h4,p1,p2.");
    if (auto cannot = cannot_aim(*port)) return *cannot;
    at.push_back(*port);
    rest = blank == std::string_view::npos ? std::string_view() : rest.substr(blank + 1);
  }
  if (at.empty()) return make_reply(501, "No port is given.");
  path_.aim(std::move(at));
  return make_reply(200, "Data go there.");
}

Reply TransferParameters::aim_extended(const std::string& port) {
  const auto target = parse_extended_port(port);
  if (!target) return make_reply(501, "A port is written |1|address|port|.");
  if (auto cannot = cannot_aim(*target)) return *cannot;
  path_.aim(std::vector<Endpoint>(1, *target));
  return make_reply(200, "Data go there.");
}

// ---- The next transfer ----------------------------------------------------------------------------------------------

std::optional<Reply> TransferParameters::refusal(DataPath::Role needed) const {
  if (path_.role() == DataPath::Role::none) return make_reply(425, "PASV or PORT first.");
  if (mode_e_ && path_.role() != needed)
    return make_reply(425, needed == DataPath::Role::active ? "In mode E the sender connects: PORT first."
                                                            : "In mode E the sender connects: PASV first.");
  if (options_.least > Protection::clear && kind_ != DataKind::session)
    return make_reply(536, fmt::format("Data have to be {} here: SITE SETNETSTACK udtcat.", to_string(options_.least)));
  return std::nullopt;
}

std::size_t TransferParameters::connections_to_each() const {
  const std::size_t addresses = std::max<std::size_t>(1, path_.addresses());
  return std::min(parallelism_, std::max<std::size_t>(1, kMaxConnections / addresses));
}

std::size_t TransferParameters::most_block_bytes() const {
  return kMaxModeEBlockBytes / (connections_to_each() * std::max<std::size_t>(1, path_.addresses()));
}

}  // namespace udtcat::gridftp
