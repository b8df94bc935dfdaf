// SPDX-License-Identifier: Apache-2.0
#include "lib/session/handshake.hpp"

#include <utility>

#include <fmt/format.h>
#include <boost/asio/post.hpp>

#include "lib/core/invariant.hpp"
#include "lib/core/try.hpp"
#include "lib/session/parameter_items.hpp"

namespace udtcat::session {
namespace {

/// RFC 8446 §5.1: what a TLS peer's first byte can be, seen by an end that speaks clear.
bool is_tls_content_type(std::byte first) { return first >= std::byte{20} && first <= std::byte{23}; }

}  // namespace

Handshake::Handshake(boost::asio::io_context& io, Role role, const Credentials* credentials,
                     const SessionOptions& options, std::uint32_t initial_window_bytes, Handler handler)
    : io_(io),
      role_(role),
      credentials_(credentials),
      options_(options),
      initial_window_bytes_(initial_window_bytes),
      handler_(std::move(handler)),
      offer_(make_offer(options, initial_window_bytes)),
      first_flight_timer_(io),
      deadline_timer_(io) {
  UDTCAT_INVARIANT((credentials == nullptr) == (options.protection == Protection::clear),
                   "only clear runs without a key; the program checks it");
}

Result<core::SharedBytes> Handshake::first_flight() {
  UDTCAT_INVARIANT(role_ == Role::connector && !tls_, "a connector asks once");
  if (credentials_ == nullptr) return core::SharedBytes::adopt(encode(offer_));
  UDTCAT_TRY(tls_, TlsHandshake::create(role_, *credentials_, applications()));
  const bool early = credentials_->shared() != nullptr;  // with key pairs there is no key for early data
  UDTCAT_CHECK(tls_->start(early ? encode(offer_) : std::vector<std::byte>()));
  return core::SharedBytes::adopt(tls_->take_output());
}

void Handshake::start(std::unique_ptr<transport::Channel> channel) {
  channel_ = std::move(channel);
  arm_deadlines();
  boost::asio::post(io_, lifetime_.guard([this] {
    if (credentials_ == nullptr) return read_clear_prefix();
    if (role_ == Role::listener) {
      auto tls = TlsHandshake::create(role_, *credentials_, applications());
      if (!tls) return give_up(tls.error());
      tls_ = std::move(*tls);
    }
    read_tls_record();
  }));
}

void Handshake::arm_deadlines() {
  first_flight_timer_.expires_after(kFirstFlightDeadline);
  first_flight_timer_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
    if (cancelled || !channel_ || state_ != State::silent) return;
    const bool silent = channel_->stats().bytes_received == 0;
    if (silent || role_ == Role::listener)
      give_up({Errc::cannot_reach, "handshake with " + channel_->peer().to_string(),
               silent ? "it said nothing in time" : "its first words did not come whole in time"});
  }));
  deadline_timer_.expires_after(kHandshakeDeadline);
  deadline_timer_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
    if (!cancelled && channel_)
      give_up({Errc::cannot_reach, "handshake with " + channel_->peer().to_string(), "not finished in time"});
  }));
}

// ---- TLS ----------------------------------------------------------------------------------------------------------

void Handshake::read_tls_record() {
  input_.clear();
  read_exactly(kTlsRecordHeaderBytes, &Handshake::on_tls_header);
}

void Handshake::on_tls_header() {
  if (role_ == Role::listener && begins_with_magic(input_))
    return read_exactly(kParameterPrefixBytes - kTlsRecordHeaderBytes, &Handshake::on_unsealed_prefix);
  const auto body_bytes = tls_record_body_bytes(std::span<const std::byte>(input_).first<kTlsRecordHeaderBytes>());
  if (!body_bytes) return give_up(body_bytes.error());
  read_exactly(*body_bytes, &Handshake::on_tls_record);
}

void Handshake::on_tls_record() {
  state_ = State::heard;
  const bool was_done = tls_->done();
  auto received = tls_->receive(input_);
  const bool holds = received && !was_done && tls_->done() && proof_handler_;
  if (holds) return std::exchange(proof_handler_, nullptr)(lifetime_.guard([this] { on_tls_done(); }));
  flush_tls();
  if (!received) return give_up(received.error());
  if (!was_done && tls_->done()) return on_tls_done();
  take_message();
}

