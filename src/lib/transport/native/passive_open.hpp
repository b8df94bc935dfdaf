/// The listening side of the handshake. See docs/spec/udt4.md §4.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>

#include "lib/transport/native/connection.hpp"
#include "lib/transport/native/cookie.hpp"
#include "lib/transport/native/door.hpp"
#include "lib/transport/native/handshake.hpp"
#include "lib/transport/native/prefix_meter.hpp"
#include "lib/transport/native/time.hpp"

namespace udtcat::transport::native {

/// Remembers nothing of who asks until that has shown, by our cookie, that it receives what is sent to its address. Where there is a
/// door, who proves the key at it is always heard, and all others only so many a second.
/// Threads: unsynchronised; time is a parameter.
class PassiveOpen {
 public:
  struct Settings {
    std::uint32_t mss = 0;
    std::uint32_t flow_window = 0;
    std::optional<std::uint32_t> known_cookie;  ///< good from any address, with the proof of the door
  };
  /// Numbers of a connection to be made: drawn by the port, which knows which are free.
  struct Lot {
    std::uint32_t local_id = 0;
    std::uint64_t token = 0;
  };

  /// door   none: without a key; else outlives this.  errors   Errc::cipher_failed
  [[nodiscard]] static Result<PassiveOpen> create(const Settings& settings, Door* door);

  /// What to do about a handshake packet for destination 0.
  struct Verdict {
    std::vector<std::byte> reply;                ///< to where it came from; empty: silence
    std::optional<ConnectionSettings> accepted;  ///< but for TransportOptions and the times; the reply is its answer
    bool proved = false;                         ///< who was accepted holds the key
  };
  /// Called for a client that is let in; none: there is no room for one like it now, and it is not answered.
  using DrawLot = std::function<std::optional<Lot>(bool proved)>;
  [[nodiscard]] Verdict handle(TimePoint now, std::span<const std::byte> packet, const Endpoint& from,
                               const DrawLot& draw_lot);

  /// The answer to a port that takes no more connections.  empty: silence
  [[nodiscard]] static std::vector<std::byte> refusal(std::span<const std::byte> packet);

 private:
  [[nodiscard]] Verdict induct(TimePoint now, const ControlHeader& header, Handshake request, const Endpoint& from);
  [[nodiscard]] Verdict conclude(const Handshake& request, const std::optional<HandshakeExtension>& extension,
                                 const Endpoint& from, const Lot& lot) const;
  PassiveOpen(const Settings& settings, Door* door, CookieJar cookies, PrefixMeter inductions, PrefixMeter conclusions);

  const Settings settings_;
  Door* const door_;
  CookieJar cookies_;
  PrefixMeter inductions_;  // of strangers, where there is a door
  PrefixMeter conclusions_;
};

}  // namespace udtcat::transport::native
