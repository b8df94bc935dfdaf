// SPDX-License-Identifier: Apache-2.0
/// listen_via(): listens at its addresses, and is registered at a place for as long as it does.
#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "lib/connection/direct.hpp"
#include "lib/core/lifetime.hpp"
#include "lib/core/log.hpp"
#include "lib/core/printable.hpp"
#include "lib/core/try.hpp"
#include "lib/meeting/binding_client.hpp"
#include "lib/meeting/candidate_gathering.hpp"
#include "lib/meeting/check_sender.hpp"
#include "lib/meeting/message_stream.hpp"
#include "lib/meeting/names.hpp"
#include "lib/meeting/place_dialing.hpp"
#include "lib/meeting/signed_messages.hpp"
#include "lib/meeting/username.hpp"
#include "lib/meeting/via.hpp"

namespace udtcat::meeting {

namespace {

using namespace std::chrono_literals;

constexpr std::chrono::seconds kFirstRedialPause{1};       // spec: meet.md §4
constexpr std::chrono::seconds kMaxRedialPause{30};        // spec: meet.md §4
constexpr std::chrono::minutes kLastingRegistration{1};    // guess: twice that pause; one that ends sooner is no news
constexpr std::chrono::seconds kPlacePatience{10};         // guess: as a user has
constexpr std::chrono::seconds kRegistrationPatience{10};  // spec: meet.md §8
constexpr std::chrono::seconds kRefreshCandidates{10};     // spec: meet.md §5, so that a NAT's mapping lives as well
constexpr std::chrono::milliseconds kSessionWatch{100};    // guess: a third of a silence
constexpr std::chrono::milliseconds kConnectGap{250};      // guess: a connector that tries again waits about as long
constexpr std::chrono::seconds kRebindGap{1};              // guess: an answer comes within it
constexpr std::chrono::seconds kCheckInterval{15};         // spec: meet.md §7
constexpr std::size_t kOfferIds = 4096;                    // spec: meet.md §3

/// The ids that were seen last.
/// Threads: unsynchronised.
class SeenOffers {
 public:
  /// Whether `id` is new, which it is no more.
  [[nodiscard]] bool add(const Offer::Id& id) {
    if (!ids_.insert(id).second) return false;
    oldest_first_.push_back(id);
    if (oldest_first_.size() <= kOfferIds) return true;
    ids_.erase(oldest_first_.front());
    oldest_first_.pop_front();
    return true;
  }

 private:
  std::set<Offer::Id> ids_;
  std::deque<Offer::Id> oldest_first_;
};

/// Threads: confined to the io_context thread.
class ViaListener final : public Listener {
 public:
  ViaListener(boost::asio::io_context& io, const ListenRequest& request, std::shared_ptr<const KeyPair> own)
      : io_(io),
        via_(request.via),
        transport_(request.transport),
        own_(std::move(own)),
        applications_{request.session.application},
        timer_(io),
        refresh_(io),
        session_timer_(io) {
    for (const FurtherApplication& each : request.further) applications_.push_back(each.session.application);
    if (const PairCredentials* const pair = request.credentials->pair()) peers_ = pair->peers;
  }
  ViaListener(const ViaListener&) = delete;
  ViaListener& operator=(const ViaListener&) = delete;
  ~ViaListener() override { leave(); }

  void start(std::unique_ptr<Listener> listener) {
    listener_ = std::move(listener);
    client_.emplace(io_, [this](const Endpoint& server, std::vector<std::byte> message) {
      listener_->send_stun(server, std::move(message));
    });
    gathering_.emplace(io_, *client_, listener_->local_endpoints(), via_->stun);
    listener_->on_stun([this](const Endpoint& from, std::span<const std::byte> message) {
      client_->handle(from, message);
      if (on_stun_) on_stun_(from, message);
    });
    reach_place();
  }

