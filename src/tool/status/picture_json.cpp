// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "lib/core/printable.hpp"
#include "tool/status/picture.hpp"

namespace udtcat::tool {

namespace {

using OrderedJson = nlohmann::ordered_json;
using Nanoseconds = std::chrono::nanoseconds;

constexpr std::uint64_t kPictureVersion = 1;  // spec: docs/man/udtcat-status.1, JSON
constexpr std::size_t kMaxPictureDepth = 4;   // spec: the object, a list or an object in it, its objects
constexpr std::size_t kMaxPictureText = 512;  // guess: a command line
constexpr double kMaxPictureSeconds = 1e9;    // guess: thirty years; and no duration overflows
constexpr std::size_t kMaxShownPlaces = 256;  // guess: ports that one service has
constexpr std::size_t kMaxShownReasons = 64;  // spec: Errc has fewer

double seconds_of(Nanoseconds time) { return std::chrono::duration<double>(time).count(); }

OrderedJson figures_json(const ConnectionStats& stats, BitRate rate) {
  OrderedJson json;
  json["bytes_sent"] = stats.bytes_sent;
  json["bytes_received"] = stats.bytes_received;
  json["rate_bits_per_second"] = rate.bits_per_second();
  json["streams_open"] = stats.streams_open;
  json["packets_sent"] = stats.packets_sent;
  json["packets_lost"] = stats.packets_lost;
  return json;
}

OrderedJson peer_json(const PeerPicture& peer) {
  OrderedJson json;
  json["number"] = peer.number;
  json["name"] = peer.name.empty() ? OrderedJson(nullptr) : OrderedJson(peer.name);
  json["address"] = peer.address;
  json["seconds"] = seconds_of(peer.age);
  json.update(figures_json(peer.stats, peer.rate));
  json["rtt_us"] = peer.stats.rtt ? OrderedJson(peer.stats.rtt->count()) : OrderedJson(nullptr);
  json["silent_seconds"] = seconds_of(peer.stats.silence);
  json["limited_by"] = peer.limited_by.word.empty() ? OrderedJson(nullptr) : OrderedJson(peer.limited_by.word);
  json["limited_by_text"] = peer.limited_by.text;
  return json;
}

OrderedJson dialling_json(const DiallingPicture& dialling) {
  return {{"peer", core::printable(dialling.peer, kMaxPictureText)},
          {"seconds", seconds_of(dialling.age)},
          {"reason", dialling.reason.empty() ? OrderedJson(nullptr)
                                             : OrderedJson(core::printable(dialling.reason, kMaxPictureText))}};
}

OrderedJson refusal_json(const RefusalPicture& kind) {
  return {{"reason", kind.reason},
          {"count", kind.count},
          {"last_seconds_ago", seconds_of(kind.ago)},
          {"last", core::printable(kind.last, kMaxPictureText)}};
}

/// Of a hostile text: a value of the wrong kind, or none, is an error that the reader remembers.
class PictureReader {
 public:
  explicit PictureReader(const OrderedJson& json) : json_(json) {}

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] std::uint64_t number(const char* key) {
    const OrderedJson& value = at(key);
    if (!value.is_number_unsigned()) return wrong<std::uint64_t>();
    return value.get<std::uint64_t>();
  }
  [[nodiscard]] Nanoseconds time(const char* key) {
    const OrderedJson& value = at(key);
    const double seconds = value.is_number() ? value.get<double>() : -1;
    if (!(seconds >= 0 && seconds <= kMaxPictureSeconds)) return wrong<Nanoseconds>();
    return std::chrono::duration_cast<Nanoseconds>(std::chrono::duration<double>(seconds));
  }
  /// Null is the empty text.
  [[nodiscard]] std::string text(const char* key) { return text_of(at(key)); }
  [[nodiscard]] std::vector<std::string> texts(const char* key) {
    std::vector<std::string> texts;
    for (const OrderedJson& each : list(key, kMaxShownPlaces)) texts.push_back(text_of(each));
    return texts;
  }
  [[nodiscard]] const OrderedJson& list(const char* key, std::size_t most) {
    static const OrderedJson kNone = OrderedJson::array();
    const OrderedJson& value = at(key);
    if (value.is_array() && value.size() <= most) return value;
    ok_ = false;
    return kNone;
  }
  [[nodiscard]] ConnectionStats figures() {
    ConnectionStats stats;
    stats.bytes_sent = number("bytes_sent");
    stats.bytes_received = number("bytes_received");
    stats.streams_open = number("streams_open");
    stats.packets_sent = number("packets_sent");
    stats.packets_lost = number("packets_lost");
    return stats;
  }
  [[nodiscard]] BitRate rate() { return BitRate::from_bits_per_second(number("rate_bits_per_second")); }
  /// The peer that this object is.
  [[nodiscard]] PeerPicture peer() {
    PeerPicture peer{.number = number("number"),
                     .name = text("name"),
                     .address = text("address"),
                     .age = time("seconds"),
                     .stats = figures(),
                     .rate = rate(),
                     .limited_by = {}};
    // A process that is older has none.
    if (json_.contains("limited_by")) peer.limited_by.word = text("limited_by");
    if (json_.contains("limited_by_text")) peer.limited_by.text = text("limited_by_text");
    constexpr std::uint64_t kMostRttUs = 1'000'000'000;  // guess: a quarter of an hour
    if (!at("rtt_us").is_null()) peer.stats.rtt = std::chrono::microseconds(std::min(number("rtt_us"), kMostRttUs));
    if (has("silent_seconds"))
      peer.stats.silence = std::chrono::duration_cast<std::chrono::milliseconds>(time("silent_seconds"));
    return peer;
  }
  [[nodiscard]] RefusalPicture refusal() {
    return {.reason = text("reason"),
            .count = number("count"),
            .ago = time("last_seconds_ago"),
            .last = has("last") ? text("last") : std::string()};
  }
  [[nodiscard]] std::size_t clients_waiting() { return has("clients_waiting") ? number("clients_waiting") : 0; }
  /// None where nobody is dialled.
  [[nodiscard]] std::optional<DiallingPicture> dialling() {
    if (!has("dialling") || at("dialling").is_null()) return std::nullopt;
    PictureReader inner(at("dialling"));
    DiallingPicture read{.peer = inner.text("peer"), .age = inner.time("seconds"), .reason = inner.text("reason")};
    take(inner.ok());
    return read;
  }
  void take(bool part_ok) { ok_ = ok_ && part_ok; }

