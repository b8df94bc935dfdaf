// SPDX-License-Identifier: Apache-2.0
/// How two ends find each other: dial a listener, or listen for peers that prove the key.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <udtcat/connection.hpp>
#include <udtcat/credentials.hpp>
#include <udtcat/endpoint.hpp>
#include <udtcat/options.hpp>
#include <udtcat/result.hpp>

namespace udtcat {

/// A host that both ends reach, by which they find each other where neither can dial the other. Nothing that it says is
/// believed: what counts the ends have signed. Both need a key. Source: docs/spec/meet.md
struct MeetingPlace {
  HostPort at;
  AddressFamily family = AddressFamily::any;  ///< of its addresses
  std::optional<Credentials> credentials{};   ///< none: it serves everybody
  std::vector<HostPort> stun{};               ///< servers that are asked for this host's address as well (RFC 8489)
  bool of_ticket = false;  ///< of a dialer: the key is a ticket's, whose listener is there, or will not come any more
};

/// The addresses that a dialer tries, and the session that it asks for there.
struct DialRequest {
  std::vector<Endpoint>
      addresses;  ///< raced, again and again until the timeout (RFC 8305); empty: `via`, or a proxy knows it
  std::optional<HostPort> name{};  ///< whose addresses they are: looked up again for each further race; none: they stay
  AddressFamily family = AddressFamily::any;  ///< of its addresses
  std::string peer_name;                      ///< as the user wrote it, for messages
  std::chrono::milliseconds timeout{10'000};
  /// How long addresses that all say "port closed" are tried again: the listener may be just starting.
  std::chrono::milliseconds closed_port_patience{2'000};
  std::optional<Credentials> credentials;  ///< none only at Protection::clear
  SessionOptions session;
  TransportOptions transport;
  std::shared_ptr<const MeetingPlace> via{};  ///< `addresses` and `name` are then not used; not with libudt
};

/// An attempt to reach a listener. Destroying it gives up without a call; once the handler has been called it changes
/// nothing.
/// Threads: confined to the io_context thread, where the handler is called.
class Dialer {
 public:
  using Handler = std::function<void(Result<std::unique_ptr<Connection>>)>;
  virtual ~Dialer() = default;
};

/// errors (to the handler): Errc::cannot_reach after the timeout, or after closed_port_patience if every address said
/// that the port is closed; Errc::authentication_failed and Errc::parameters_refused at once; Errc::protocol_violated;
/// Errc::bad_argument: the application has no name
[[nodiscard]] std::unique_ptr<Dialer> dial(boost::asio::io_context& io, DialRequest request, Dialer::Handler handler);

/// The same for a completion token (completion.hpp); DialRequest::timeout is its time limit.
/// gives   Result<std::unique_ptr<Connection>>
template <typename Token>
auto async_dial(boost::asio::io_context& io, DialRequest request, Token&& token) {
  return start_operation<Result<std::unique_ptr<Connection>>>(
      io.get_executor(), std::forward<Token>(token), [&io, request = std::move(request)](Dialer::Handler done) mutable {
        const auto dialer = std::make_shared<std::unique_ptr<Dialer>>();
        *dialer = dial(io, std::move(request), [dialer, done = std::move(done)](auto connection) {
          const auto over = std::exchange(*dialer, nullptr);
          done(std::move(connection));
        });
      });
}

/// The most that a listener lets in at a time. Who comes beyond it is told so.
struct ListenLimits {
  std::size_t peers = 1024;              ///< guess: hosts, or holders of key pairs, that have a session
  std::size_t sessions_per_peer = 1024;  ///< guess
  /// The memory of all sessions together. Each is promised a share, of TransportOptions::memory_bytes at most, that is
  /// the smaller the more there are (docs/adr/0040-limits.md). None: half of what this process may have. Native only.
  std::optional<std::uint64_t> memory_bytes{};
};

/// A further application of a listener, with limits of its own: its sessions take no room from the others'.
struct FurtherApplication {
  SessionOptions session;  ///< with the protection and the names of the first
  ListenLimits limits{};
};

/// The addresses that a listener waits at, and the sessions that it takes.
struct ListenRequest {
  std::vector<Endpoint> locals;  ///< one per family; port 0 lets the system choose one for all, and for TCP, too
  std::optional<Credentials> credentials;  ///< none only at Protection::clear
  SessionOptions session;
  TransportOptions transport;
  ListenLimits limits{};
  std::vector<FurtherApplication> further{};  ///< at the same addresses; Connection::application() tells them apart
  /// Where the listener registers by its key, for as long as it listens, and again when that is lost; not with
  /// libudt.
  std::shared_ptr<const MeetingPlace> via{};
};

/// Lets in the peers that prove the key, and no others. Unauthenticated peers cost little: at most 32 are answered at
/// a time, each for a few seconds, nothing that they send is parsed beyond the TLS handshake, and none takes the place
/// of a key holder.
/// Destroying it stops it; connections already made go on.
/// Threads: confined to the io_context thread, where the handlers are called.
class Listener {
 public:
  using PeerHandler = std::function<void(std::unique_ptr<Connection>)>;
  /// Called for each peer that was turned away, with the reason.
  using RefusalHandler = std::function<void(const Endpoint& peer, const Error& why)>;

  virtual ~Listener() = default;
  [[nodiscard]] virtual std::vector<Endpoint> local_endpoints() const = 0;
  /// Those at which TransportKind::automatic waits by TCP beside UDP: the same, or none.
  [[nodiscard]] virtual std::vector<Endpoint> tcp_endpoints() const { return {}; }
  /// The reason why it does not: another program has the port, as a rule. None: it does, or was not asked to.
  [[nodiscard]] virtual std::optional<Error> tcp_failure() const { return std::nullopt; }
  /// Sends one small datagram from the listening port of that family to `peer`, which needs no answer: a firewall in
  /// front of this host then lets in a dialer whose packets come from there (RFC 8445 §2.2). Best effort, native only.
  /// The caller sends no more than a handful to an address that has not been heard (RFC 8445 §19.5.1).
  void send_check(const Endpoint& peer);
  using StunHandler = std::function<void(const Endpoint& from, std::span<const std::byte> message)>;
  /// Sends a STUN message (RFC 8489) from the listening port of that family. Best effort, native only.
  virtual void send_stun(const Endpoint& peer, std::vector<std::byte> message) = 0;
  /// `handler` is called for each STUN message that comes to a listening port, checks too, and does not destroy this.
  /// Nobody answers them without it: what it sends to `from` before it returns leaves from the address that was asked.
  /// Native only.
  virtual void on_stun(StunHandler handler) = 0;
  /// The name of an end at the relay of a meeting place.
  using RelayToken = std::array<std::byte, 16>;
  using RelayHandler =
      std::function<void(boost::asio::ip::tcp::socket socket, const RelayToken& token, const Endpoint& from)>;
  /// `handler` is called for each TCP connection that begins with such a token (docs/spec/tcp.md §2), with what is
  /// behind it, and does not destroy this. Without it they are closed. tcp and automatic only.
  virtual void on_relay(RelayHandler /*handler*/) {}
  /// Takes a peer by a TCP connection to `relay` as well, which begins with `token`. A proxy is asked for `name`, where
  /// that is not empty. Best effort; tcp and automatic only.
  virtual void wait_at(const Endpoint& /*relay*/, const RelayToken& /*token*/, const std::string& /*name*/) {}
  /// Lets no more peers in; connections already made go on.
  virtual void stop() = 0;
};

/// errors: Errc::cannot_bind, Errc::out_of_resources; Errc::bad_argument: an application without a name
[[nodiscard]] Result<std::unique_ptr<Listener>> listen(boost::asio::io_context& io, ListenRequest request,
                                                       Listener::PeerHandler on_peer,
                                                       Listener::RefusalHandler on_refused);

}  // namespace udtcat
