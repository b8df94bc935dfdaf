/// The listening side of the handshake. See docs/spec/udt4.md §4.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>

#include "transport/native/connection.hpp"
#include "transport/native/cookie.hpp"
#include "transport/native/handshake.hpp"
#include "transport/native/time.hpp"

namespace udtcat::transport::native {

/// Remembers nothing of who asks until that has shown, by our cookie, that it receives what is sent to its address.
/// Threads: unsynchronised; time is a parameter.
class PassiveOpen {
 public:
  struct Settings {
    std::uint32_t mss = 0;
    std::uint32_t flow_window = 0;
    std::optional<std::uint32_t> known_cookie;  ///< good from any address
  };
  /// Numbers of a connection to be made: drawn by the port, which knows which are free.
  struct Lot {
    std::uint32_t local_id = 0;
    std::uint64_t token = 0;
  };

  PassiveOpen(const Settings& settings, CookieJar cookies) : settings_(settings), cookies_(std::move(cookies)) {}

  /// What to do about a handshake packet for destination 0.
  struct Verdict {
    std::vector<std::byte> reply;                ///< to where it came from; empty: silence
    std::optional<ConnectionSettings> accepted;  ///< but for TransportOptions and the times; the reply is its answer
  };
  /// draw_lot   called for a client that is let in; none: no room, and it is turned away
  [[nodiscard]] Verdict handle(TimePoint now, std::span<const std::byte> packet, const Endpoint& from,
                               const std::function<std::optional<Lot>()>& draw_lot);

  /// The answer to a port that takes no more connections.  empty: silence
  [[nodiscard]] static std::vector<std::byte> refusal(std::span<const std::byte> packet);

 private:
  [[nodiscard]] Verdict induct(TimePoint now, const ControlHeader& header, Handshake request, const Endpoint& from);
  [[nodiscard]] Verdict conclude(const Handshake& request, std::span<const std::byte> body, const Endpoint& from,
                                 const std::function<std::optional<Lot>()>& draw_lot) const;

  const Settings settings_;
  CookieJar cookies_;
};

}  // namespace udtcat::transport::native
