// SPDX-License-Identifier: Apache-2.0
/// An authenticated relation with one peer, carrying many streams. The heart of the public API.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <udtcat/candidate.hpp>
#include <udtcat/completion.hpp>
#include <udtcat/credentials.hpp>
#include <udtcat/endpoint.hpp>
#include <udtcat/local_stream.hpp>
#include <udtcat/options.hpp>
#include <udtcat/result.hpp>
#include <udtcat/stats.hpp>
#include <udtcat/stream.hpp>

namespace udtcat {

/// Names a stream within its connection. The connecting end uses even numbers, the listening end odd ones.
using StreamId = std::uint32_t;

/// How a stream ended, both directions together.
struct StreamOutcome {
  std::optional<Error> error;         ///< none: every byte both ways delivered and receipted
  std::uint64_t bytes_sent = 0;       ///< payload taken from the local source
  std::uint64_t bytes_receipted = 0;  ///< payload the peer's consumer has taken, by its receipt
  std::uint64_t bytes_received = 0;   ///< payload the local consumer has taken
};

/// Made by dial() and listen(). Destroying it ends it at once and without a word: its Streams fail with
/// Errc::connection_broken, its LocalStreams are destroyed, no handler of its own is called any more, and the peer sees
/// it broken or lost. To part in order, close() it, and destroy it in the handler of on_closed() or later: the
/// destructor of one that dial() made waits until the peer has acknowledged the last frames, 2 s at most, so destroy it
/// 2 s after on_closed() where that must not stop the io_context.
///
/// Threads: confined to its io_context thread. Handlers are called there and never from inside the call that
/// took them.
class Connection {
 public:
  using StreamHandler = std::function<void(StreamId)>;
  using OutcomeHandler = std::function<void(StreamOutcome)>;
  using ClosedHandler = std::function<void(Status)>;
  using QuietHandler = std::function<void()>;
  using PathWords = std::function<std::string(const Endpoint& path)>;

  virtual ~Connection() = default;

  /// Opens a stream that the program reads and writes. Costs no round trip. A refusal is the error of its first read.
  [[nodiscard]] std::unique_ptr<Stream> open_stream();
  /// Takes the stream that on_stream() told of, likewise.
  [[nodiscard]] std::unique_ptr<Stream> accept_stream(StreamId id);

  /// Opens a stream and bridges it to `local`. Costs no round trip: data follows at once. `done` is called
  /// exactly once, also when the connection fails first.
  /// service   the peer's name for what the stream is to reach; empty: what has no name there
  virtual StreamId open_stream(std::unique_ptr<LocalStream> local, OutcomeHandler done,
                               const std::string& service = {}) = 0;
  /// How many streams this end may open now; the peer refuses one more.
  [[nodiscard]] virtual std::size_t streams_left() const = 0;

  /// `handler` is called for each stream that the peer opens, and answers with accept_stream() or refuse_stream(), then
  /// or later. What arrives in between is kept, within the stream's credit, also where the peer has said all and ended
  /// its direction. Refused without it are: every stream while there is no handler; one more than
  /// SessionOptions::streams at a time; one with a name where SessionOptions::services has none; one behind thousands
  /// that have just ended. A name that is none of those services is the handler's to refuse: see service_of().
  virtual void on_stream(StreamHandler handler) = 0;
  /// `handler` is called when a stream that on_stream() told of is over before it was answered: the peer reset it, or
  /// the connection has ended. Nothing is kept of it: an answer is allowed, and not needed. accept_stream() then tells
  /// its `done` that the stream was given up.
  virtual void on_stream_given_up(StreamHandler handler) = 0;
  /// The service that a stream asks for; empty: what has no name. None: it waits for no answer, or is over.
  [[nodiscard]] virtual std::optional<std::string> service_of(StreamId id) const = 0;
  virtual void accept_stream(StreamId id, std::unique_ptr<LocalStream> local, OutcomeHandler done) = 0;
  /// `reason` travels to the peer: Errc::local_connect_failed or Errc::stream_refused, with its text. Also of a stream
  /// that was accepted and has not ended, whose `done` is then told the same.
  virtual void refuse_stream(StreamId id, const Error& reason) = 0;

