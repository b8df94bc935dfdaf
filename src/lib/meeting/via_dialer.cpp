// SPDX-License-Identifier: Apache-2.0
/// dial_via(): to the place, ask there, and a race of the answer's candidates and the relay, all from one port; where
/// UDP is silent, by TCP as well.
///
///   reaching the place ──► gathering ──► asking ──ANSWERED──► racing ──► over
///          ▲                   ▲  └──not registered──┘           │
///          └── the place is lost, before an answer ──────────────┘ nobody has answered in time: over
#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "lib/connection/direct.hpp"
#include "lib/core/ip_prefix.hpp"
#include "lib/core/lifetime.hpp"
#include "lib/core/log.hpp"
#include "lib/core/printable.hpp"
#include "lib/core/try.hpp"
#include "lib/crypto/secret_bytes.hpp"
#include "lib/meeting/dialled_pair.hpp"
#include "lib/meeting/names.hpp"
#include "lib/meeting/place_dialing.hpp"
#include "lib/meeting/signed_messages.hpp"
#include "lib/meeting/via.hpp"
#include "lib/net/stun.hpp"

namespace udtcat::meeting {

namespace {

using namespace std::chrono_literals;

constexpr auto kAskAgain = 500ms;                          // spec: meet.md §4
constexpr auto kAskWithoutRoom = 2000ms;                   // spec: meet.md §4
constexpr auto kRelayDelay = 300ms;                        // spec: meet.md §7
constexpr auto kMaxRelayDelay = 1000ms;                    // spec: meet.md §7
constexpr auto kTcpAfterRelay = 1000ms;                    // spec: meet.md §7
constexpr std::size_t kMaxChecked = 3;                     // spec: meet.md §7
constexpr std::chrono::milliseconds kDirectPatience = 5s;  // spec: meet.md §7
constexpr auto kProofPatience = connection::kAttemptPatience;
constexpr auto kPlaceAgain = 500ms;  // guess

/// Addresses that are likely to answer first come first: of an interface's network, then as servers see them.
std::vector<Endpoint> in_dialling_order(const std::vector<Candidate>& candidates, const std::vector<Candidate>& own) {
  const auto is_near = [&](const Candidate& candidate) {
    return std::ranges::any_of(own, [&](const Candidate& each) {
      return each.kind == Candidate::Kind::host && candidate.kind == Candidate::Kind::host &&
             core::prefix_of(each.address) == core::prefix_of(candidate.address);
    });
  };
  std::vector<Endpoint> order;
  for (const Candidate& each : candidates)
    if (is_near(each)) order.push_back(each.address);
  for (const Candidate& each : candidates)
    if (!is_near(each) && each.kind == Candidate::Kind::server_reflexive) order.push_back(each.address);
  for (const Candidate& each : candidates)
    if (!is_near(each) && each.kind == Candidate::Kind::host) order.push_back(each.address);
  return order;
}

class ViaDialer final : public Dialer {
 public:
  ViaDialer(boost::asio::io_context& io, DialRequest request, Handler handler)
      : io_(io),
        request_(std::move(request)),
        via_(*request_.via),
        handler_(std::move(handler)),
        timer_(io),
        relay_timer_(io),
        tcp_timer_(io),
        proof_timer_(io),
        deadline_(io) {
    boost::asio::post(io_, lifetime_.guard([this] { start(); }));
  }

 private:
  using Clock = std::chrono::steady_clock;
  using Made = Result<std::unique_ptr<Connection>>;
  /// Of an attempt: to the candidates, or by the place.
  enum class AttemptKind { direct, relay, tcp, tcp_relay };
  static bool is_relay(AttemptKind kind) { return kind == AttemptKind::relay || kind == AttemptKind::tcp_relay; }

