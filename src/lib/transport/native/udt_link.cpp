// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/native/udt_link.hpp"

#include <boost/asio/post.hpp>

namespace udtcat::transport::native {

UdtLink::UdtLink(LinkPort& at, boost::asio::io_context& io, const ConnectionSettings& settings, bool proved_key,
                 core::ChunkPool& chunks)
    : port(at),
      connection(settings, chunks),
      name{settings.peer_address, settings.peer_id},
      proved(proved_key),
      io_(io),
      timer_(io) {}

void UdtLink::use(LinkUser& by) {
  state_ = State::used;
  user_ = &by;
  schedule();
}

void UdtLink::schedule() {
  if (std::exchange(scheduled_, true)) return;
  boost::asio::post(io_, lifetime_.guard([this] {
    scheduled_ = false;
    port.on_scheduled(*this);
  }));
}

void UdtLink::release() {
  state_ = State::released;
  user_ = nullptr;
  connection.close(clock_now(), std::chrono::milliseconds(0));  // unless its user has
  schedule();
}

void UdtLink::arm(std::optional<TimePoint> deadline) {
  if (!deadline) {
    timer_.cancel();
    armed_for_ = TimePoint::max();
    return;
  }
  if (armed_for_ <= *deadline) return;  // the timer will then be set anew
  armed_for_ = *deadline;
  timer_.expires_at(*deadline);
  timer_.async_wait(lifetime_.guard([this](const boost::system::error_code& error) {
    if (error) return;
    armed_for_ = TimePoint::max();
    port.on_timer(*this);
  }));
}

}  // namespace udtcat::transport::native