void Handshake::on_tls_done() {
  flush_tls();
  if (auto offered = offer_again_if_unread(); !offered) return give_up(offered.error());
  take_message();
}

/// The listener may have rejected early data, as after a HelloRetryRequest.
Status Handshake::offer_again_if_unread() {
  if (role_ != Role::connector || tls_->early_data_taken()) return {};
  return send_message(encode(offer_));
}

void Handshake::flush_tls() {
  if (auto output = tls_->take_output(); !output.empty()) write(std::move(output));
}

// ---- Messages to a listener that come without TLS ------------------------------------------------------------------

/// A further flow of a session, or a peer at clear. Only a join is read any further.
void Handshake::on_unsealed_prefix() {
  const auto prefix = decode_prefix(input_);
  if (!join_handler_ || !prefix || prefix->kind != MessageKind::join) return refuse_clear_peer();
  read_exactly(prefix->body_bytes, &Handshake::on_join);
}

void Handshake::on_join() {
  const auto join = decode_join(input_);
  if (!join) return give_up(join.error());
  retire();
  const JoinHandler handler = std::move(join_handler_);
  handler(*join, std::move(channel_));
}

void Handshake::refuse_clear_peer() {
  // A peer at clear does not read TLS alerts: say it in its own language.
  write(encode(Answer(Refusal{"it wants --protect " + std::string(to_string(options_.protection)) + " and a key"})));
  give_up(tls_record_body_bytes(std::span<const std::byte>(input_).first<kTlsRecordHeaderBytes>()).error());
}

// ---- Parameters ---------------------------------------------------------------------------------------------------

void Handshake::read_clear_prefix() {
  input_.clear();
  read_exactly(kParameterPrefixBytes, &Handshake::on_clear_prefix);
}

void Handshake::on_clear_prefix() {
  if (is_tls_content_type(input_.front())) {
    if (role_ == Role::listener) write(encode(Answer(Refusal{"it runs --protect clear, without a key"})));
    return give_up({Errc::parameters_refused, "handshake with " + channel_->peer().to_string(),
                    "the other end wants a key, this one runs --protect clear"});
  }
  const auto prefix = decode_prefix(input_);
  if (!prefix) return give_up(prefix.error());
  const bool joins = role_ == Role::listener && join_handler_ && prefix->kind == MessageKind::join;
  read_exactly(prefix->body_bytes, joins ? &Handshake::on_join : &Handshake::take_message);
}

/// Goes on when a whole message is there: at clear it has just been read; under TLS it may come in several records.
void Handshake::take_message() {
  if (!tls_) return on_message(input_);
  const auto plaintext = tls_->take_input();
  message_.insert(message_.end(), plaintext.begin(), plaintext.end());
  if (agreed_ && plaintext.empty()) return finish_when_proved();
  if (message_.size() < kParameterPrefixBytes) return read_tls_record();
  const auto message_bytes = parameter_message_bytes(message_);
  if (!message_bytes) return give_up(message_bytes.error());
  if (message_.size() < *message_bytes) return read_tls_record();
  if (message_.size() > *message_bytes)
    return give_up({Errc::protocol_violated, "read the peer's parameters", "more than one message"});
  on_message(message_);
}

const SessionOptions& Handshake::options_for(std::string_view application) const {
  const auto found = std::ranges::find(further_, application, &SessionOptions::application);
  return found == further_.end() ? options_ : *found;
}

std::vector<std::string> Handshake::applications() const {
  std::vector<std::string> names{options_.application};
  for (const SessionOptions& each : further_) names.push_back(each.application);
  return names;
}

void Handshake::on_message(std::span<const std::byte> message) {
  if (role_ == Role::listener) return on_offer(message);
  on_answer(message);
}

