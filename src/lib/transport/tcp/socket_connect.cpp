// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/tcp/socket_connect.hpp"

#include <utility>

#include <fmt/format.h>
#include <boost/asio/post.hpp>

#include "lib/core/user_text.hpp"
#include "lib/net/system_error.hpp"
#include "lib/transport/channel.hpp"

namespace udtcat::transport::tcp {

namespace {

constexpr const char* kNobody = "nobody answered";

HostPort target_of(const Endpoint& peer, const TransportOptions& options) {
  return {options.proxied_host.empty() ? peer.host_to_string() : options.proxied_host, peer.port()};
}

std::shared_ptr<const HttpProxy> proxy_for(const HostPort& target, const TransportOptions& options) {
  return options.proxy && net::goes_by(*options.proxy, target.host) ? options.proxy : nullptr;
}

}  // namespace

SocketConnect::SocketConnect(boost::asio::io_context& io, const Endpoint& peer, const TransportOptions& options,
                             Handler handler, Bind bind)
    : peer_(peer),
      proxy_(proxy_for(target_of(peer, options), options)),
      target_(target_of(peer, options)),
      handler_(std::move(handler)),
      bind_(std::move(bind)),
      socket_(io),
      resolver_(io, AddressFamily::any) {
  if (!proxy_) {
    if (!is_bound(peer)) return;
    // It opens the socket, and posts what goes wrong with that.
    socket_.async_connect(to_asio(peer),
                          lifetime_.guard([this](const boost::system::error_code& error) { on_connected(error); }));
    return;
  }
  state_ = State::resolving;
  resolver_.look_up(proxy_->at, lifetime_.guard([this](const Result<std::vector<Endpoint>>& found) {
    if (!found) return fail_with(fmt::format("find {}: {}", proxy_text(), found.error().cause));
    addresses_ = *found;
    connect_to_proxy();
  }));
}

/// The error is posted.
bool SocketConnect::is_bound(const Endpoint& to) {
  if (!bind_) return true;
  const Status bound = bind_(socket_, to);
  if (!bound)
    boost::asio::post(socket_.get_executor(),
                      lifetime_.guard([this, error = bound.error()] { finish(tl::unexpected(error)); }));
  return bound.has_value();
}

void SocketConnect::on_connected(const boost::system::error_code& error) {
  if (error == boost::asio::error::connection_refused) return fail_with(kTcpPortClosed);
  if (error) {
    const auto failed = net::system_error(Errc::cannot_reach, what(), error.value());
    return finish(tl::unexpected(failed.value()));
  }
  set_no_delay(socket_);
  finish(std::move(socket_));
}

// ---- By a proxy -----------------------------------------------------------------------------------------------------

void SocketConnect::connect_to_proxy() {
  state_ = State::connecting_to_proxy;
  boost::system::error_code none;
  socket_.close(none);
  const Endpoint address = addresses_.front();
  addresses_.erase(addresses_.begin());
  if (!is_bound(address)) return;
  socket_.async_connect(to_asio(address), lifetime_.guard([this](const boost::system::error_code& error) {
    if (!error) return ask_proxy();
    if (!addresses_.empty()) return connect_to_proxy();
    fail_with(fmt::format("{}: {}", proxy_text(), error.message()));
  }));
}

void SocketConnect::ask_proxy() {
  state_ = State::awaits_answer;
  set_no_delay(socket_);
  const std::string request = net::connect_request(*proxy_, target_);
  const auto bytes = std::as_bytes(std::span(request));
  // A new connection has room for so few.
  const Sent sent = send(socket_, std::span(&bytes, 1));
  if (sent.bytes != bytes.size()) return fail_with(proxy_text() + ": " + core::errno_text(sent.errno_value));
  wait();
}

void SocketConnect::wait() {
  socket_.async_wait(Socket::wait_read, lifetime_.guard([this](const boost::system::error_code& cancelled) {
    if (!cancelled) read();
  }));
}

void SocketConnect::read() {
  const std::size_t before = answer_.size();
  answer_.resize(net::kMaxProxyAnswerBytes + 1);
  const Received got = receive(socket_, std::span(answer_).subspan(before));
  answer_.resize(before + got.bytes);
  if (got.state == Received::State::would_block) return wait();
  if (got.state != Received::State::data)
    return fail_with(proxy_text() + " has closed the connection without an answer");
  const net::ProxyAnswer answer = net::decode_proxy_answer(answer_);
  if (answer.state == net::ProxyAnswer::State::incomplete) return wait();
  if (answer.state == net::ProxyAnswer::State::malformed)
    return fail_with(fmt::format("{} does not answer as an HTTP proxy does; is it one?", proxy_text()));
  if (!answer.is_connected()) return fail_with(net::refusal_text(*proxy_, target_, answer));
  // The other end speaks when it is spoken to: nothing of it can be here yet.
  if (answer.header_bytes != answer_.size()) return fail_with(proxy_text() + " says more than its answer");
  finish(std::move(socket_));
}

// ---- The end --------------------------------------------------------------------------------------------------------

/// By a proxy the name, of which this end may have no address.
std::string SocketConnect::what() const {
  return "connect tcp " + (proxy_ ? udtcat::to_string(target_) : peer_.to_string());
}

std::string SocketConnect::proxy_text() const { return fmt::format("the proxy {}", net::to_string(*proxy_)); }

std::string SocketConnect::silence() const {
  switch (state_) {
    case State::connecting:
      break;
    case State::resolving:
      return fmt::format("the address of {} is not found", proxy_text());
    case State::connecting_to_proxy:
      return fmt::format("{}: {}", proxy_text(), kNobody);
    case State::awaits_answer:
      return fmt::format("{} has not answered: it may still be waiting for the other host", proxy_text());
  }
  return kNobody;
}

void SocketConnect::fail_with(const std::string& cause) { finish(fail(Errc::cannot_reach, what(), cause)); }

void SocketConnect::finish(Result<Socket> result) {
  lifetime_.end();
  handler_(std::move(result));
}

}  // namespace udtcat::transport::tcp
