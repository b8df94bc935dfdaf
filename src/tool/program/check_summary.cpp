// SPDX-License-Identifier: Apache-2.0
#include "tool/program/check_summary.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"
#include "tool/identity/key_pair_lookup.hpp"
#include "tool/status/status_group.hpp"

namespace udtcat::tool {

namespace {

const char* meaning_of(Protection protection) {
  switch (protection) {
    case Protection::private_:
      return "private: enciphered and authenticated";
    case Protection::safe:
      return "safe: authenticated, for everybody on the path to read";
    case Protection::auth:
      return "auth: only the peer is authenticated";
    case Protection::clear:
      break;
  }
  return "clear: not protected at all";
}

std::string transport_summary(const TransportOptions& transport) {
  if (transport.kind == TransportKind::libudt) return "packets are moved by libudt";
  if (transport.kind == TransportKind::tcp) return "TCP moves the data";
  const char* else_tcp = transport.kind == TransportKind::automatic ? "; TCP carries them where UDP does not" : "";
  return fmt::format("packets are moved by {}, with up to {} under way each way{}", to_string(transport.congestion),
                     core::format_size(transport.memory_bytes), else_tcp);
}

std::string pair_fact(const Options& options, const FoundCredentials& found) {
  const PairCredentials& pair = *found.credentials->pair();
  std::string text = fmt::format("key pair: {}, {}", found.where, pair.own->public_key().to_string());
  if (found.peers)
    text +=
        fmt::format("; lets in {} of {}", core::format_count(found.peers->list().size(), "peer"), *options.peers_file);
  if (pair.listener) text += fmt::format("; the other end has to be {}", pair.listener->to_string());
  return text;
}

}  // namespace

std::string local_address_text(std::string_view protocol, const HostPort& local, AddressFamily family) {
  if (!local.host.empty() && local.host != "*") return fmt::format("{} {}", protocol, to_string(local));
  const char* every = family == AddressFamily::ipv4   ? "every IPv4 address"
                      : family == AddressFamily::ipv6 ? "every IPv6 address"
                                                      : "every address";
  if (local.port == 0) return fmt::format("{}, a port that the system chooses, at {}", protocol, every);
  return fmt::format("{} port {} of {}", protocol, local.port, every);
}

Result<std::string> key_summary(const Options& options, KeyCandidates candidates) {
  if (options.session.protection == Protection::clear) return "no key: anybody can be the other end";
  if (options.ticket.made) return "key: a new one, in the ticket that is printed for the other end";
  if (options.ticket.key || options.ticket.file) return "key: that of the ticket";
  std::error_code unknown;
  const auto& file = file_of_key(options, candidates);
  if (file && !std::filesystem::is_regular_file(*file, unknown) && std::filesystem::exists(*file, unknown))
    return fmt::format("key: read from {}, which is no file on a disk, at the start", *file);
  if (!file && !candidates.environment && !users_key_file()) {
    UDTCAT_TRY(const bool wants_pair, asks_for_pair(options));
    if (!wants_pair)
      return std::string(options.shows_new_key
                             ? "key: none is given; started at a terminal it shows a new one there, else it fails"
                             : "key: none is given; started at a terminal it asks for it there, else it fails");
  }
  const auto found = find_credentials(options, std::move(candidates), [](const std::string& question) {
    return fail(Errc::bad_argument, question, "nobody is asked by --check");
  });
  if (!found) return tl::unexpected(found.error());
  if (found->credentials->shared() == nullptr) return pair_fact(options, *found);
  return "key: that of " + found->where + (found->doubt.empty() ? "" : "; " + found->doubt);
}

Result<Words> session_summary(const Options& options) {
  const SessionOptions& session = options.session;
  Words lines;
  if (!session.own_name.empty()) lines.push_back("this end is called " + session.own_name);
  if (!session.expected_peer.empty()) lines.push_back("the other end has to be called " + session.expected_peer);
  std::string protection = std::string("data: ") + meaning_of(session.protection);
  if (session.cipher) protection += fmt::format(", by {}", to_string(*session.cipher));
  lines.push_back(std::move(protection));
  if (!options.transport.rate.unlimited())
    lines.push_back(fmt::format("sends at most {}", core::format_bit_rate(options.transport.rate)));
  lines.push_back(transport_summary(options.transport));
  lines.push_back(fmt::format("a peer is lost after {} of silence", core::format_duration(session.idle_timeout)));
  if (options.stats_interval)
    lines.push_back(fmt::format("figures: a line each {}", core::format_duration(*options.stats_interval)));
  if (options.metrics)
    lines.push_back(fmt::format("metrics: for whoever connects to {}",
                                local_address_text("tcp", *options.metrics, AddressFamily::any)));
  if (options.status_group.empty()) return lines;
  UDTCAT_CHECK(find_own_group("--status-group", options.status_group));
  lines.push_back("udtcat status: also for members of the group " + options.status_group);
  return lines;
}

}  // namespace udtcat::tool