  /// `handler` is called once: with success after a close that both ends agreed to, else with what broke the
  /// connection. It may destroy the connection.
  virtual void on_closed(ClosedHandler handler) = 0;
  /// The same for a completion token (completion.hpp), in the place of such a handler.  gives   Status
  template <typename Token>
  auto async_wait_closed(Token&& token) {
    return start_operation<Status>(io().get_executor(), std::forward<Token>(token),
                                   [this](ClosedHandler done) { on_closed(std::move(done)); });
  }
  /// Open streams end as interrupted. The connection ends when the peer has closed, too, or after a minute in which the
  /// peer is alive and does not, or when the peer is lost.
  virtual void close() = 0;
  /// Ends at once, telling the peer if the path still carries it. on_closed() reports `reason`.
  virtual void abort(const Error& reason) = 0;

  [[nodiscard]] virtual ConnectionStats stats() = 0;
  /// The other end hears this one's EndStats before what is written after this, not once a second only.
  virtual void send_report() = 0;
  /// False while the peer has owed an answer for 2.5 s. Its address may have changed, its path be cut, or itself gone.
  /// source: docs/spec/stream.md §5
  [[nodiscard]] virtual bool answers() const = 0;
  /// `handler` is called each time that answers() has become false.
  virtual void on_quiet(QuietHandler handler) = 0;
  /// The loop that drives it; outlives it.
  [[nodiscard]] virtual boost::asio::io_context& io() = 0;
  [[nodiscard]] virtual Endpoint peer() const = 0;
  /// The peer may be at `address`, too, of the same family: it is asked there, four times a second for ten seconds, and
  /// when it answers both ends send that way from then on, until the next call. Nothing happens with libudt.
  /// source: docs/spec/udt4.md §9
  virtual void try_path(const Endpoint& /*address*/) {}
  /// A path that is no address, such as another program's pipe: packets to tunnel_address() are given to `send`, which
  /// may lose them; take_from_tunnel() brings those of the other end, and is not called from inside `send`. It may be
  /// called as long as any connection of this port is there. Nothing happens with libudt.
  virtual void set_tunnel(std::function<void(std::span<const std::byte> packet)> /*send*/) {}
  virtual void take_from_tunnel(std::span<const std::byte> /*packet*/) {}
  /// The candidates that the ends have exchanged, by which stats() names the pair in use.
  /// locals   an address of each family whose port is that of this end
  virtual void set_candidates(std::vector<Endpoint> /*locals*/, std::vector<Candidate> /*remotes*/) {}
  /// Where this end sends to now: peer(), or an address that try_path() was given, or to which the peer has moved.
  [[nodiscard]] virtual Endpoint path() const { return peer(); }
  /// The SessionOptions::application of both ends.
  [[nodiscard]] virtual const std::string& application() const = 0;
  /// The holder of the key pair at the other end; none with a shared key, and at Protection::clear.
  [[nodiscard]] virtual std::optional<PeerIdentity> peer_identity() const = 0;
  /// The peer's SessionOptions: whether it takes payload, whether it sends any, and its application's byte.
  [[nodiscard]] virtual bool peer_receives() const = 0;
  [[nodiscard]] virtual bool peer_sends() const = 0;
  [[nodiscard]] virtual std::uint8_t peer_application_data() const = 0;
  /// The connector's SessionOptions::services, at a listener.
  [[nodiscard]] virtual const std::vector<std::string>& peer_services() const = 0;
  /// Has path_is_silent() known within a few round trips, a third of a second at least, for as long as the connection
  /// lives. The peer is at `fallback`, too: while the path in use is silent that is tried, as by try_path(), and of the
  /// two the first that answers stays. Nothing happens with libudt.
  virtual void watch_path(const std::optional<Endpoint>& /*fallback*/) {}
  /// Whether the path in use, which may be the fallback, has answered nothing for so long.
  [[nodiscard]] virtual bool path_is_silent() const { return false; }
  /// For people: `words` follow the cause where a path broke.
  virtual void name_paths(PathWords /*words*/) {}
};

}  // namespace udtcat
