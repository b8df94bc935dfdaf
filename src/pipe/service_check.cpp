// SPDX-License-Identifier: Apache-2.0
#include "pipe/service_check.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lib/core/user_text.hpp"
#include "tool/status/stats_text.hpp"

namespace udtcat::pipe {

namespace {

using tool::ProcessSnapshot;

const char* word_of(ServiceState state) {
  switch (state) {
    case ServiceState::ok:
      return "OK";
    case ServiceState::warning:
      return "WARNING";
    case ServiceState::critical:
      return "CRITICAL";
    case ServiceState::unknown:
      break;
  }
  return "UNKNOWN";
}

ServiceCheck said(ServiceState state, const std::string& name, std::string text, const std::string& figures = {}) {
  std::ranges::replace(text, '|', '/');  // the figures begin with one
  return {state, fmt::format("{} - {}: {}{}", word_of(state), name, text, figures.empty() ? "" : " | " + figures)};
}

/// label=value[unit];warning;critical;least.  spec: Monitoring Plugins Development Guidelines, "Performance data"
std::string figures_of(const ProcessSnapshot& process) {
  std::uint64_t refused = 0;
  for (const tool::RefusalSnapshot& kind : process.refused) refused += kind.count;
  std::uint64_t failed = 0;
  for (const tool::TransferTotal& each : process.transfers) failed += each.failed;
  const double dialing = process.dialing ? std::chrono::duration<double>(process.dialing->age).count() : 0;
  return fmt::format(
      "sessions={};;;0 streams={};;;0 rate={}B;;;0 dialling={:.1f}s;0;{};0 refused={}c;;;0 failed={}c;;;0 sent={}B;;;0 "
      "received={}B;;;0",
      process.peers.size() + process.peers_left_out, process.all.streams_open, process.rate.bytes_per_second(), dialing,
      kLongDialing.count(), refused, failed, process.all.bytes_sent, process.all.bytes_received);
}

/// Of each peer whose last transfer, in whichever direction, has failed.
std::vector<std::string> failed_transfers(const std::vector<tool::TransferTotal>& transfers) {
  struct LastTransfers {
    std::optional<std::chrono::system_clock::time_point> complete{};
    std::optional<std::chrono::system_clock::time_point> failed{};
  };
  std::map<std::string_view, LastTransfers> peers;
  for (const tool::TransferTotal& each : transfers) {
    LastTransfers& last = peers[each.peer];
    last.complete = std::max(last.complete, each.last_complete);
    last.failed = std::max(last.failed, each.last_failed);
  }
  std::vector<std::string> failed;
  for (const auto& [peer, last] : peers)
    if (last.failed > last.complete)
      failed.push_back(fmt::format("the last transfer{}{} failed", peer.empty() ? "" : " of ", peer));
  return failed;
}

/// The reasons for a warning, each in a sentence.
std::vector<std::string> complaints_about(const ProcessSnapshot& process) {
  std::vector<std::string> complaints;
  for (const tool::PeerSnapshot& peer : process.peers)
    if (peer.stats.silence.count() > 0)
      complaints.push_back(fmt::format("{} is silent for {}", peer.name.empty() ? peer.address : peer.name,
                                       tool::clock_text(peer.stats.silence)));
  for (const tool::RefusalSnapshot& kind : process.refused)
    if (kind.count > 0 && kind.ago < kRecentRefusal)
      complaints.push_back(fmt::format("refused {}, {}, the last {} ago", core::format_count(kind.count, "peer"),
                                       kind.reason, tool::clock_text(kind.ago)));
  std::ranges::move(failed_transfers(process.transfers), std::back_inserter(complaints));
  constexpr std::size_t kMostComplaints = 4;  // guess: a line of a pager
  if (complaints.size() > kMostComplaints) {
    const std::size_t more = complaints.size() - kMostComplaints;
    complaints.resize(kMostComplaints);
    complaints.push_back(fmt::format("and {} more", more));
  }
  return complaints;
}

ServiceCheck check_process(const std::string& name, const ProcessSnapshot& process) {
  const std::string figures = figures_of(process);
  auto complaints = complaints_about(process);
  ServiceState state = complaints.empty() ? ServiceState::ok : ServiceState::warning;
  if (const auto& dialing = process.dialing) {
    state = dialing->age >= kLongDialing ? ServiceState::critical : ServiceState::warning;
    complaints.insert(complaints.begin(),
                      fmt::format("dialling {} for {}{}{}", dialing->peer, tool::clock_text(dialing->age),
                                  dialing->reason.empty() ? "" : ": ", dialing->reason));
  }
  if (state == ServiceState::ok)
    return said(state, name, fmt::format("{}, for {}", to_sentence(process), tool::clock_text(process.age)), figures);
  return said(state, name, fmt::format("{}", fmt::join(complaints, "; ")), figures);
}

}  // namespace

ServiceCheck check_service(const std::string& name, std::span<const StatusAnswer> answers, bool is_claimed) {
  std::optional<ServiceCheck> worst;
  std::optional<std::string> hung;
  std::size_t closed = 0;
  for (const StatusAnswer& answer : answers) {
    if (answer.snapshot) {
      if (answer.snapshot->service != name) continue;
      ServiceCheck check = check_process(name, *answer.snapshot);
      if (!worst || check.state > worst->state) worst = std::move(check);
    } else if (answer.snapshot.error().code == Errc::local_connect_failed) {
      ++closed;
    } else {
      hung = answer.snapshot.error().message();
    }
  }
  if (worst) return *worst;
  if (hung) return said(ServiceState::critical, name, "it does not answer, or is not in service: " + *hung);
  if (closed > 0)
    return said(
        ServiceState::unknown, name,
        fmt::format("not found, and {} of other users may not be asked: run this as root, or as a member of the "
                    "service's --status-group",
                    core::format_count(closed, "service")));
  if (is_claimed)
    return said(ServiceState::critical, name,
                "a process of another user has that name, as any may: check as that user, or run it by udtcat@");
  return said(ServiceState::critical, name, "it is not in service on this host");
}

}  // namespace udtcat::pipe
