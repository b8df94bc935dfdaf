// SPDX-License-Identifier: Apache-2.0
#include "tool/status/openmetrics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <udtcat/udtcat.hpp>

#include "lib/core/printable.hpp"
#include "tool/cli/log_event.hpp"
#include "tool/status/peer_totals.hpp"

namespace udtcat::tool {

namespace {

using SystemClock = std::chrono::system_clock;

constexpr std::size_t kMaxLabelBytes = 255;  // spec: kMaxServiceNameBytes; names of peers are shorter

/// For both formats.  spec: OpenMetrics 1.0, escaped-string; Prometheus text format 0.0.4, label_value
std::string label_value(std::string_view text) {
  std::string escaped;
  for (const char c : core::printable(text, kMaxLabelBytes)) {
    if (c == '\\' || c == '"') escaped += '\\';
    if (c == '\n')
      escaped += "\\n";
    else
      escaped += c;
  }
  return escaped;
}

double unix_seconds(SystemClock::time_point time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

/// One process, as the families read it.
struct ObservedProcess {
  const ProcessSnapshot& snapshot;
  std::string labels;  // its own
  SystemClock::time_point now;
};

/// The samples of one family. A series that is there already is passed over: a process says what it likes.
class SampleText {
 public:
  explicit SampleText(std::string name) : name_(std::move(name)) {}

  using Label = std::pair<std::string_view, std::string_view>;
  template <typename Number>
  void add(const ObservedProcess& process, std::initializer_list<Label> labels, Number value) {
    std::string all = process.labels;
    for (const auto& [name, text] : labels) all += fmt::format(",{}=\"{}\"", name, label_value(text));
    if (!seen_.insert(all).second) return;
    text_ += fmt::format("{}{{{}}} {}\n", name_, all, value);
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  const std::string name_;
  std::set<std::string> seen_;
  std::string text_;
};

/// The values of the peers that are connected, by the names under which they are counted.
template <typename Value>
std::map<std::string_view, Value> by_peer(const ProcessSnapshot& snapshot) {
  std::map<std::string_view, Value> all;
  for (const PeerTotal& total : snapshot.peer_totals) all.emplace(total.name, Value{});
  return all;
}

template <typename Value>
Value* value_of(std::map<std::string_view, Value>& all, const PeerSnapshot& peer) {
  auto found = all.find(peer.name);
  if (found == all.end()) found = all.find(kOtherPeers);
  return found == all.end() ? nullptr : &found->second;
}

template <typename Member>
void add_peers(const ObservedProcess& process, SampleText& samples, Member member) {
  for (const PeerTotal& total : process.snapshot.peer_totals)
    samples.add(process, {{"peer", total.name}}, total.*member);
}

void add_stream_bytes(const ObservedProcess& process, SampleText& samples) {
  for (const PeerTotal& total : process.snapshot.peer_totals) {
    samples.add(process, {{"peer", total.name}, {"direction", kSent}}, total.bytes_sent);
    samples.add(process, {{"peer", total.name}, {"direction", kReceived}}, total.bytes_received);
  }
}

void add_packets_lost(const ObservedProcess& process, SampleText& samples) {
  for (const PeerTotal& total : process.snapshot.peer_totals) {
    std::uint64_t unknown = total.packets_lost;
    const auto add = [&](std::string_view cause, std::uint64_t lost) {
      lost = std::min(lost, unknown);
      unknown -= lost;
      samples.add(process, {{"peer", total.name}, {"cause", cause}}, lost);
    };
    if (total.packets_lost_path) {
      add("queue", total.packets_lost_queued);
      add("path", *total.packets_lost_path);
    }
    if (unknown > 0) add("unknown", unknown);
  }
}

/// Of the newest session that has measured one.
void add_round_trips(const ObservedProcess& process, SampleText& samples) {
  auto newest = by_peer<const PeerSnapshot*>(process.snapshot);
  for (const PeerSnapshot& peer : process.snapshot.peers) {
    const PeerSnapshot** const known = value_of(newest, peer);
    if (known != nullptr && peer.stats.rtt && (*known == nullptr || peer.age < (*known)->age)) *known = &peer;
  }
  for (const auto& [name, peer] : newest)
    if (peer != nullptr)
      samples.add(process, {{"peer", name}}, std::chrono::duration<double>(*peer->stats.rtt).count());
}

void add_rates(const ObservedProcess& process, SampleText& samples) {
  auto rates = by_peer<double>(process.snapshot);
  for (const PeerSnapshot& peer : process.snapshot.peers)
    if (double* const rate = value_of(rates, peer)) *rate += static_cast<double>(peer.rate.bytes_per_second());
  for (const auto& [name, rate] : rates) samples.add(process, {{"peer", name}}, rate);
}

void add_limits(const ObservedProcess& process, SampleText& samples) {
  auto limits = by_peer<std::set<std::string_view>>(process.snapshot);
  for (const PeerSnapshot& peer : process.snapshot.peers)
    if (auto* const words = value_of(limits, peer); words != nullptr && !peer.limited_by.word.empty())
      words->insert(peer.limited_by.word);
  for (const auto& [name, words] : limits)
    for (const std::string_view word : words) samples.add(process, {{"peer", name}, {"limit", word}}, 1);
}

void add_transfers(const ObservedProcess& process, SampleText& samples) {
  for (const TransferTotal& total : process.snapshot.transfers) {
    const auto& [peer, direction] = std::pair(std::string_view(total.peer), std::string_view(total.direction));
    samples.add(process, {{"peer", peer}, {"direction", direction}, {"result", kComplete}}, total.complete);
    samples.add(process, {{"peer", peer}, {"direction", direction}, {"result", "failed"}}, total.failed);
  }
}

/// Unix time of the last of a kind.
template <typename Member>
void add_last_transfers(const ObservedProcess& process, SampleText& samples, Member member) {
  for (const TransferTotal& total : process.snapshot.transfers)
    if (const auto& last = total.*member)
      samples.add(process, {{"peer", total.peer}, {"direction", total.direction}}, unix_seconds(*last));
}

template <typename Member>
void add_transfer_sums(const ObservedProcess& process, SampleText& samples, Member member) {
  for (const TransferTotal& total : process.snapshot.transfers)
    samples.add(process, {{"peer", total.peer}, {"direction", total.direction}}, total.*member);
}

enum class MetricKind { counter, gauge, info };

struct MetricFamily {
  std::string_view name;  ///< without its suffix
  MetricKind kind;
  std::string_view unit;  ///< that the name ends with; empty: it has none
  std::string_view help;
  void (*add)(const ObservedProcess& process, SampleText& samples);
};

using Process = const ObservedProcess&;
using Samples = SampleText&;

constexpr auto kCounter = MetricKind::counter;
constexpr auto kGauge = MetricKind::gauge;

// spec: docs/spec/metrics.md §2
constexpr std::array kFamilies{
    MetricFamily{"udtcat_build", MetricKind::info, "", "The version of udtcat that says this.",
                 [](Process p, Samples s) {
                   s.add(p, {{"version", version()}}, 1);
                 }},
    MetricFamily{
        "udtcat_start_time_seconds", kGauge, "seconds", "Unix time of the start of the process.",
        [](Process p, Samples s) {
          s.add(p, {},
                std::llround(unix_seconds(p.now - std::chrono::duration_cast<SystemClock::duration>(p.snapshot.age))));
        }},
    MetricFamily{"udtcat_cpu_seconds", kCounter, "seconds", "Processor time of the process, user and system.",
                 [](Process p, Samples s) { s.add(p, {}, std::chrono::duration<double>(p.snapshot.cpu).count()); }},
    MetricFamily{"udtcat_resident_memory_bytes", kGauge, "bytes", "Resident memory of the process.",
                 [](Process p, Samples s) {
                   if (p.snapshot.resources.max_descriptors > 0) s.add(p, {}, p.snapshot.resources.memory_bytes);
                 }},
    MetricFamily{"udtcat_open_descriptors", kGauge, "", "Open descriptors of the process.",
                 [](Process p, Samples s) {
                   if (p.snapshot.resources.max_descriptors > 0) s.add(p, {}, p.snapshot.resources.open_descriptors);
                 }},
    MetricFamily{"udtcat_max_descriptors", kGauge, "", "The most descriptors that the process may have open.",
                 [](Process p, Samples s) {
                   if (p.snapshot.resources.max_descriptors > 0) s.add(p, {}, p.snapshot.resources.max_descriptors);
                 }},
    MetricFamily{"udtcat_stream_bytes", kCounter, "bytes", "Payload, sessions that have ended included.",
                 add_stream_bytes},
    MetricFamily{"udtcat_sessions", kGauge, "", "Sessions that are connected; 0: the peer has gone.",
                 [](Process p, Samples s) { add_peers(p, s, &PeerTotal::sessions); }},
    MetricFamily{"udtcat_handshakes", kCounter, "", "Sessions that were made.",
                 [](Process p, Samples s) { add_peers(p, s, &PeerTotal::handshakes); }},
    MetricFamily{"udtcat_refusals", kCounter, "", "Peers that were turned away.",
                 [](Process p, Samples s) {
                   for (const RefusalSnapshot& kind : p.snapshot.refused)
                     s.add(p, {{"reason", kind.reason}}, kind.count);
                 }},
    MetricFamily{"udtcat_redials", kCounter, "", "Dials of a forward after its first, successful or not.",
                 [](Process p, Samples s) {
                   if (p.snapshot.redials) s.add(p, {}, *p.snapshot.redials);
                 }},
    MetricFamily{"udtcat_dialling_seconds", kGauge, "seconds",
                 "For how long the peer of a forward is away; 0 while it is here.",
                 [](Process p, Samples s) {
                   const auto& dialing = p.snapshot.dialing;
                   if (p.snapshot.redials || dialing)
                     s.add(p, {}, dialing ? std::chrono::duration<double>(dialing->age).count() : 0.0);
                 }},
    MetricFamily{"udtcat_streams_open", kGauge, "", "Streams of the sessions that are connected.",
                 [](Process p, Samples s) { add_peers(p, s, &PeerTotal::streams_open); }},
    MetricFamily{"udtcat_clients_waiting", kGauge, "", "Local clients that wait for a session.",
                 [](Process p, Samples s) { s.add(p, {}, p.snapshot.clients_waiting); }},
    MetricFamily{"udtcat_packets_sent", kCounter, "", "Packets sent, those sent again included.",
                 [](Process p, Samples s) { add_peers(p, s, &PeerTotal::packets_sent); }},
    MetricFamily{
        "udtcat_packets_lost", kCounter, "",
        "Packets lost: in a queue, while the round trip showed one, or on the path, or where none is measured.",
        add_packets_lost},
    MetricFamily{"udtcat_dropped_datagrams", kCounter, "",
                 "Datagrams that came, and for which a receive buffer of this host had no room.",
                 [](Process p, Samples s) { s.add(p, {}, p.snapshot.dropped_datagrams); }},
    MetricFamily{"udtcat_round_trip_seconds", kGauge, "seconds",
                 "Round trip of the newest session that has measured one.", add_round_trips},
    MetricFamily{"udtcat_rate_bytes_per_second", kGauge, "bytes_per_second",
                 "Payload both ways, over the quarter of a second before.", add_rates},
    MetricFamily{"udtcat_limited_by", kGauge, "", "1 of the limit of a peer that moves something.", add_limits},
    MetricFamily{"udtcat_transfers", kCounter, "", "Transfers that have ended.", add_transfers},
    MetricFamily{"udtcat_transfer_bytes", kCounter, "bytes", "Payload of the transfers that have ended.",
                 [](Process p, Samples s) { add_transfer_sums(p, s, &TransferTotal::bytes); }},
    MetricFamily{"udtcat_transfer_files", kCounter, "", "Regular files of the transfers that have ended.",
                 [](Process p, Samples s) { add_transfer_sums(p, s, &TransferTotal::files); }},
    MetricFamily{"udtcat_last_complete_timestamp_seconds", kGauge, "seconds",
                 "Unix time of the end of the last transfer that was complete.",
                 [](Process p, Samples s) { add_last_transfers(p, s, &TransferTotal::last_complete); }},
    MetricFamily{"udtcat_last_failed_timestamp_seconds", kGauge, "seconds",
                 "Unix time of the end of the last transfer that failed.",
                 [](Process p, Samples s) { add_last_transfers(p, s, &TransferTotal::last_failed); }},
    MetricFamily{"udtcat_meeting_registrations", kGauge, "", "Listeners that wait at the meeting place.",
                 [](Process p, Samples s) {
                   if (p.snapshot.place) s.add(p, {}, p.snapshot.place->registrations);
                 }},
    MetricFamily{"udtcat_meeting_pairs", kGauge, "", "Pairs that the meeting place has brought together.",
                 [](Process p, Samples s) {
                   if (p.snapshot.place) s.add(p, {}, p.snapshot.place->pairs.size());
                 }},
    MetricFamily{"udtcat_meeting_over_rate_bytes", kCounter, "bytes", "Bytes dropped by the meeting place's limits.",
                 [](Process p, Samples s) {
                   if (p.snapshot.place) s.add(p, {}, p.snapshot.place->over_rate_bytes);
                 }},
};

std::string_view suffix_of(MetricKind kind) {
  switch (kind) {
    case MetricKind::counter:
      return "_total";
    case MetricKind::info:
      return "_info";
    case MetricKind::gauge:
      break;
  }
  return "";
}

std::string_view name_of(MetricKind kind) {
  return kind == MetricKind::counter ? "counter" : kind == MetricKind::info ? "info" : "gauge";
}

/// The lines before a family's samples. OpenMetrics names the family without the suffix of its samples, and the older
/// format, which has no info, with it.
std::string heading_of(const MetricFamily& family, MetricsFormat format) {
  if (format == MetricsFormat::prometheus) {
    const MetricKind kind = family.kind == MetricKind::info ? MetricKind::gauge : family.kind;
    return fmt::format("# HELP {0}{1} {2}\n# TYPE {0}{1} {3}\n", family.name, suffix_of(family.kind), family.help,
                       name_of(kind));
  }
  const std::string unit = family.unit.empty() ? "" : fmt::format("# UNIT {} {}\n", family.name, family.unit);
  return fmt::format("# TYPE {0} {1}\n{2}# HELP {0} {3}\n", family.name, name_of(family.kind), unit, family.help);
}

/// The labels of a process: its service, and its number where that tells it from another one.
std::string labels_of(const ProcessSnapshot& snapshot, std::span<const ProcessSnapshot> all) {
  const auto has_its_name = [&](const ProcessSnapshot& each) { return each.service == snapshot.service; };
  const bool is_told_apart = !snapshot.service.empty() && std::ranges::count_if(all, has_its_name) == 1;
  std::string labels = fmt::format("service=\"{}\"", label_value(snapshot.service));
  if (all.size() > 1 && !is_told_apart) labels += fmt::format(",pid=\"{}\"", snapshot.pid);
  return labels;
}

}  // namespace

std::string_view content_type_of(MetricsFormat format) {
  return format == MetricsFormat::openmetrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                                              : "text/plain; version=0.0.4; charset=utf-8";
}

std::string to_metrics(std::span<const ProcessSnapshot> snapshots, MetricsFormat format, SystemClock::time_point now) {
  std::vector<ObservedProcess> processes;
  for (const ProcessSnapshot& each : snapshots) processes.push_back({each, labels_of(each, snapshots), now});
  std::string text;
  for (const MetricFamily& family : kFamilies) {
    SampleText samples(fmt::format("{}{}", family.name, suffix_of(family.kind)));
    for (const ObservedProcess& process : processes) family.add(process, samples);
    if (!samples.text().empty()) text += heading_of(family, format) + samples.text();
  }
  if (format == MetricsFormat::openmetrics) text += "# EOF\n";
  return text;
}

}  // namespace udtcat::tool
