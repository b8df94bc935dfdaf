#include "lib/transport/native/native_acceptor.hpp"

#include <utility>

#include <boost/asio/post.hpp>

#include "lib/core/invariant.hpp"
#include "lib/transport/native/native_channel.hpp"

namespace udtcat::transport::native {

namespace {

constexpr std::size_t kBacklog = 16;  // guess: who comes then is not answered, and asks again
// Somebody waits for clients: those of one turn of the event loop are no backlog. guess: some turns at 32 datagrams each
constexpr std::size_t kBurst = 256;

}  // namespace

NativeAcceptor::NativeAcceptor(boost::asio::io_context& io, std::vector<UdpPort*> ports)
    : io_(io), ports_(std::move(ports)) {
  for (UdpPort* const port : ports_)
    port->listen({.has_room = [this](bool proved) { return has_room(proved); },
                  .on_link =
                      [this, port](Link& link) {
                        waiting_.push_back({port, &link});
                        if (link.proved) ++waiting_proved_;
                        hand_on();
                      }});
}

NativeAcceptor::~NativeAcceptor() {
  for (UdpPort* const port : ports_) port->stop_listening();
  for (const Waiting& each : waiting_) each.port->release(*each.link);
}

void NativeAcceptor::async_accept(ChannelHandler handler) {
  UDTCAT_INVARIANT(!handler_, "an acceptor has one accept at a time");
  handler_ = std::move(handler);
  hand_on();
}

/// Strangers leave those that have proved the key their room.
bool NativeAcceptor::has_room(bool proved) const {
  const std::size_t alike = proved ? waiting_proved_ : waiting_.size() - waiting_proved_;
  return alike < (handler_ ? kBurst : kBacklog);
}

void NativeAcceptor::hand_on() {
  if (!handler_ || waiting_.empty()) return;
  boost::asio::post(io_, lifetime_.guard([this] {
    if (!handler_ || waiting_.empty()) return;
    const Waiting next = waiting_.front();
    waiting_.pop_front();
    if (next.link->proved) --waiting_proved_;
    const ChannelHandler handler = std::exchange(handler_, nullptr);  // the call may ask again, or destroy us
    handler(std::make_unique<NativeChannel>(io_, *next.port, *next.link));
  }));
}

std::vector<Endpoint> NativeAcceptor::local_endpoints() const {
  std::vector<Endpoint> locals;
  for (const UdpPort* const port : ports_) locals.push_back(port->local());
  return locals;
}

}  // namespace udtcat::transport::native
