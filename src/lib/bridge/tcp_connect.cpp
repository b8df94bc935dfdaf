// SPDX-License-Identifier: Apache-2.0
#include "lib/bridge/tcp_connect.hpp"

#include <utility>

#include <boost/asio/post.hpp>

#include "lib/bridge/asio_conversions.hpp"
#include "lib/bridge/reset.hpp"
#include "lib/core/invariant.hpp"
#include "lib/net/racing.hpp"

namespace udtcat::bridge {

using boost::asio::ip::tcp;

TcpConnect::TcpConnect(boost::asio::io_context& io, const std::vector<Endpoint>& targets,
                       std::chrono::milliseconds timeout, Handler handler)
    : io_(io), targets_(net::in_racing_order(targets)), handler_(std::move(handler)), delay_(io), deadline_(io) {
  UDTCAT_INVARIANT(!targets_.empty(), "a service has an address, or was not made");
  deadline_.expires_after(timeout);
  deadline_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
    if (!cancelled) finish(std::make_error_code(std::errc::timed_out), tcp::socket(io_));
  }));
  begin_next();
}

TcpConnect::~TcpConnect() {
  for (tcp::socket& each : attempts_) reset(each);
}

void TcpConnect::begin_next() {
  const Endpoint& target = targets_[begun_++];
  const auto attempt = attempts_.insert(attempts_.end(), tcp::socket(io_));
  auto connected =
      lifetime_.guard([this, attempt](const boost::system::error_code& error) { on_connected(attempt, error); });
  if (begun_ < targets_.size()) {
    delay_.expires_after(net::kConnectionAttemptDelay);
    delay_.async_wait(lifetime_.guard([this, of = begun_](const boost::system::error_code& cancelled) {
      if (!cancelled && of == begun_) begin_next();
    }));
  }
  boost::system::error_code unfit;
  attempt->open(to_asio(target).protocol(), unfit);
  if (!unfit) attempt->set_option(boost::asio::socket_base::linger(true, 0), unfit);
  if (unfit) return boost::asio::post(io_, [connected, unfit]() mutable { connected(unfit); });
  attempt->async_connect(to_asio(target), std::move(connected));
}

void TcpConnect::on_connected(Attempts::iterator attempt, const boost::system::error_code& error) {
  if (!error) return finish({}, std::move(*attempt));
  reset(*attempt);  // it may be connected all the same, where SO_ERROR could not be read
  attempts_.erase(attempt);
  if (begun_ < targets_.size()) return begin_next();
  if (attempts_.empty()) finish(from_asio(error), tcp::socket(io_));
}

void TcpConnect::finish(std::error_code error, tcp::socket socket) {
  lifetime_.end();
  delay_.cancel();
  deadline_.cancel();
  for (tcp::socket& each : attempts_) reset(each);
  const Handler handler = std::move(handler_);
  handler(error, std::move(socket));  // may destroy this
}

}  // namespace udtcat::bridge