 private:
  /// Of a key that processes of an earlier program do not have.
  [[nodiscard]] bool has(const char* key) const { return json_.is_object() && json_.contains(key); }
  [[nodiscard]] const OrderedJson& at(const char* key) {
    static const OrderedJson kDiscarded(OrderedJson::value_t::discarded);
    const auto found = json_.is_object() ? json_.find(key) : json_.end();
    return json_.is_object() && found != json_.end() ? *found : kDiscarded;
  }
  template <typename Value>
  [[nodiscard]] Value wrong() {
    ok_ = false;
    return Value{};
  }
  [[nodiscard]] std::string text_of(const OrderedJson& value) {
    if (value.is_null()) return {};
    if (!value.is_string()) return wrong<std::string>();
    return core::printable(value.get_ref<const std::string&>(), kMaxPictureText);
  }

  const OrderedJson& json_;
  bool ok_ = true;
};

}  // namespace

std::string to_json(const ProcessPicture& picture) {
  std::vector<const PeerPicture*> shown;
  for (const PeerPicture& peer : picture.peers) shown.push_back(&peer);
  if (shown.size() > kMaxShownPeers) {
    std::ranges::nth_element(shown, shown.begin() + static_cast<std::ptrdiff_t>(kMaxShownPeers), std::ranges::greater(),
                             [](const PeerPicture* peer) { return peer->rate.bits_per_second(); });
    shown.resize(kMaxShownPeers);
  }
  OrderedJson json;
  json["version"] = kPictureVersion;
  json["what"] = core::printable(picture.what, kMaxPictureText);
  json["pid"] = static_cast<std::uint64_t>(picture.pid);
  json["seconds"] = seconds_of(picture.age);
  json["listening"] = picture.listening;
  json["forwarding"] = picture.forwarding;
  json.update(figures_json(picture.all, picture.rate));
  json["cpu_seconds"] = seconds_of(picture.cpu);
  json["clients_waiting"] = picture.clients_waiting;
  json["dialling"] = picture.dialling ? dialling_json(*picture.dialling) : OrderedJson(nullptr);
  json["peers_left_out"] = picture.peers_left_out + picture.peers.size() - shown.size();
  json["peers"] = OrderedJson::array();
  for (const PeerPicture* peer : shown) json["peers"].push_back(peer_json(*peer));
  json["refused"] = OrderedJson::array();
  for (const RefusalPicture& kind : picture.refused) json["refused"].push_back(refusal_json(kind));
  // A name or a path may hold any bytes: what is no UTF-8 is replaced.
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

Result<ProcessPicture> parse_picture(std::string_view text) {
  const auto no_picture = [](const char* why) { return fail(Errc::protocol_violated, "read a status", why); };
  if (text.size() > kMaxPictureBytes) return no_picture("it is larger than a megabyte");
  bool deep = false;
  const auto shallow = [&deep](int depth, OrderedJson::parse_event_t, const OrderedJson&) {
    deep = deep || depth > static_cast<int>(kMaxPictureDepth);
    return !deep;
  };
  const auto json = OrderedJson::parse(text, shallow, false);
  if (json.is_discarded() || deep || !json.is_object()) return no_picture("it is no JSON object");
  PictureReader reader(json);
  if (reader.number("version") != kPictureVersion || !reader.ok()) return no_picture("it is of another version");
  ProcessPicture picture;
  picture.what = reader.text("what");
  picture.pid = static_cast<pid_t>(reader.number("pid"));
  picture.age = reader.time("seconds");
  picture.listening = reader.texts("listening");
  picture.forwarding = reader.texts("forwarding");
  picture.all = reader.figures();
  picture.rate = reader.rate();
  picture.clients_waiting = reader.clients_waiting();
  picture.dialling = reader.dialling();
  picture.peers_left_out = reader.number("peers_left_out");
  picture.cpu = std::chrono::duration_cast<std::chrono::microseconds>(reader.time("cpu_seconds"));
  for (const OrderedJson& each : reader.list("peers", kMaxShownPeers)) {
    PictureReader of_peer(each);
    picture.peers.push_back(of_peer.peer());
    reader.take(of_peer.ok());
  }
  for (const OrderedJson& each : reader.list("refused", kMaxShownReasons)) {
    PictureReader kind(each);
    picture.refused.push_back(kind.refusal());
    reader.take(kind.ok());
  }
  if (!reader.ok()) return no_picture("a value lacks, or is of the wrong kind");
  return picture;
}

}  // namespace udtcat::tool
