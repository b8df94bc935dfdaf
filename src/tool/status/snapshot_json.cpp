// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "lib/core/printable.hpp"
#include "lib/core/stats_fields.hpp"
#include "lib/core/user_text.hpp"
#include "tool/cli/log_line.hpp"
#include "tool/status/json.hpp"
#include "tool/status/peer_totals.hpp"
#include "tool/status/snapshot.hpp"
#include "tool/status/transfer_totals.hpp"

namespace udtcat::tool {

namespace {

using Nanoseconds = std::chrono::nanoseconds;

constexpr std::size_t kMaxSnapshotDepth = 4;   // spec: the object, an object in it, a list in that, its objects
constexpr std::size_t kMaxShownPairs = 1000;   // guess: as kMaxShownPeers
constexpr std::size_t kMaxSnapshotText = 512;  // guess: a command line
constexpr double kMaxSnapshotSeconds = 1e9;    // guess: thirty years; and no duration overflows
constexpr std::size_t kMaxShownPlaces = 256;   // guess: ports that one service has
constexpr std::size_t kMaxShownReasons = 64;   // spec: Errc has fewer

void add_stats(Json& json, const ConnectionStats& stats, BitRate rate) {
  add_fields<core::kInStatus>(json, core::kPayloadFields, stats);
  json["rate_bits_per_second"] = rate.bits_per_second();
  add_fields<core::kInStatus>(json, core::kConnectionFields, stats);
}

Json peer_json(const PeerSnapshot& peer) {
  Json json;
  json["number"] = peer.number;
  json["name"] = or_null(peer.name);
  json["address"] = peer.address;
  json["transport"] = json_of(peer.stats.transport);
  json["seconds"] = seconds_of(peer.age);
  add_stats(json, peer.stats, peer.rate);
  json["flows"] = peer.stats.flows;
  json["rtt_us"] = json_of(peer.stats.rtt);
  json["silent_seconds"] = seconds_of(peer.stats.silence);
  json["limited_by"] = or_null(peer.limited_by.word);
  json["limited_by_text"] = peer.limited_by.text;
  json["selected_pair"] = to_json(peer.selected_pair);
  return json;
}

Json dialing_json(const DialingSnapshot& dialing) {
  return {{"peer", core::printable(dialing.peer, kMaxSnapshotText)},
          {"seconds", seconds_of(dialing.age)},
          {"reason", or_null(core::printable(dialing.reason, kMaxSnapshotText))}};
}

Json refusal_json(const RefusalSnapshot& kind) {
  return {{"reason", kind.reason},
          {"count", kind.count},
          {"last_seconds_ago", seconds_of(kind.ago)},
          {"last", core::printable(kind.last, kMaxSnapshotText)}};
}

Json pair_json(const PairSnapshot& pair) {
  return {{"listener", core::printable(pair.listener, kMaxSnapshotText)},
          {"connector", core::printable(pair.connector, kMaxSnapshotText)},
          {"seconds", seconds_of(pair.age)},
          {"port", static_cast<std::uint64_t>(pair.port)},
          {"by_tcp", pair.by_tcp},
          {"bytes_from_listener", pair.bytes_from_listener},
          {"bytes_from_connector", pair.bytes_from_connector},
          {"over_rate_bytes", pair.over_rate_bytes},
          {"undelivered_datagrams", pair.undelivered_datagrams}};
}

Json place_json(const PlaceSnapshot& place) {
  Json pairs = Json::array();
  for (const PairSnapshot& pair : place.pairs)
    if (pairs.size() < kMaxShownPairs) pairs.push_back(pair_json(pair));
  return {{"registrations", static_cast<std::uint64_t>(place.registrations)},
          {"over_rate_bytes", place.over_rate_bytes},
          {"pairs", std::move(pairs)}};
}

Json time_json(const std::optional<std::chrono::system_clock::time_point>& time) {
  return time ? Json(utc_time_text(*time)) : Json(nullptr);
}

Json total_json(const PeerTotal& total) {
  return {{"name", or_null(total.name)},
          {"bytes_sent", total.bytes_sent},
          {"bytes_received", total.bytes_received},
          {"handshakes", total.handshakes},
          {"sessions", total.sessions},
          {"streams_open", total.streams_open},
          {"packets_sent", total.packets_sent},
          {"packets_lost", total.packets_lost},
          {"packets_lost_queued", total.packets_lost_queued},
          {"packets_lost_path", json_of(total.packets_lost_path)}};
}

Json transfer_json(const TransferTotal& total) {
  return {{"peer", or_null(total.peer)},
          {"direction", or_null(total.direction)},
          {"complete", total.complete},
          {"failed", total.failed},
          {"bytes", total.bytes},
          {"files", total.files},
          {"last_complete", time_json(total.last_complete)},
          {"last_failed", time_json(total.last_failed)}};
}

template <typename Part>
Json list_json(const std::vector<Part>& parts, Json (*json_of_part)(const Part&)) {
  Json list = Json::array();
  for (const Part& part : parts) list.push_back(json_of_part(part));
  return list;
}

std::vector<const PeerSnapshot*> fastest_of(const std::vector<PeerSnapshot>& peers) {
  std::vector<const PeerSnapshot*> shown;
  shown.reserve(peers.size());
  for (const PeerSnapshot& peer : peers) shown.push_back(&peer);
  if (shown.size() <= kMaxShownPeers) return shown;
  std::ranges::nth_element(shown, shown.begin() + static_cast<std::ptrdiff_t>(kMaxShownPeers), std::ranges::greater(),
                           [](const PeerSnapshot* peer) { return peer->rate.bits_per_second(); });
  shown.resize(kMaxShownPeers);
  return shown;
}

/// Reads a hostile text: a value of the wrong kind, or none, is an error that the reader remembers.
class SnapshotReader {
 public:
  explicit SnapshotReader(const Json& json) : json_(json) {}

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] std::uint64_t number(const std::string& key) {
    const Json& value = at(key);
    if (!value.is_number_unsigned()) return wrong<std::uint64_t>();
    return value.get<std::uint64_t>();
  }
  [[nodiscard]] Nanoseconds time(const std::string& key) {
    const Json& value = at(key);
    const double passed = value.is_number() ? value.get<double>() : -1;
    if (!(passed >= 0 && passed <= kMaxSnapshotSeconds)) return wrong<Nanoseconds>();
    return std::chrono::duration_cast<Nanoseconds>(std::chrono::duration<double>(passed));
  }
  /// Null is the empty text.
  [[nodiscard]] std::string text(const std::string& key) { return text_of(at(key)); }
  [[nodiscard]] std::vector<std::string> texts(const std::string& key) {
    std::vector<std::string> texts;
    for (const Json& each : list(key, kMaxShownPlaces)) texts.push_back(text_of(each));
    return texts;
  }
  [[nodiscard]] const Json& list(const std::string& key, std::size_t most) {
    static const Json kNone = Json::array();
    const Json& value = at(key);
    if (value.is_array() && value.size() <= most) return value;
    ok_ = false;
    return kNone;
  }
  [[nodiscard]] std::uint64_t number_if_there(const std::string& key) { return has(key) ? number(key) : 0; }
  /// Null, or nothing, is none.
  [[nodiscard]] std::optional<std::uint64_t> optional_number(const std::string& key) {
    return has(key) && !at(key).is_null() ? std::optional(number(key)) : std::nullopt;
  }
  /// Null is none.
  [[nodiscard]] std::optional<std::chrono::system_clock::time_point> moment(const std::string& key) {
    if (at(key).is_null()) return std::nullopt;
    const auto read = parse_utc_time(text(key));
    take(read.has_value());
    return read;
  }
  /// The objects of a list, each of which a reader of its own reads by `read`.
  template <typename Part>
  [[nodiscard]] std::vector<Part> parts(const std::string& key, std::size_t most, Part (SnapshotReader::*read)()) {
    std::vector<Part> parts;
    for (const Json& each : list(key, most)) {
      SnapshotReader inner(each);
      parts.push_back((inner.*read)());
      take(inner.ok());
    }
    return parts;
  }
  /// A process of another version may show fewer.
  [[nodiscard]] ConnectionStats stats() {
    ConnectionStats stats;
    const auto read = [this](const std::string& key) { return number_if_there(key); };
    read_fields<core::kInStatus>(core::kFields<ConnectionStats>, stats, read);
    return stats;
  }
  [[nodiscard]] BitRate rate() { return BitRate::from_bits_per_second(number("rate_bits_per_second")); }
  /// The peer that this object is.
  [[nodiscard]] PeerSnapshot peer() {
    PeerSnapshot peer{.number = number("number"),
                      .name = text("name"),
                      .address = text("address"),
                      .age = time("seconds"),
                      .stats = stats(),
                      .rate = rate(),
                      .limited_by = {},
                      .selected_pair = {}};
    // A process that is older has none.
    if (json_.contains("limited_by")) peer.limited_by.word = text("limited_by");
    if (has("transport"))
      if (const auto transport = core::parse_transport(text("transport"))) peer.stats.transport = *transport;
    if (json_.contains("limited_by_text")) peer.limited_by.text = text("limited_by_text");
    peer.selected_pair = selected_pair();
    constexpr std::uint64_t kMostRttUs = 1'000'000'000;  // guess: a quarter of an hour
    if (!at("rtt_us").is_null()) peer.stats.rtt = std::chrono::microseconds(std::min(number("rtt_us"), kMostRttUs));
    if (has("flows")) peer.stats.flows = number("flows");
    if (has("silent_seconds"))
      peer.stats.silence = std::chrono::duration_cast<std::chrono::milliseconds>(time("silent_seconds"));
    return peer;
  }
  /// None where the peer is reached without candidates.
  [[nodiscard]] std::optional<SelectedPairText> selected_pair() {
    if (!has("selected_pair") || at("selected_pair").is_null()) return std::nullopt;
    SnapshotReader inner(at("selected_pair"));
    SelectedPairText read{.transport = inner.text("transport"),
                          .local = inner.text("local"),
                          .local_address = inner.text("local_address"),
                          .remote = inner.text("remote"),
                          .remote_address = inner.text("remote_address"),
                          .text = inner.text("text")};
    take(inner.ok());
    return read;
  }
  [[nodiscard]] RefusalSnapshot refusal() {
    return {.reason = text("reason"),
            .count = number("count"),
            .ago = time("last_seconds_ago"),
            .last = has("last") ? text("last") : std::string()};
  }
  [[nodiscard]] PairSnapshot pair() {
    return {.listener = text("listener"),
            .connector = text("connector"),
            .age = time("seconds"),
            .port = static_cast<std::uint16_t>(number("port")),
            .by_tcp = has("by_tcp") && at("by_tcp") == true,
            .bytes_from_listener = number("bytes_from_listener"),
            .bytes_from_connector = number("bytes_from_connector"),
            .over_rate_bytes = number("over_rate_bytes"),
            .undelivered_datagrams = number("undelivered_datagrams")};
  }
  /// None where it is no meeting place.
  [[nodiscard]] std::optional<PlaceSnapshot> place() {
    if (!has("meeting") || at("meeting").is_null()) return std::nullopt;
    SnapshotReader inner(at("meeting"));
    PlaceSnapshot read{.registrations = inner.number("registrations"),
                       .pairs = inner.parts("pairs", kMaxShownPairs, &SnapshotReader::pair),
                       .over_rate_bytes = inner.number_if_there("over_rate_bytes")};
    take(inner.ok());
    return read;
  }
  [[nodiscard]] PeerTotal peer_total() {
    return {.name = text("name"),
            .bytes_sent = number("bytes_sent"),
            .bytes_received = number("bytes_received"),
            .handshakes = number("handshakes"),
            .sessions = number("sessions"),
            .streams_open = number("streams_open"),
            .packets_sent = number("packets_sent"),
            .packets_lost = number("packets_lost"),
            .packets_lost_queued = number("packets_lost_queued"),
            .packets_lost_path = optional_number("packets_lost_path")};
  }
  [[nodiscard]] TransferTotal transfer_total() {
    return {.peer = text("peer"),
            .direction = text("direction"),
            .complete = number("complete"),
            .failed = number("failed"),
            .bytes = number("bytes"),
            .files = number("files"),
            .last_complete = moment("last_complete"),
            .last_failed = moment("last_failed")};
  }
  /// Counts that a process which is older has none of.
  void add_totals(ProcessSnapshot& snapshot) {
    snapshot.resources = {.memory_bytes = number_if_there("resident_memory_bytes"),
                          .open_descriptors = number_if_there("open_descriptors"),
                          .max_descriptors = number_if_there("max_descriptors")};
    snapshot.dropped_datagrams = number_if_there("dropped_datagrams");
    snapshot.redials = optional_number("redials");
    if (has("peer_totals")) snapshot.peer_totals = parts("peer_totals", kMaxShownTotals, &SnapshotReader::peer_total);
    if (has("transfers")) snapshot.transfers = parts("transfers", kMaxTransferTotals, &SnapshotReader::transfer_total);
  }
  /// A process that is older has none.
  [[nodiscard]] std::string service() { return has("service") ? text("service") : std::string(); }
  /// None where nobody is dialled.
  [[nodiscard]] std::optional<DialingSnapshot> dialing() {
    if (!has("dialling") || at("dialling").is_null()) return std::nullopt;
    SnapshotReader inner(at("dialling"));
    DialingSnapshot read{.peer = inner.text("peer"), .age = inner.time("seconds"), .reason = inner.text("reason")};
    take(inner.ok());
    return read;
  }

