// SPDX-License-Identifier: Apache-2.0
#include "lib/bridge/tcp_connect.hpp"

#include <utility>

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include "lib/bridge/asio_terms.hpp"
#include "lib/bridge/reset.hpp"
#include "lib/core/invariant.hpp"

namespace udtcat::bridge {

using boost::asio::ip::tcp;

TcpConnect::TcpConnect(boost::asio::io_context& io, std::vector<Endpoint> targets, std::chrono::milliseconds patience,
                       Handler handler)
    : targets_(std::move(targets)),
      deadline_(std::chrono::steady_clock::now() + patience),
      handler_(std::move(handler)),
      socket_(io),
      timer_(io) {
  UDTCAT_INVARIANT(!targets_.empty(), "a service has an address, or was not made");
  try_next();
}

TcpConnect::~TcpConnect() { reset(socket_); }

void TcpConnect::try_next() {
  const std::size_t left = targets_.size() - tried_;
  const Endpoint& target = targets_[tried_++];
  const auto now = std::chrono::steady_clock::now();
  timer_.expires_at(now + (deadline_ - now) / static_cast<long>(left));
  timer_.async_wait(lifetime_.guard([this, of = tried_](const boost::system::error_code& error) {
    if (!error) on_time_over(of);
  }));
  boost::system::error_code unfit;
  socket_.open(to_asio(target).protocol(), unfit);
  if (!unfit) socket_.set_option(boost::asio::socket_base::linger(true, 0), unfit);
  if (unfit) return boost::asio::post(timer_.get_executor(), lifetime_.guard([this, unfit] { on_connected(unfit); }));
  socket_.async_connect(to_asio(target),
                        lifetime_.guard([this](const boost::system::error_code& error) { on_connected(error); }));
}

void TcpConnect::on_time_over(std::size_t of) {
  if (of != tried_) return;  // queued already when its address failed
  reset(socket_);            // on_connected() follows, and sees that it is closed
}

void TcpConnect::on_connected(const boost::system::error_code& error) {
  timer_.cancel();
  if (!error && socket_.is_open()) return finish({});
  const std::error_code cause = socket_.is_open() || error != boost::asio::error::operation_aborted
                                    ? from_asio(error)
                                    : std::make_error_code(std::errc::timed_out);
  reset(socket_);
  if (tried_ == targets_.size()) return finish(cause);
  try_next();
}

void TcpConnect::finish(std::error_code error) {
  const Handler handler = std::move(handler_);
  handler(error, std::move(socket_));  // may destroy this
}

}  // namespace udtcat::bridge