  void start() {
    if (auto prepared = prepare(); !prepared) return finish(tl::unexpected(prepared.error()));
    deadline_.expires_at(ends_at_);
    deadline_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
      if (!cancelled) finish(tl::unexpected(unreachable()));
    }));
    reach_place();
  }

  Status prepare() {
    if (!request_.credentials) return fail(Errc::bad_argument, "dial by a meeting place", "that needs a key");
    UDTCAT_TRY(own_, own_name(*request_.credentials));
    UDTCAT_TRY(name_, listener_name(*request_.credentials));
    by_udp_ = request_.transport.kind != TransportKind::tcp;
    by_tcp_ = request_.transport.kind != TransportKind::native;
    DialRequest own = own_request();
    own.transport.kind = by_udp_ ? TransportKind::native : TransportKind::tcp;
    own.via = request_.via;
    UDTCAT_TRY(pair_, DialledPair::create(io_, own));
    pair_->on_check(lifetime_.guard([this](const Endpoint& from) { on_check(from); }));
    return {};
  }

  // ---- At the place ------------------------------------------------------------------------------------------------

  void reach_place() {
    place_dialing_ =
        std::make_unique<PlaceDialing>(io_, via_, request_.transport, left(), lifetime_.guard([this](Made place) {
          const auto over = std::move(place_dialing_);
          if (!place) return finish(tl::unexpected(place.error()));
          pair_->take_place(std::move(*place), lifetime_.guard([this](const Error& error) { on_place_lost(error); }));
          pair_->gather(lifetime_.guard([this](std::vector<Candidate> candidates) {
            own_candidates_ = std::move(candidates);
            ask();
          }));
        }));
  }

  /// A race that has begun goes on: the place is not needed for it.
  void on_place_lost(const Error& error) {
    if (racing()) return;
    core::log().info("{}", error.message());
    last_error_ = error;
    after(kPlaceAgain, [this] { reach_place(); });
  }

  void ask() {
    Offer offer{.id = {},
                .gets_no_udp = pair_->gets_no_udp(),
                .application = request_.session.application,
                .candidates = own_candidates_};
    if (const auto drawn = crypto::randomise(offer.id); !drawn) return finish(tl::unexpected(drawn.error()));
    auto bytes = sign(offer, *own_, *name_);
    if (!bytes) return finish(tl::unexpected(bytes.error()));
    offer_id_ = offer.id;
    asked_at_ = Clock::now();
    pair_->ask({*name_, std::move(*bytes)}, lifetime_.guard([this](const Message& message) {
      if (const auto* const answered = std::get_if<Answered>(&message)) return on_answer(*answered);
      on_refused(std::get<Refused>(message));
    }));
  }

  void on_refused(const Refused& refused) {
    last_error_ = refusal(refused);
    const bool may_come = !via_.of_ticket || Clock::now() < begun_at_ + request_.closed_port_patience;
    const bool is_full = refused.why == Refused::Why::no_room;
    if (!is_full && (refused.why != Refused::Why::not_registered || !may_come))
      return finish(tl::unexpected(*last_error_));
    core::log().debug("{}", last_error_->message());
    after(is_full ? kAskWithoutRoom : kAskAgain, [this] { ask(); });
  }

  [[nodiscard]] Error refusal(const Refused& refused) const {
    const std::string what = fmt::format("reach the listener by {}", text_of(via_));
    switch (refused.why) {
      case Refused::Why::not_registered:
        return {Errc::cannot_reach, what,
                via_.of_ticket ? "nobody waits there by this ticket (any more)"
                               : "nobody is registered there by that key: does the other end wait, with -l, --via and "
                                 "the same key?"};
      case Refused::Why::by_listener:
        return {Errc::authentication_failed, what,
                "the listener refuses: " + core::printable(refused.text, core::kShownBytes)};
      case Refused::Why::no_room:
        return {Errc::cannot_reach, what, "the place has no room: " + core::printable(refused.text, core::kShownBytes)};
      case Refused::Why::not_allowed:
        break;
    }
    return {Errc::authentication_failed, what,
            "the place does not allow it: " + core::printable(refused.text, core::kShownBytes)};
  }

  // ---- The race ----------------------------------------------------------------------------------------------------

  void on_answer(const Answered& answered) {
    const auto opened = open_answer(answered.answer, own_->public_key());
    if (!opened) return finish(tl::unexpected(opened.error()));
    if (opened->signer != *name_ || opened->answer.id != offer_id_)
      return finish(fail(Errc::authentication_failed, "read the answer of the listener",
                         "it is signed by another key, or answers another offer"));
    const auto reachable = usable(opened->answer.candidates, own_candidates_);
    candidates_ = in_dialling_order(reachable, own_candidates_);
    remotes_ = reachable;
    const auto delay = std::clamp<Clock::duration>(3 * (Clock::now() - asked_at_), kRelayDelay, kMaxRelayDelay);
    const bool is_udp_blocked = !by_udp_ || pair_->gets_no_udp() || opened->answer.gets_no_udp;
    racing_ = true;
    if (by_udp_) race_by_udp(reachable, answered.relay, delay);
    if (!by_tcp_) return;
    if (answered.relay.by_tcp) tcp_token_ = answered.relay.token;
    tcp_timer_.expires_after(is_udp_blocked ? 0ms : delay + kTcpAfterRelay);
    tcp_timer_.async_wait(
        lifetime_.guard([this](const boost::system::error_code& /*never cancelled*/) { race_by_tcp(); }));
  }

  void race_by_udp(const std::vector<Candidate>& reachable, const Relay& relay, Clock::duration relay_delay) {
    // All at once, when the listener sends to this end, too: each attempt to dial begins later than the one before.
    for (const Candidate& each : reachable)
      if (each.kind == Candidate::Kind::server_reflexive)
        pair_->engine()->send_stun(each.address, net::binding_indication());
    if (!candidates_.empty()) direct_ = dial_at(candidates_, AttemptKind::direct, pair_->engine());
    relay_ = pair_->bind(relay, lifetime_.guard([this] {
      relay_is_bound_ = true;
      dial_relay();
    }));
    for (const Endpoint& each : std::exchange(early_checks_, {})) on_check(each);
    relay_timer_.expires_after(direct_ ? relay_delay : 0ms);
    relay_timer_.async_wait(lifetime_.guard([this](const boost::system::error_code&) {
      relay_is_due_ = true;
      dial_relay();
    }));
  }

  /// A peer-reflexive candidate (RFC 8445 §7.3.1.3): a NAT that draws its ports has drawn one for the checks.
  void on_check(const Endpoint& from) {
    if (!racing()) {
      if (early_checks_.size() < kMaxChecked) early_checks_.push_back(from);
      return;
    }
    const bool is_known = from == relay_ || std::ranges::find(candidates_, from) != candidates_.end();
    // Anybody can forge the source of a check; the listener has signed where it is.
    const bool is_signed = std::ranges::find(candidates_, core::host_of(from), core::host_of) != candidates_.end();
    if (is_known || !is_signed || checked_.size() == kMaxChecked) return;
    candidates_.push_back(from);
    checked_.push_back(dial_at({from}, AttemptKind::direct, pair_->engine()));
  }

  void dial_relay() {
    if (!relay_ || !relay_is_bound_ || !relay_is_due_ || relayed_) return;
    relayed_ = dial_at({*relay_}, AttemptKind::relay, pair_->engine());
  }

  /// The listener's TCP port has the number of its UDP port. By the place it is a little later: that costs others.
  void race_by_tcp() {
    if (!candidates_.empty()) tcp_direct_ = dial_by_tcp(candidates_, AttemptKind::tcp);
    if (!tcp_token_) return;
    tcp_timer_.expires_after(tcp_direct_ ? kRelayDelay : 0ms);
    tcp_timer_.async_wait(lifetime_.guard([this](const boost::system::error_code& /*never cancelled*/) {
      tcp_relayed_ = dial_by_tcp({pair_->place_peer()}, AttemptKind::tcp_relay);
    }));
  }

  std::unique_ptr<Dialer> dial_by_tcp(const std::vector<Endpoint>& addresses, AttemptKind kind) {
    DialRequest own = own_request();
    own.transport.kind = TransportKind::tcp;
    if (kind == AttemptKind::tcp_relay) own.transport.proxied_host = via_.at.host;
    auto engine = pair_->tcp_engine(own, kind == AttemptKind::tcp_relay ? tcp_token_ : std::nullopt);
    if (engine) return dial_at(addresses, kind, std::move(*engine));
    core::log().info("{}; without TCP", engine.error().message());
    return nullptr;
  }

  [[nodiscard]] bool racing() const { return racing_; }

  [[nodiscard]] DialRequest own_request() const {
    DialRequest request;
    request.family = request_.family;
    request.peer_name = request_.peer_name;
    request.timeout = request.closed_port_patience = left();
    request.credentials = request_.credentials->duplicate();
    request.session = request_.session;
    request.transport = request_.transport;
    return request;
  }

  std::unique_ptr<Dialer> dial_at(const std::vector<Endpoint>& addresses, AttemptKind kind,
                                  std::shared_ptr<transport::Engine> engine) {
    DialRequest request = own_request();
    request.addresses = addresses;
    // At a candidate there may be a third party, which is to get few packets.
    if (!is_relay(kind)) request.timeout = request.closed_port_patience = std::min(left(), kDirectPatience);
    const bool by_tcp = kind == AttemptKind::tcp || kind == AttemptKind::tcp_relay;
    request.transport.kind = by_tcp ? TransportKind::tcp : TransportKind::native;
    // A listener that is registered has its port: one that is closed is somebody else's.
    if (kind == AttemptKind::tcp) request.closed_port_patience = 0ms;
    // It moves between the ends' paths by itself, and has one flow unless the user wants more. A relay's token is good
    // for one connection.
    if (!request.session.flows || kind == AttemptKind::tcp_relay) request.session.flows = 1;
    return connection::dial_directly(
        io_, std::move(request), lifetime_.guard([this, kind](Made made) {
          if (made) won_by_ = kind;
          if (made) return finish(std::move(made));
          on_failed(made.error(), kind);
        }),
        std::move(engine), lifetime_.guard([this](Clock::duration /*round_trip*/, std::function<void()> go_on) {
          proofs_.push_back(std::move(go_on));
          if (proofs_.size() == 1) boost::asio::post(io_, lifetime_.guard([this] { let_go_on(); }));
        }));
  }

  /// The listener has one session of those that race, and the connector the same: one attempt after the other goes on
  /// where it has proved the key. An earlier one may have been given up meanwhile.
  void let_go_on() {
    if (proofs_.empty()) return;
    proof_timer_.expires_after(kProofPatience);
    proof_timer_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
      if (cancelled) return;
      proofs_.pop_front();
      let_go_on();
    }));
    const auto go_on = proofs_.front();
    go_on();
  }

  /// At an address of another network there may be somebody else, who has not the key: only a relay is the listener.
  void on_failed(const Error& error, AttemptKind kind) {
    core::log().debug("{}", error.message());
    const bool is_final = error.code == Errc::authentication_failed || error.code == Errc::parameters_refused;
    if (is_relay(kind) && is_final) return finish(tl::unexpected(error));
    if (kind == AttemptKind::tcp_relay) tcp_error_ = error;
  }

  // ---- The end -----------------------------------------------------------------------------------------------------

  [[nodiscard]] Error unreachable() const {
    if (place_dialing_)
      return {Errc::cannot_reach, fmt::format("reach the meeting place {}", text_of(via_)), "no answer in time"};
    if (!racing()) {
      if (!last_error_)
        return {Errc::cannot_reach, fmt::format("reach the listener by {}", text_of(via_)), "no answer in time"};
      Error error = *last_error_;
      if (error.code == Errc::connection_broken) error.code = Errc::cannot_reach;  // that with the place
      return error;
    }
    std::string tried;
    for (const Endpoint& each : candidates_) tried += (tried.empty() ? "" : ", ") + each.to_string();
    if (relay_) tried += (tried.empty() ? "" : ", ") + fmt::format("the relay {}", relay_->to_string());
    if (tcp_relayed_ || tcp_error_)
      tried += (tried.empty() ? "" : ", ") + fmt::format("the relay by TCP at {}", text_of(via_));
    std::string cause = "nobody answered at " + (tried.empty() ? "any address" : tried);
    if (tcp_error_) cause += "; by TCP: " + tcp_error_->cause;
    return {Errc::cannot_reach, fmt::format("reach the listener by {}", text_of(via_)), std::move(cause)};
  }

  void finish(Made made) {
    lifetime_.end();
    direct_.reset();
    checked_.clear();
    relayed_.reset();
    tcp_direct_.reset();
    tcp_relayed_.reset();
    if (made) {
      if (relay_) remotes_.push_back({Candidate::Kind::relayed, *relay_});
      if (won_by_ == AttemptKind::tcp_relay) remotes_.push_back({Candidate::Kind::relayed, pair_->place_peer()});
      (*made)->set_candidates(addresses_of(own_candidates_), remotes_);
      if (won_by_ == AttemptKind::direct || won_by_ == AttemptKind::relay) pair_->go_on(**made, candidates_);
      if (won_by_ == AttemptKind::tcp_relay) {
        (*made)->name_paths(relay_words(via_, {pair_->place_peer()}));
        pair_->go_on_by_tcp();
      }
    }
    boost::asio::post(
        io_, lifetime_.guard([this, handler = std::move(handler_), kept = std::make_shared<Made>(std::move(made))] {
          place_dialing_.reset();
          pair_.reset();
          handler(std::move(*kept));
        }));
  }

  [[nodiscard]] std::chrono::milliseconds left() const {
    return std::max(std::chrono::duration_cast<std::chrono::milliseconds>(ends_at_ - Clock::now()), 1ms);
  }

  template <typename Step>
  void after(Clock::duration pause, Step step) {
    timer_.expires_after(pause);
    timer_.async_wait(lifetime_.guard([step](const boost::system::error_code& cancelled) {
      if (!cancelled) step();
    }));
  }

  boost::asio::io_context& io_;
  DialRequest request_;
  const MeetingPlace& via_;
  Handler handler_;
  const Clock::time_point begun_at_ = Clock::now();
  const Clock::time_point ends_at_ = begun_at_ + request_.timeout;
  std::shared_ptr<const KeyPair> own_;
  std::optional<PublicKey> name_;
  std::shared_ptr<DialledPair> pair_;
  std::unique_ptr<PlaceDialing> place_dialing_;
  std::vector<Candidate> own_candidates_;
  Offer::Id offer_id_{};
  Clock::time_point asked_at_{};
  std::vector<Endpoint> candidates_;
  std::vector<Candidate> remotes_;
  std::optional<Endpoint> relay_;
  bool relay_is_bound_ = false;
  bool relay_is_due_ = false;
  std::unique_ptr<Dialer> direct_;
  std::vector<Endpoint> early_checks_;            // before the answer
  std::vector<std::unique_ptr<Dialer>> checked_;  // where checks came from
  std::unique_ptr<Dialer> relayed_;
  bool by_udp_ = true;
  bool by_tcp_ = true;
  bool racing_ = false;
  std::optional<transport::RelayToken> tcp_token_;  // none: the place does not relay TCP
  std::unique_ptr<Dialer> tcp_direct_;
  std::unique_ptr<Dialer> tcp_relayed_;
  std::optional<Error> tcp_error_;  // of the relay
  AttemptKind won_by_ = AttemptKind::direct;
  std::deque<std::function<void()>> proofs_;  // of attempts that may have a session; the first has gone on
  std::optional<Error> last_error_;
  boost::asio::steady_timer timer_;
  boost::asio::steady_timer relay_timer_;
  boost::asio::steady_timer tcp_timer_;
  boost::asio::steady_timer proof_timer_;
  boost::asio::steady_timer deadline_;
  core::Lifetime lifetime_;
};

}  // namespace

std::unique_ptr<Dialer> dial_via(boost::asio::io_context& io, DialRequest request, Dialer::Handler handler) {
  return std::make_unique<ViaDialer>(io, std::move(request), std::move(handler));
}

}  // namespace udtcat::meeting