 private:
  void take(bool part_ok) { ok_ = ok_ && part_ok; }
  /// Whether there is a key that an earlier version lacks.
  [[nodiscard]] bool has(const std::string& key) const { return json_.is_object() && json_.contains(key); }
  [[nodiscard]] const Json& at(const std::string& key) {
    static const Json kDiscarded(Json::value_t::discarded);
    const auto found = json_.is_object() ? json_.find(key) : json_.end();
    return json_.is_object() && found != json_.end() ? *found : kDiscarded;
  }
  template <typename Value>
  [[nodiscard]] Value wrong() {
    ok_ = false;
    return Value{};
  }
  [[nodiscard]] std::string text_of(const Json& value) {
    if (value.is_null()) return {};
    if (!value.is_string()) return wrong<std::string>();
    return core::printable(value.get_ref<const std::string&>(), kMaxSnapshotText);
  }

  const Json& json_;
  bool ok_ = true;
};

}  // namespace

std::string to_json(const ProcessSnapshot& snapshot) {
  const std::vector<const PeerSnapshot*> shown = fastest_of(snapshot.peers);
  Json json;
  json["version"] = kJsonVersion;
  json["service"] = or_null(snapshot.service);
  json["what"] = core::printable(snapshot.what, kMaxSnapshotText);
  json["pid"] = static_cast<std::uint64_t>(snapshot.pid);
  json["seconds"] = seconds_of(snapshot.age);
  json["listening"] = snapshot.listening;
  json["forwarding"] = snapshot.forwarding;
  add_stats(json, snapshot.all, snapshot.rate);
  json["cpu_seconds"] = seconds_of(snapshot.cpu);
  json["resident_memory_bytes"] = snapshot.resources.memory_bytes;
  json["open_descriptors"] = snapshot.resources.open_descriptors;
  json["max_descriptors"] = snapshot.resources.max_descriptors;
  json["dropped_datagrams"] = snapshot.dropped_datagrams;
  json["clients_waiting"] = snapshot.clients_waiting;
  json["dialling"] = snapshot.dialing ? dialing_json(*snapshot.dialing) : Json(nullptr);
  json["redials"] = json_of(snapshot.redials);
  json["peers_left_out"] = snapshot.peers_left_out + snapshot.peers.size() - shown.size();
  json["peers"] = Json::array();
  for (const PeerSnapshot* peer : shown) json["peers"].push_back(peer_json(*peer));
  json["peer_totals"] = list_json(snapshot.peer_totals, total_json);
  json["transfers"] = list_json(snapshot.transfers, transfer_json);
  json["refused"] = list_json(snapshot.refused, refusal_json);
  json["meeting"] = snapshot.place ? place_json(*snapshot.place) : Json(nullptr);
  return to_line(json);
}