  /// A session that may go by a relay: whoever it breaks for is told, and its relay is mended where it is silent.
  /// One that comes while nobody has asked for this end by the place has exchanged no candidates.
  void take_session(Connection& session) {
    std::vector<Candidate> remotes;
    std::vector<Endpoint> relays;
    for (const auto& [id, pair] : pairs_) {
      remotes.insert(remotes.end(), pair.remotes.begin(), pair.remotes.end());
      if (pair.relay) relays.push_back(*pair.relay);
      if (pair.tcp_token) relays.push_back(place_->peer());
    }
    if (!remotes.empty()) session.set_candidates(local_endpoints(), remotes);
    if (relays.empty()) return;
    const auto watched = std::make_shared<WatchedSession>(WatchedSession{
        .session = session, .remotes = std::move(remotes), .checked_at = std::chrono::steady_clock::now()});
    session.watch_path(std::nullopt);
    session.name_paths(
        [watched, words = relay_words(*via_, std::move(relays))](const Endpoint& path) { return words(path); });
    sessions_.push_back(watched);
    if (sessions_.size() == 1) watch_sessions();
  }

  [[nodiscard]] std::vector<Endpoint> local_endpoints() const override { return listener_->local_endpoints(); }
  [[nodiscard]] std::vector<Endpoint> tcp_endpoints() const override { return listener_->tcp_endpoints(); }
  [[nodiscard]] std::optional<Error> tcp_failure() const override { return listener_->tcp_failure(); }
  void send_stun(const Endpoint& peer, std::vector<std::byte> message) override {
    listener_->send_stun(peer, std::move(message));
  }
  void on_stun(StunHandler handler) override { on_stun_ = std::move(handler); }
  void on_relay(RelayHandler handler) override { listener_->on_relay(std::move(handler)); }
  void wait_at(const Endpoint& relay, const RelayToken& token, const std::string& name) override {
    listener_->wait_at(relay, token, name);
  }
  /// The relays of sessions that are there are bound by the listening port: it takes nobody else from now on.
  void stop() override {
    std::erase_if(sessions_, [](const auto& each) { return each.expired(); });
    if (sessions_.empty()) {
      leave();
      return listener_->stop();
    }
    stopped_ = true;
    keep_bindings();
    leave_place();
  }
  [[nodiscard]] bool has_stopped() const { return stopped_; }

 private:
  /// An offer, from its arrival until the place ends its stream.
  struct IncomingPair {
    std::unique_ptr<MessageStream> messages;
    std::optional<CheckSender> checks;
    std::optional<Endpoint> relay;
    std::unique_ptr<KeptBinding> binding;
    std::optional<RelayToken> tcp_token;  // none: the place does not relay TCP
    std::chrono::steady_clock::time_point connected_at{};
    std::vector<Candidate> remotes{};  // of the other end, and the relay
  };

  /// Lives as long as its session does.
  struct WatchedSession {
    Connection& session;
    std::vector<Candidate> remotes;  // of all that asked for this end
    std::chrono::steady_clock::time_point mended_at{};
    std::chrono::steady_clock::time_point checked_at{};
  };

  /// A NAT may have given this end another address.
  void watch_sessions() {
    std::erase_if(sessions_, [](const auto& each) { return each.expired(); });
    std::erase_if(bindings_, [](const auto& each) { return each->is_over(); });
    if (sessions_.empty()) {
      if (!stopped_) return;
      leave();
      return listener_->stop();
    }
    const auto now = std::chrono::steady_clock::now();
    for (const auto& each : sessions_) {
      const auto watched = each.lock();
      if (stopped_ && now - watched->checked_at >= kCheckInterval) send_checks(*watched, now);
      if (!watched->session.path_is_silent() || now - watched->mended_at < kRebindGap) continue;
      watched->mended_at = now;
      for (auto& [id, pair] : pairs_)
        if (pair.binding && pair.relay == watched->session.path()) pair.binding->bind_again();
      for (const auto& binding : bindings_) binding->bind_again();
    }
    session_timer_.expires_after(kSessionWatch);
    session_timer_.async_wait(sessions_lifetime_.guard([this](const boost::system::error_code& cancelled) {
      if (!cancelled) watch_sessions();
    }));
  }

