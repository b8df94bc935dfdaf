// SPDX-License-Identifier: Apache-2.0
/// Options of a session and of the transport below it, plain values: sizes in bytes, rates in bits per second.
/// The handshake agrees on what must be the same at both ends.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <udtcat/endpoint.hpp>
#include <udtcat/known_paths.hpp>
#include <udtcat/units.hpp>

namespace udtcat {

/// The protection of the payload, by the names of GridFTP's four levels, the weakest first.
enum class Protection : std::uint8_t {
  clear = 0,     ///< no handshake, no key, no check of anything
  auth = 1,      ///< the peer proves the key; the payload is bare
  safe = 2,      ///< every block is authenticated, none is secret
  private_ = 3,  ///< every block is sealed with an AEAD (the default)
};

enum class Cipher : std::uint8_t { aes_256_gcm = 1, aes_128_gcm = 2, chacha20_poly1305 = 3 };

/// The transport below a session. native and libudt both speak UDT4, so that either reaches the other.
enum class TransportKind : std::uint8_t {
  automatic,  ///< native, and tcp where nobody answers by UDP (the default); the one in use is native or tcp
  native,     ///< our own engine, over UDP
  libudt,     ///< Debian's libudt: the oracle and the baseline
  tcp,        ///< the kernel's TCP
};

/// Whether this program is linked with it: libudt costs each start 0.1 s, so not every program is (ADR-0014).
[[nodiscard]] bool has_transport(TransportKind kind);

/// How the native transport decides how fast to send. libudt always has its own, which `udt` is.
enum class CongestionKind : std::uint8_t {
  bbr,    ///< model of the path: bandwidth and round trip; light random loss does not slow it (the default)
  udt,    ///< UDT's rate law
  fixed,  ///< TransportOptions::rate and nothing else
};

/// The names that users write and read. An enumerator has one, always.
[[nodiscard]] std::string_view to_string(Protection protection);
[[nodiscard]] std::string_view to_string(Cipher cipher);
[[nodiscard]] std::string_view to_string(TransportKind kind);
[[nodiscard]] std::string_view to_string(CongestionKind kind);

inline constexpr std::size_t kMinBlockBytes = 4 * kKiB;        // spec: docs/spec/record.md §2
inline constexpr std::size_t kMaxBlockBytes = 1 * kMiB;        // spec: docs/spec/record.md §2
inline constexpr std::size_t kDefaultBlockBytes = 256 * kKiB;  // measured: bench/lanes, ADR-0004
inline constexpr std::size_t kMaxLanes = 64;                   // spec: docs/spec/handshake.md §4
inline constexpr std::size_t kDefaultLanes = 16;               // guess: enough for 16 threads; bench/loopback --lanes N
inline constexpr std::size_t kMaxFlows = 16;                   // spec: docs/spec/handshake.md §4
inline constexpr std::size_t kMaxEndNameBytes = 64;            // spec: docs/spec/handshake.md §4
inline constexpr std::size_t kMaxServices = 16;                // spec: docs/spec/handshake.md §4
inline constexpr std::size_t kMaxServiceNameBytes = 31;        // spec: docs/spec/handshake.md §4
inline constexpr std::size_t kMaxStreams = 1024;               // spec: docs/spec/stream.md §3

/// Whether `text` can be the name of an end: 1 to kMaxEndNameBytes printable characters of ASCII, no white space.
[[nodiscard]] bool is_end_name(std::string_view text);
/// Whether `text` can be the name of a service or an application: 1 to kMaxServiceNameBytes of a to z, A to Z, 0 to 9,
/// '-', '_' and '.'.
[[nodiscard]] bool is_service_name(std::string_view text);

/// The cost and the speed of a session. The defaults serve a path of 10 Gbit/s as well as a slow one: measure before
/// changing one.
struct SessionTuning {
  std::size_t block_bytes = kDefaultBlockBytes;  ///< payload of a full block that this end sends
  std::size_t lanes = kDefaultLanes;             ///< cipher contexts; the lesser of the two ends' counts
  std::optional<std::size_t> threads;  ///< that seal and open, shared by all sessions of the process; none: its cores
  /// Channels at a time. A connector's; none: one, and more where that helps. The most of a listener; none: kMaxFlows.
  std::optional<std::size_t> flows;
  std::chrono::milliseconds idle_timeout{40'000};  ///< silence after which a peer is lost
};

/// The commands by which users listen for an application and dial it; empty: not known.
struct ApplicationCommands {
  std::string_view listens;
  std::string_view dials;
};

/// A session is by default encrypted and authenticated, to any peer that holds the key.
struct SessionOptions : SessionTuning {
  Protection protection = Protection::private_;
  /// The protocol that the streams speak, the same at both ends or there is no session, so that one key may serve
  /// several: what ALPN is to TLS. A name of the user's own, as is_service_name(); udtcat's own are "pipe", "forward"
  /// and those of docs/spec/handshake.md §4. Needed.
  std::string application;
  /// Told to the peer, for the application to understand; 0: nothing. See Connection::peer_application_data().
  std::uint8_t application_data = 0;
  /// For the refusal of an end that is for another application; null: it names no commands.
  ApplicationCommands (*commands_of)(std::string_view application) = nullptr;
  std::string own_name;               ///< the name of this end (is_end_name()); empty: it has none
  std::string expected_peer;          ///< the name that the other end must have; empty: any
  std::optional<Cipher> cipher;       ///< none: the fastest 256-bit one of the connecting host
  bool sends = true;                  ///< false: this end sends no payload
  bool receives = true;               ///< false: this end takes no payload
  bool one_stream = false;            ///< this end takes one stream at a time, which may then have all of the credit
  std::size_t streams = kMaxStreams;  ///< open at a time that this end takes; 1 to kMaxStreams
  /// The names that the peer is told its streams may ask for, at most kMaxServices; the empty one is that of streams
  /// without a name. None: those without a name only, and a connector says nothing of it.
  std::vector<std::string> services{};
};

inline constexpr std::uint64_t kMinMemoryBytes = 1 * kMiB;        // guess: a window of 700 packets
inline constexpr std::uint64_t kDefaultMemoryBytes = 256 * kMiB;  // guess: 10 Gbit/s at 75 ms, and as much in repair

/// The cost and the speed of the transport below a session. As with SessionTuning: measure before changing one.
struct TransportTuning {
  CongestionKind congestion = CongestionKind::bbr;   ///< native only
  std::uint64_t memory_bytes = kDefaultMemoryBytes;  ///< the most of a connection, each way: its largest window
  /// Silence, or time without an acknowledgement of what the peer has room for, after which a peer is lost. libudt has
  /// its own time for silence.
  std::chrono::milliseconds idle_timeout{60'000};
};

/// A proxy that makes TCP connections for others where it is asked to (CONNECT, RFC 9110 §9.3.6). It sees the bytes of
/// sessions as any host on the path does.
struct HttpProxy {
  HostPort at;
  std::string credentials{};              ///< "user:password"; empty: it asks for none
  std::vector<std::string> exceptions{};  ///< hosts that are reached without it: names, addresses, prefixes, "*"
};

struct TransportOptions : TransportTuning {
  /// A listener with automatic waits at the TCP port of the same number, too; a dialer races both, UDP first
  /// (docs/spec/tcp.md §5). native is automatic without TCP.
  TransportKind kind = TransportKind::automatic;
  bool offload = true;  ///< native only: trains of datagrams are cut and joined by the kernel where it can
  BitRate rate;         ///< cap on what this end sends; unlimited by default
  /// Native only, the same at both ends: the key and the listening port serve one session and are gone. The connector
  /// then need not show first that it receives at its address, which saves a round trip (docs/spec/udt4.md §4).
  bool single_use = false;
  /// Native only: the UDP port that all of a dialer's packets leave from, where it is free; 0: the system chooses one
  /// for each address that is dialled. See Listener::send_check().
  std::uint16_t dialling_port = 0;
  /// A native listener's: threads that carry packets, its io_context's among them. They begin as connections come; one
  /// connection has one. None: as many as the process has cores, of which ciphers take some.
  std::optional<std::size_t> packet_threads{};
  /// Not with libudt: the addresses of this host that a dialer leaves from, in turn: those of the family that it dials,
  /// the first channel by the first of them that gets through, its further flows by the others. Port 0. None: the
  /// system chooses.
  std::vector<Endpoint> local_addresses{};
  std::shared_ptr<KnownPaths> known_paths{};  ///< native only; none: nothing is remembered
  std::shared_ptr<const HttpProxy> proxy{};   ///< tcp only, by which it leaves; none: directly
  std::string proxied_host{};                 ///< a dialer's: the host that the proxy is asked for; empty: its address
};

}  // namespace udtcat
