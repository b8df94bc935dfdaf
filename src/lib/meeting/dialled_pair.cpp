// SPDX-License-Identifier: Apache-2.0
#include "lib/meeting/dialled_pair.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <boost/asio/post.hpp>

#include "lib/connection/direct.hpp"
#include "lib/core/log.hpp"
#include "lib/core/try.hpp"
#include "lib/meeting/place_dialing.hpp"
#include "lib/meeting/username.hpp"
#include "lib/net/bind.hpp"
#include "lib/net/stun.hpp"

namespace udtcat::meeting {

namespace {

using namespace std::chrono_literals;

constexpr auto kWatch = 100ms;                 // guess: a third of the silence after which a path is left
constexpr auto kMendGap = 1s;                  // spec: meet.md §4: AGAIN is passed on once a second
constexpr auto kSteady = 30s;                  // guess: as long as the longest pause
constexpr auto kEachCandidate = 1s;            // guess: a path across the world has answered
constexpr auto kFirstPause = 1s;               // spec: meet.md §7
constexpr std::chrono::seconds kMaxPause{30};  // spec: meet.md §7

/// Of the families that this host has.
Result<std::vector<Endpoint>> open_ports(transport::Engine& engine, AddressFamily wanted) {
  std::vector<Endpoint> locals;
  std::optional<Error> failed;
  for (const AddressFamily family : {AddressFamily::ipv4, AddressFamily::ipv6}) {
    if (wanted != AddressFamily::any && wanted != family) continue;
    const auto port = engine.open_dialling_port(family);
    if (port)
      locals.push_back(net::wildcard(family).with_port(*port));
    else
      failed = port.error();
  }
  if (locals.empty()) return tl::unexpected(*failed);
  return locals;
}

}  // namespace

Result<std::shared_ptr<DialledPair>> DialledPair::create(boost::asio::io_context& io, const DialRequest& request) {
  if (request.transport.kind == TransportKind::tcp)
    return std::shared_ptr<DialledPair>(new DialledPair(io, request, nullptr, {}));
  UDTCAT_TRY(auto engine, connection::make_dialling_engine(io, request));
  UDTCAT_TRY(auto locals, open_ports(*engine, request.family));
  return std::shared_ptr<DialledPair>(new DialledPair(io, request, std::move(engine), std::move(locals)));
}

DialledPair::DialledPair(boost::asio::io_context& io, const DialRequest& request,
                         std::shared_ptr<transport::Engine> engine, std::vector<Endpoint> locals)
    : io_(io),
      via_(request.via),
      engine_(std::move(engine)),
      client_(io,
              [this](const Endpoint& server, std::vector<std::byte> message) {
                if (engine_) engine_->send_stun(server, std::move(message));
              }),
      gathering_(io, client_, std::move(locals), request.via->stun),
      timer_(io) {
  if (!engine_) return;
  engine_->on_stun([this](const Endpoint& from, std::span<const std::byte> message) {
    if (!net::is_binding_indication(message)) return client_.handle(from, message);
    if (on_check_) boost::asio::post(io_, lifetime_.guard([this, from] { on_check_(from); }));
  });
}

DialledPair::~DialledPair() {
  if (engine_) engine_->on_stun(nullptr);
  messages_.reset();
}

void DialledPair::take_place(std::unique_ptr<Connection> place, std::function<void(const Error&)> on_lost) {
  messages_.reset();
  place_ = std::move(place);
  on_lost_ = std::move(on_lost);
  place_->on_closed(lifetime_.guard([this](const Status& how) {
    lose(
        how ? Error{Errc::connection_broken, "talk to the meeting place " + text_of(*via_), "it has closed the session"}
            : how.error());
  }));
}

void DialledPair::lose(const Error& error) {
  messages_.reset();
  if (const auto on_lost = std::exchange(on_lost_, nullptr)) on_lost(error);
}

void DialledPair::ask(const Ask& message, std::function<void(const Message&)> handler) {
  on_answer_ = std::move(handler);
  if (!messages_)
    messages_ = std::make_unique<MessageStream>(
        place_->open_stream(),
        MessageStream::Handlers{.on_message = lifetime_.guard([this](const Message& each) { on_message(each); }),
                                .on_over = lifetime_.guard([this](const Status& /*all are alike*/) {
                                  boost::asio::post(io_, lifetime_.guard([this] {
                                    lose({Errc::connection_broken, "talk to the meeting place " + text_of(*via_),
                                          "it has ended the stream of this pair"});
                                  }));
                                })});
  messages_->send(message);
}

void DialledPair::on_message(const Message& message) {
  const bool answers = std::holds_alternative<Answered>(message) || std::holds_alternative<Refused>(message);
  if (!answers) return;
  if (const auto handler = std::exchange(on_answer_, nullptr)) handler(message);
}

std::optional<Endpoint> DialledPair::bind(const Relay& relay, std::function<void()> on_bound) {
  const auto place = place_address();
  if (relay.udp_port == 0 || !place) return std::nullopt;
  relay_ = place->with_port(relay.udp_port);
  binding_.emplace(io_, client_, *relay_, username_of(relay.token), std::move(on_bound));
  return relay_;
}

Result<std::shared_ptr<transport::Engine>> DialledPair::tcp_engine(
    const DialRequest& request, const std::optional<transport::RelayToken>& relayed) {
  UDTCAT_TRY(auto engine, connection::make_dialling_engine(io_, request));
  if (!relayed) return engine;
  engine->relay_by(*relayed);
  auto kept = std::make_shared<std::pair<std::shared_ptr<DialledPair>, std::shared_ptr<transport::Engine>>>(
      shared_from_this(), engine);
  return std::shared_ptr<transport::Engine>(std::move(kept), engine.get());
}

std::optional<Endpoint> DialledPair::place_address() const {
  const bool by_udp = engine_ && !place_->peer().is_wildcard();
  return by_udp ? std::optional(place_->peer()) : std::nullopt;
}

void DialledPair::go_on_by_tcp() {
  on_lost_ = nullptr;
  binding_.reset();
}

void DialledPair::go_on(Connection& session, std::vector<Endpoint> candidates) {
  on_lost_ = nullptr;
  on_check_ = [](const Endpoint&) {};
  if (!relay_) return;  // there is no other path
  session_ = &session;
  candidates_ = std::move(candidates);
  session.watch_path(relay_);
  session.name_paths(relay_words(*via_, {*relay_}));
  is_relayed_ = session.path() == *relay_;
  pause_ = kFirstPause;
  moved_at_ = Clock::now();
  try_at_ = moved_at_ + pause_;
  watch();
}

/// A direct path that has become silent is left for the relay by the session itself, and found again as the first was.
void DialledPair::watch() {
  timer_.expires_after(kWatch);
  timer_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
    if (!cancelled) watch();
  }));
  const auto now = Clock::now();
  const bool is_relayed = session_->path() == *relay_;
  if (is_relayed != std::exchange(is_relayed_, is_relayed)) on_moved(now);
  if (!is_relayed_) return;
  if (session_->path_is_silent()) mend_relay(now);
  try_candidates(now);
}