  /// Of a listener that has left the place, which no AGAIN reaches: a firewall of this side stays open for the
  /// connector, which tries to come directly.
  void send_checks(WatchedSession& watched, std::chrono::steady_clock::time_point now) {
    watched.checked_at = now;
    const auto at = std::ranges::find(watched.remotes, watched.session.path(), &Candidate::address);
    if (at == watched.remotes.end() || at->kind != Candidate::Kind::relayed) return;
    for (const Candidate& each : watched.remotes)
      if (each.kind != Candidate::Kind::relayed && quota_.take(each.address, now)) listener_->send_check(each.address);
  }

  void leave() {
    sessions_lifetime_.end();
    session_timer_.cancel();
    leave_place();
    bindings_.clear();
  }

  void leave_place() {
    lifetime_.end();
    timer_.cancel();
    refresh_.cancel();
    place_dialing_.reset();
    pairs_.clear();
    registration_.reset();
    if (place_) place_->abort({Errc::interrupted, "wait at a meeting place", "this end listens no more"});
    place_.reset();
  }

  // ---- Registration ------------------------------------------------------------------------------------------------

  void reach_place() {
    place_dialing_ = std::make_unique<PlaceDialing>(io_, *via_, transport_, kPlacePatience,
                                                    lifetime_.guard([this](Result<std::unique_ptr<Connection>> place) {
                                                      const auto over = std::move(place_dialing_);
                                                      if (!place) return on_lost(place.error());
                                                      take_place(std::move(*place));
                                                    }));
  }

