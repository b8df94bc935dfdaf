// SPDX-License-Identifier: Apache-2.0
#include "tool/run/warnings.hpp"

#include <fmt/format.h>

#include "lib/core/log.hpp"
#include "tool/identity/peers_file.hpp"

namespace udtcat::tool {

std::optional<std::string> protection_warning(Protection protection) {
  switch (protection) {
    case Protection::private_:
      return std::nullopt;
    case Protection::safe:
      return "--protect safe: the data cannot be changed on the way, but everybody on the path can read it";
    case Protection::auth:
      return "--protect auth: the peer has the key, but everybody on the path can read and change the data";
    case Protection::clear:
      break;
  }
  return "WARNING: --protect clear: no key, no encryption, no check. Anybody can be the other side, and everybody on "
         "the path can read and "
         "change the data";
}

void warn_of_protection(Protection protection, Console& console) {
  const auto warning = protection_warning(protection);
  if (!warning) return;
  if (protection == Protection::clear)
    console.line("udtcat: " + *warning);
  else
    core::log().warn("{}", *warning);
}

std::string plain_warning() {
  return "WARNING: --plain: no key, no encryption, no proof. Anybody can be the other side, everybody on the path can "
         "read and change the data, and nothing shows that the last byte arrived";
}

namespace {

std::string refusal_text(const Endpoint& peer, const Error& why) {
  return fmt::format("{}: {}", peer.to_string(), why.message());
}

/// The kind is the code: unauthenticated peers can cause any number of texts.
std::string kind_of_refusal(const Error& why) {
  const bool of_list = why.what.starts_with(kAdmitKey);
  // The text of Errc::authentication_failed is about a shared key only.
  if (why.code == Errc::authentication_failed)
    return of_list ? "the peers file does not let this key in" : "the keys do not match";
  return of_list ? "the peers file does not let this key in at this time" : make_error_code(why.code).message();
}

}  // namespace

std::string peer_text(const Connection& connection) {
  const std::string address = connection.peer().to_string();
  const auto identity = connection.peer_identity();
  return identity ? fmt::format("{} ({})", identity->name, address) : address;
}

bridge::EnvironmentVariable peer_variable(const std::optional<PeerIdentity>& peer) {
  return {.name = "UDTCAT_PEER", .value = peer ? std::optional(peer->name) : std::nullopt};
}

RefusalLog::RefusalLog(boost::asio::io_context& io) : log_(io, 1) {}

void RefusalLog::add(const Endpoint& peer, const Error& why) {
  const std::string reason = kind_of_refusal(why);
  RefusalCount& kind = counts_[reason];
  ++kind.count;
  kind.latest = std::chrono::steady_clock::now();
  kind.last = refusal_text(peer, why);
  log_.report(reason, {.kind = EventKind::refused,
                       .severity = Severity::warning,
                       .message = "refused " + kind.last,
                       .address = peer.to_string(),
                       .reason = reason});
}

std::vector<RefusalSnapshot> RefusalLog::snapshots() const {
  std::vector<RefusalSnapshot> snapshots;
  for (const auto& [reason, kind] : counts_)
    snapshots.push_back({reason, kind.count, std::chrono::steady_clock::now() - kind.latest, kind.last});
  return snapshots;
}

}  // namespace udtcat::tool