void Handshake::on_offer(std::span<const std::byte> message) {
  const auto offer = decode_offer(message);
  if (!offer) return give_up(offer.error());
  Answer answer = decide(*offer, options_for(offer->application), initial_window_bytes_);
  // A permanent refusal comes before a temporary one.
  const auto identity = tls_ && tls_->done() ? tls_->peer() : std::nullopt;  // early data come with a shared key only
  if (identity && std::holds_alternative<Acceptance>(answer))
    if (const auto known = credentials_->pair()->peers->recognise(identity->key, offer->application); !known)
      answer = Refusal{fmt::format("the listener knows the connector's key, but not for {}", offer->application)};
  if (admits_ && std::holds_alternative<Acceptance>(answer))
    if (const auto room = admits_(channel_->peer(), identity, offer->application); !room)
      answer = Refusal{.reason = room.error().cause, .later = true};
  if (auto* acceptance = std::get_if<Acceptance>(&answer); acceptance != nullptr && acceptance->flows > 1)
    if (auto named = crypto::randomise(acceptance->session_id); !named) return give_up(named.error());
  if (auto sent = send_message(encode(answer)); !sent) return give_up(sent.error());
  if (const auto* refusal = std::get_if<Refusal>(&answer))
    return give_up({Errc::parameters_refused, "agree with " + channel_->peer().to_string(), refusal->reason});
  agreed_ = agree(*offer, std::get<Acceptance>(answer));
  finish_when_proved();
}

/// An offer in early data may be a recording: there is no session before the peer has proved the key.
void Handshake::finish_when_proved() {
  if (tls_ && !tls_->done()) return read_tls_record();
  finish(*agreed_);
}

void Handshake::on_answer(std::span<const std::byte> message) {
  const auto answer = decode_answer(message);
  if (!answer) return give_up(answer.error());
  const auto agreed = agree(offer_, *answer, options_.commands_of);
  if (!agreed) return give_up(agreed.error());
  finish(*agreed);
}

Status Handshake::send_message(std::vector<std::byte> message) {
  if (!tls_) {
    write(std::move(message));
    return {};
  }
  if (auto written = tls_->write(message); !written) return written;
  flush_tls();
  return {};
}

// ---- Both ends meet ----------------------------------------------------------------------------------------------

/// None at clear: there is no secret.
Result<std::optional<KeySchedule>> Handshake::key_schedule(const NegotiatedParameters& agreed) {
  if (!tls_) return std::nullopt;
  UDTCAT_TRY(const auto exporter, tls_->exporter(exporter_context(agreed)));
  UDTCAT_TRY(auto schedule, KeySchedule::from_exporter(exporter));
  return std::optional(std::move(schedule));
}

Result<std::unique_ptr<Session>> Handshake::make_session(const NegotiatedParameters& agreed) {
  UDTCAT_TRY(auto keys, key_schedule(agreed));
  UDTCAT_TRY(auto flow_key, keys ? keys->flow_key() : crypto::Secret32());
  if (agreed.protection < Protection::safe) keys.reset();
  auto session = std::make_unique<Session>(io_, role_, agreed, std::move(keys), std::move(channel_));
  if (agreed.flows > 1) session->allow_flows(JoinKey(std::move(flow_key), agreed.session_id));
  return session;
}

void Handshake::finish(NegotiatedParameters agreed) {
  retire();
  if (tls_) agreed.peer = tls_->peer();
  auto session = make_session(agreed);
  const Handler handler = std::move(handler_);
  handler(std::move(session));
}

void Handshake::retire() {
  state_ = State::over;
  first_flight_timer_.cancel();
  deadline_timer_.cancel();
  lifetime_.end();
}

void Handshake::give_up(Error error) {
  if (state_ == State::over) return;
  retire();
  channel_->close(kRefusalDrain);
  const Handler handler = std::move(handler_);
  handler(tl::unexpected(std::move(error)));
}

void Handshake::write(std::vector<std::byte> bytes) {
  // A write that fails ends the channel, and the read that is always outstanding says so.
  channel_->async_write(core::SharedBytes::adopt(std::move(bytes)), [](const Status&) {});
}

/// Appends `bytes` to input_ and goes on with `next`.
void Handshake::read_exactly(std::size_t bytes, void (Handshake::*next)()) {
  if (bytes == 0) return (this->*next)();
  const std::size_t before = input_.size();
  input_.resize(before + bytes);
  channel_->async_read(std::span(input_).subspan(before), lifetime_.guard([this, next](Status status) {
    if (!status) return give_up(tls_ && !tls_->done() ? tls_->why_broken(status.error()) : status.error());
    (this->*next)();
  }));
}

}  // namespace udtcat::session
