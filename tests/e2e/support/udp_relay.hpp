/// A path under an attacker's control: every datagram between a connector and a listener passes here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <thread>

#include <netinet/in.h>

#include "e2e/support/descriptor.hpp"
#include "e2e/support/ports.hpp"

namespace udtcat::e2e {

/// Knows of UDT's wire format where a packet's kind, number and destination stand, no more.
/// Checksums of what it changes are right again, since the kernel makes them anew.
///
/// Threads: internally synchronised; relays on a thread of its own, which ends with the object.
class UdpRelay {
 public:
  enum class Towards { listener, connector };

  explicit UdpRelay(std::uint16_t listener_port);
  UdpRelay(const UdpRelay&) = delete;
  UdpRelay& operator=(const UdpRelay&) = delete;
  ~UdpRelay();

  /// Where the connector connects to.
  [[nodiscard]] std::uint16_t port() const { return outside_.port; }

  /// Flips one bit in the middle of the n-th data packet of at least `min_payload_bytes`, and in every later
  /// copy of it, so that a lost copy does not undo the attack.
  void flip_bit(Towards towards, std::size_t nth, std::size_t min_payload_bytes);
  /// Sends a UDT shutdown that looks as if the other end had sent it.
  void forge_shutdown(Towards towards);
  /// Loses everything, both ways, from now on or no longer.
  void drop_all(bool drop);
  /// How many datagrams were tampered with.
  [[nodiscard]] std::size_t flipped() const;

 private:
  struct Flip {
    std::size_t left;
    std::size_t min_payload_bytes;
    std::optional<std::uint32_t> packet_number;
  };
  struct Side {
    std::optional<Flip> flip;
    std::optional<std::uint32_t> socket_id;  ///< UDT's name for the receiving socket
  };

  void relay();
  /// Takes what waits at one socket and sends it on from the other.
  void pass(Towards towards);
  [[nodiscard]] bool admit(Towards towards, std::span<unsigned char> datagram);
  void tamper(Side& side, std::span<unsigned char> datagram);
  void send(Towards towards, std::span<const unsigned char> datagram);

  const std::uint16_t listener_port_;
  const BoundUdp outside_ = bind_udp();  ///< towards the connector
  const BoundUdp inside_ = bind_udp();   ///< towards the listener
  Descriptor stop_ = open_event();
  mutable std::mutex mutex_;
  sockaddr_in connector_{};  // guarded by mutex_, as all below
  std::map<Towards, Side> sides_;
  bool drop_ = false;
  std::size_t flipped_ = 0;
  std::thread thread_;
};

}  // namespace udtcat::e2e