std::string to_json(const RunReport& report) {
  const ConnectionStats& stats = report.end.stats;
  Json json;
  json["version"] = kJsonVersion;
  add_fields<core::kInStats>(json, core::kPayloadFields, stats);
  json["seconds"] = seconds_of(report.end.elapsed);
  json["rate_bits_per_second"] = BitRate::from_bytes_per(payload_bytes(stats), report.end.elapsed).bits_per_second();
  add_fields<core::kInStats>(json, core::kConnectionFields, stats);
  json["cpu_seconds"] = seconds_of(report.cpu);
  json["cipher"] = json_of(stats.cipher);
  json["protection"] = json_of(report.protection);
  json["transport"] = json_of(report.transport);
  json["congestion"] = json_of(report.congestion);
  json["peer"] = or_null(report.peer);
  json["peer_name"] = or_null(report.peer_name);
  json["exit_status"] = to_int(report.exit_status);
  json["exit_reason"] = report.exit_reason;
  json["limited_by"] = or_null(report.limited_by.word);
  json["limited_by_text"] = report.limited_by.text;
  json["selected_pair"] = to_json(in_words(stats.selected_pair));
  return to_line(json);
}

Result<ProcessSnapshot> parse_snapshot(std::string_view text) {
  const auto no_snapshot = [](const char* why) { return fail(Errc::protocol_violated, "read a status", why); };
  if (text.size() > kMaxSnapshotBytes) return no_snapshot("it is larger than 4 MiB");
  bool deep = false;
  const auto shallow = [&deep](int depth, Json::parse_event_t, const Json&) {
    deep = deep || depth > static_cast<int>(kMaxSnapshotDepth);
    return !deep;
  };
  const auto json = Json::parse(text, shallow, false);
  if (json.is_discarded() || deep || !json.is_object()) return no_snapshot("it is no JSON object");
  SnapshotReader reader(json);
  if (reader.number("version") != kJsonVersion || !reader.ok()) return no_snapshot("it is of another version");
  ProcessSnapshot snapshot;
  snapshot.service = reader.service();
  snapshot.what = reader.text("what");
  snapshot.pid = static_cast<pid_t>(reader.number("pid"));
  snapshot.age = reader.time("seconds");
  snapshot.listening = reader.texts("listening");
  snapshot.forwarding = reader.texts("forwarding");
  snapshot.all = reader.stats();
  snapshot.rate = reader.rate();
  snapshot.clients_waiting = reader.number_if_there("clients_waiting");
  snapshot.dialing = reader.dialing();
  snapshot.peers_left_out = reader.number("peers_left_out");
  snapshot.cpu = std::chrono::duration_cast<std::chrono::microseconds>(reader.time("cpu_seconds"));
  snapshot.peers = reader.parts("peers", kMaxShownPeers, &SnapshotReader::peer);
  snapshot.refused = reader.parts("refused", kMaxShownReasons, &SnapshotReader::refusal);
  snapshot.place = reader.place();
  reader.add_totals(snapshot);
  if (!reader.ok()) return no_snapshot("a value lacks, or is of the wrong kind");
  return snapshot;
}

}  // namespace udtcat::tool