  void take_place(std::unique_ptr<Connection> place) {
    place_ = std::move(place);
    place_->on_closed(lifetime_.guard([this](const Status& how) {
      on_lost(how ? Error{Errc::connection_broken, "talk to the meeting place " + text_of(*via_), "it has closed"}
                  : how.error());
    }));
    place_->on_stream([this](StreamId id) { take_offer(place_->accept_stream(id)); });
    registration_ = std::make_unique<MessageStream>(
        place_->open_stream(),
        MessageStream::Handlers{.on_message = [this](const Message& each) { on_message(each); },
                                .on_over = [this](const Status&) { lose("it has ended the registration"); }});
    registration_->send(Register{own_->public_key()});
    timer_.expires_after(kRegistrationPatience);
    timer_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
      if (!cancelled) lose("it does not register this end");
    }));
    refresh();
  }

  void on_message(const Message& message) {
    if (const auto* const challenge = std::get_if<Challenge>(&message)) {
      const auto signature = sign_registration(*own_, challenge->nonce);
      if (!signature) return lose(signature.error().message());
      return registration_->send(Proof{*signature});
    }
    if (std::holds_alternative<Registered>(message)) return on_registered();
    if (const auto* const refused = std::get_if<Refused>(&message))
      lose("it refuses: " + core::printable(refused->text, core::kShownBytes));
  }

  void on_registered() {
    timer_.cancel();
    registered_at_ = std::chrono::steady_clock::now();
    core::log().info("registered at the meeting place {}", text_of(*via_));
    if (std::exchange(was_lost_, false)) core::log().warn("back at the meeting place {}", text_of(*via_));
  }

  void lose(const std::string& why) {
    on_lost({Errc::connection_broken, "register at the meeting place " + text_of(*via_), why});
  }

  /// Posted: the caller may be of what goes.
  void on_lost(const Error& error) {
    lifetime_.end();
    timer_.cancel();
    refresh_.cancel();
    waiting_answers_.clear();
    const auto registered_at = std::exchange(registered_at_, std::nullopt);
    if (registered_at && std::chrono::steady_clock::now() - *registered_at >= kLastingRegistration) {
      pause_ = kFirstRedialPause;
      said_that_lost_ = false;
    }
    if (!std::exchange(said_that_lost_, true)) {
      core::log().warn("{}; tried again until it is there", error.message());
      was_lost_ = true;
    }
    boost::asio::post(io_, lifetime_.guard([this] {
      keep_bindings();
      pairs_.clear();
      registration_.reset();
      place_.reset();
      place_dialing_.reset();
      timer_.expires_after(pause_);
      pause_ = std::min(2 * pause_, kMaxRedialPause);
      timer_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
        if (!cancelled) reach_place();
      }));
    }));
  }

  /// The relays of sessions that are there may outlive this end's session with the place.
  void keep_bindings() {
    std::erase_if(bindings_, [](const auto& each) { return each->is_over(); });
    for (auto& [id, pair] : pairs_)
      if (pair.binding) bindings_.push_back(std::move(pair.binding));
    while (bindings_.size() > kMaxPairsOfListener) bindings_.pop_front();
  }

  /// Candidates are there when an offer comes.
  void refresh() {
    std::erase_if(bindings_, [](const auto& each) { return each->is_over(); });
    gathering_->gather(place_address(), lifetime_.guard([this](std::vector<Candidate> candidates) {
      candidates_ = std::move(candidates);
      gathered_ = true;
      for (const auto& answer : std::exchange(waiting_answers_, {})) answer();
      refresh_.expires_after(kRefreshCandidates);
      refresh_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
        if (!cancelled) refresh();
      }));
    }));
  }

  /// Of its datagrams. None: this end sends it none.
  [[nodiscard]] std::optional<Endpoint> place_address() const {
    const bool by_udp = transport_.kind != TransportKind::tcp && !place_->peer().is_wildcard();
    return by_udp ? std::optional(place_->peer()) : std::nullopt;
  }

  // ---- Offers ------------------------------------------------------------------------------------------------------

  void take_offer(std::unique_ptr<Stream> stream) {
    const std::uint64_t id = next_pair_++;
    pairs_[id].messages = std::make_unique<MessageStream>(
        std::move(stream),
        MessageStream::Handlers{.on_message = [this, id](const Message& message) { on_pair_message(id, message); },
                                .on_over =
                                    [this, id](const Status&) {
                                      boost::asio::post(io_, lifetime_.guard([this, id] { pairs_.erase(id); }));
                                    }});
  }

  void on_pair_message(std::uint64_t id, const Message& message) {
    IncomingPair* const pair = &pairs_.at(id);
    if (std::holds_alternative<Again>(message)) {
      if (pair->checks) pair->checks->send_again();
      if (pair->binding) pair->binding->bind_again();
      return;
    }
    if (std::holds_alternative<Connect>(message)) {
      const auto now = std::chrono::steady_clock::now();
      if (!pair->tcp_token || now - pair->connected_at < kConnectGap) return;
      pair->connected_at = now;
      return listener_->wait_at(place_->peer(), *pair->tcp_token, via_->at.host);
    }
    const auto* const offered = std::get_if<Offered>(&message);
    if (offered == nullptr || pair->checks) return;
    const auto opened = open_offer(offered->offer, own_->public_key());
    const Status allowed = opened ? check(*opened) : Status(tl::unexpected(opened.error()));
    if (!allowed) {
      core::log().info("an offer by {} is refused: {}", text_of(*via_), allowed.error().message());
      pair->messages->send(Refused{Refused::Why::by_listener, allowed.error().cause});
      return pair->messages->finish();
    }
    if (gathered_) return answer(id, *offered, *opened);
    waiting_answers_.push_back([this, id, offered = *offered, opened = *opened] { answer(id, offered, opened); });
  }

  [[nodiscard]] Status check(const SignedOffer& opened) {
    const auto refuse = [](const char* why) { return fail(Errc::authentication_failed, "take an offer", why); };
    if (std::ranges::find(applications_, opened.offer.application) == applications_.end())
      return refuse("it is there for another purpose (both ends have to run the same command)");
    if (peers_) {
      if (const auto known = peers_->recognise(opened.signer, opened.offer.application); !known)
        return refuse("it does not know this key (its --peers has no line for it, or not for this purpose)");
    } else if (opened.signer != own_->public_key()) {
      return refuse("it has another key");
    }
    if (!seen_.add(opened.offer.id)) return refuse("it has had this offer already");
    return {};
  }

  void answer(std::uint64_t id, const Offered& offered, const SignedOffer& opened) {
    const auto found = pairs_.find(id);
    if (found == pairs_.end()) return;
    IncomingPair* const pair = &found->second;
    const Offer& offer = opened.offer;
    const Answer says{.id = offer.id, .gets_no_udp = !gathering_->is_place_reached(), .candidates = candidates_};
    const auto bytes = sign(says, *own_, opened.signer);
    if (!bytes) return core::log().warn("{}", bytes.error().message());
    pair->messages->send(AnswerToPlace{*bytes});
    pair->remotes = usable(offer.candidates, candidates_);
    if (offered.relay.udp_port != 0)
      pair->remotes.push_back({Candidate::Kind::relayed, place_->peer().with_port(offered.relay.udp_port)});
    const auto round_trip = place_->stats().rtt.value_or(std::chrono::microseconds(0));
    pair->checks.emplace(io_, quota_, usable(offer.candidates, candidates_),
                         std::chrono::duration_cast<std::chrono::milliseconds>(round_trip),
                         [this](const Endpoint& to) { listener_->send_check(to); });
    if (offered.relay.by_tcp) {
      pair->tcp_token = offered.relay.token;
      pair->remotes.push_back({Candidate::Kind::relayed, place_->peer()});
    }
    const auto place = place_address();
    if (!place || offered.relay.udp_port == 0) return;
    pair->relay = place->with_port(offered.relay.udp_port);
    pair->binding = std::make_unique<KeptBinding>(io_, *client_, *pair->relay, username_of(offered.relay.token), [] {});
  }

  boost::asio::io_context& io_;
  const std::shared_ptr<const MeetingPlace> via_;
  const TransportOptions transport_;
  const std::shared_ptr<const KeyPair> own_;
  std::vector<std::string> applications_;
  std::shared_ptr<KnownPeers> peers_;  // null with a shared key
  std::unique_ptr<Listener> listener_;
  StunHandler on_stun_;
  std::optional<BindingClient> client_;
  std::optional<CandidateGathering> gathering_;
  std::vector<Candidate> candidates_;
  bool gathered_ = false;
  std::deque<std::function<void()>> waiting_answers_;
  std::unique_ptr<PlaceDialing> place_dialing_;
  std::unique_ptr<Connection> place_;
  std::unique_ptr<MessageStream> registration_;
  std::chrono::seconds pause_ = kFirstRedialPause;
  bool said_that_lost_ = false;
  bool was_lost_ = false;  // and that was said
  std::optional<std::chrono::steady_clock::time_point> registered_at_;
  bool stopped_ = false;
  SeenOffers seen_;
  CheckQuota quota_;
  std::map<std::uint64_t, IncomingPair> pairs_;
  std::uint64_t next_pair_ = 0;
  std::deque<std::unique_ptr<KeptBinding>> bindings_;  // of pairs whose streams went with the place; oldest first
  boost::asio::steady_timer timer_;
  boost::asio::steady_timer refresh_;
  std::vector<std::weak_ptr<WatchedSession>> sessions_;
  boost::asio::steady_timer session_timer_;
  core::Lifetime sessions_lifetime_;
  core::Lifetime lifetime_;
};

}  // namespace

Result<std::unique_ptr<Listener>> listen_via(boost::asio::io_context& io, ListenRequest request,
                                             Listener::PeerHandler on_peer, Listener::RefusalHandler on_refused) {
  if (!request.credentials) return fail(Errc::bad_argument, "listen by a meeting place", "that needs a key");
  UDTCAT_TRY(auto own, own_name(*request.credentials));
  auto made = std::make_unique<ViaListener>(io, request, std::move(own));
  auto on_watched_peer = [&its = *made, on_peer = std::move(on_peer)](std::unique_ptr<Connection> session) {
    if (its.has_stopped()) return session->abort({Errc::interrupted, "take a session", "this end listens no more"});
    its.take_session(*session);
    on_peer(std::move(session));
  };
  UDTCAT_TRY(auto listener,
             connection::listen_directly(io, std::move(request), std::move(on_watched_peer), std::move(on_refused)));
  made->start(std::move(listener));
  return made;
}

}  // namespace udtcat::meeting
