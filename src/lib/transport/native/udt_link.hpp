// SPDX-License-Identifier: Apache-2.0
/// A connection at its port: what the port keeps beside the protocol.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/endpoint.hpp>
#include <udtcat/stats.hpp>

#include "lib/core/lifetime.hpp"
#include "lib/transport/native/overload_detector.hpp"
#include "lib/transport/native/udt_connection.hpp"

namespace udtcat::transport::native {

class UdtLink;

/// A link's port, as the link and its user see it.
class LinkPort {
 public:
  /// The connection has changed, or its timer has gone off. The link may be gone after each of these two.
  virtual void on_scheduled(UdtLink& link) = 0;
  virtual void on_timer(UdtLink& link) = 0;

  /// Adds the drops and the sizes of its sockets.
  virtual void add_end_stats(EndStats& end) const = 0;
  /// See Connection.
  virtual void set_tunnel(AddressFamily family, std::function<void(std::span<const std::byte>)> send) = 0;
  virtual void take_from_tunnel(std::span<const std::byte> packet) = 0;

 protected:
  ~LinkPort() = default;
};

/// A connection's channel. It may write, read and close from inside a call, and posts what else is to be done.
class LinkUser {
 public:
  /// Packets may have come: their data are taken before the next ACK says how much room there is.
  virtual void on_received() = 0;
  /// Packets may have left, or the connection has ended.
  virtual void on_sent() = 0;

 protected:
  ~LinkUser() = default;
};

/// A connection's address and socket number at its peer.
struct PeerName {
  Endpoint address;  // at the handshake
  std::uint32_t id = 0;
  friend bool operator<(const PeerName& a, const PeerName& b) {
    if (a.id != b.id) return a.id < b.id;
    if (a.address.size_bytes() != b.address.size_bytes()) return a.address.size_bytes() < b.address.size_bytes();
    return std::memcmp(a.address.data(), b.address.data(), a.address.size_bytes()) < 0;
  }
};

///   unaccepted ──use()──► used ──release()──► released ──the connection is over──► forgotten
///
/// Threads: confined, as Channel.
class UdtLink {
 public:
  UdtLink(LinkPort& at, boost::asio::io_context& io, const ConnectionSettings& settings, bool proved_key,
          core::ChunkPool& chunks);

  enum class State { unaccepted, used, released };
  [[nodiscard]] State state() const { return state_; }

  /// The user outlives its use of the link, which is there until it is released, and whose connection it uses directly.
  void use(LinkUser& by);
  /// To be called after each change of the connection by its user: what follows from it is done soon.
  void schedule();
  /// The link is left to itself: it drains, if it was closed, and is forgotten.
  void release();

  // The port's:
  void tell_received() const {
    if (user_ != nullptr) user_->on_received();
  }
  void tell_sent() const {
    if (user_ != nullptr) user_->on_sent();
  }
  /// Sets the timer, unless it goes off before.  deadline   none: the timer is not needed
  void arm(std::optional<TimePoint> deadline);
  /// A datagram is the link's.  returns   whether it is the first since clear_touch()
  [[nodiscard]] bool touch() { return !std::exchange(touched_, true); }
  void clear_touch() { touched_ = false; }

  LinkPort& port;
  UdtConnection connection;
  const PeerName name;
  const bool proved;                          // let in, and held the key (KeyProof)
  bool trains_off = connection.trains_off();  // as the log has been told
  OverloadDetector::Share share;
  std::vector<std::byte> handshake_reply;  // for a client that did not hear it; empty at the connecting end

 private:
  boost::asio::io_context& io_;
  State state_ = State::unaccepted;
  LinkUser* user_ = nullptr;  // none: not used
  boost::asio::steady_timer timer_;
  TimePoint armed_for_ = TimePoint::max();
  bool scheduled_ = false;
  bool touched_ = false;  // by the datagrams being handled
  core::Lifetime lifetime_;
};

}  // namespace udtcat::transport::native
