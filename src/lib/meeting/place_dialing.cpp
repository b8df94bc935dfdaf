// SPDX-License-Identifier: Apache-2.0
#include "lib/meeting/place_dialing.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "lib/connection/direct.hpp"
#include "lib/meeting/message.hpp"
#include "lib/meeting/names.hpp"
#include "lib/net/http_proxy.hpp"

namespace udtcat::meeting {

std::string text_of(const MeetingPlace& place) { return to_string(place.at); }

Connection::PathWords relay_words(const MeetingPlace& place, std::vector<Endpoint> relays) {
  return [name = text_of(place), relays = std::move(relays)](const Endpoint& path) {
    const bool is_relayed = std::ranges::find(relays, path) != relays.end();
    return is_relayed ? fmt::format("; the meeting place {} relayed the session", name) : std::string();
  };
}

PlaceDialing::PlaceDialing(boost::asio::io_context& io, const MeetingPlace& place, const TransportOptions& by,
                           std::chrono::milliseconds timeout, Dialer::Handler handler)
    : io_(io),
      place_(place),
      kind_(by.kind),
      proxy_(by.proxy),
      deadline_(std::chrono::steady_clock::now() + timeout),
      handler_(std::move(handler)),
      resolver_(io, place.family, {.timeout = timeout}) {
  resolver_.look_up(place.at, lifetime_.guard([this](const Result<std::vector<Endpoint>>& found) { dial_at(found); }));
}

void PlaceDialing::dial_at(const Result<std::vector<Endpoint>>& found) {
  const bool is_known_to_proxy = proxy_ && kind_ != TransportKind::native && net::goes_by(*proxy_, place_.at.host);
  if (!found && !is_known_to_proxy) return finish(tl::unexpected(found.error()));
  DialRequest request;
  if (found) request.addresses = *found;
  request.name = place_.at;
  request.family = place_.family;
  request.peer_name = text_of(place_);
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - std::chrono::steady_clock::now());
  request.timeout = std::max(left, std::chrono::milliseconds(1));
  request.session.application = kApplication;
  request.session.lanes = 1;
  request.session.streams = kMaxPairsOfListener;
  request.transport.kind = kind_;
  request.transport.proxy = proxy_;
  request.transport.memory_bytes = kMinMemoryBytes;
  if (place_.credentials) {
    request.credentials = place_.credentials->duplicate();
  } else {
    auto key = public_place_key();
    if (!key) return finish(tl::unexpected(key.error()));
    request.credentials = std::move(*key);
  }
  dialer_ = connection::dial_directly(
      io_, std::move(request),
      lifetime_.guard([this](Result<std::unique_ptr<Connection>> made) { finish(std::move(made)); }));
}

void PlaceDialing::finish(Result<std::unique_ptr<Connection>> made) {
  const auto handler = handler_;  // a copy: it may destroy this
  if (made) return handler(std::move(made));
  Error error = made.error();
  error.what = fmt::format("reach the meeting place {}", text_of(place_));
  error.cause = made.error().cause.empty() ? made.error().message() : made.error().cause;
  handler(tl::unexpected(std::move(error)));
}

}  // namespace udtcat::meeting