/// A direct path that was soon silent again is tried later and later, so that a path which loses much is not.
void DialledPair::on_moved(Clock::time_point now) {
  core::log().info("{}", is_relayed_
                             ? fmt::format("the session goes on by the relay of {}", text_of(*via_))
                             : fmt::format("the session goes on directly, to {}", session_->path().to_string()));
  next_candidate_ = 0;
  if (is_relayed_) {
    if (now - moved_at_ >= kSteady) pause_ = kFirstPause;
    try_at_ = now + pause_;
  }
  moved_at_ = now;
}

/// A NAT may have given either end another address: both bind anew.
void DialledPair::mend_relay(Clock::time_point now) {
  if (now - mended_at_ < kMendGap) return;
  mended_at_ = now;
  binding_->bind_again();
  if (messages_) messages_->send(Again{});
  if (next_candidate_ == 0) try_at_ = std::min(try_at_, now);
}

void DialledPair::try_candidates(Clock::time_point now) {
  if (now < try_at_ || candidates_.empty()) return;
  if (next_candidate_ == candidates_.size()) {
    session_->try_path(session_->path());  // no more packets to the last one, which may be another's address
    next_candidate_ = 0;
    try_at_ = now + pause_;
    pause_ = std::min<Clock::duration>(2 * pause_, kMaxPause);
    return;
  }
  if (next_candidate_ == 0 && messages_) messages_->send(Again{});
  session_->try_path(candidates_.at(next_candidate_++));
  try_at_ = now + kEachCandidate;
}

}  // namespace udtcat::meeting
