// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/libudt/libudt_channel.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <udt/udt.h>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "lib/core/invariant.hpp"
#include "lib/core/lifetime.hpp"
#include "lib/core/mutex.hpp"
#include "lib/core/try.hpp"
#include "lib/net/event_loop.hpp"

namespace udtcat::transport::libudt {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// libudt sends something at least every 0.3 s, and gives a peer up after 5 s of silence at the very least.
constexpr auto kSilenceOfTheLost = 3s;  // spec: between the two
// Often enough to see an orderly end while it is fresh (Connection::note_end).
constexpr auto kEndPoll = 500ms;  // guess
// libudt does not tell when the last acknowledgement has come; it has to be asked.
constexpr auto kDrainPoll = 2ms;  // guess: about one more timer tick at the end of a connection
// Where libudt begins; no measured mean of microseconds is likely to be just this.
constexpr std::chrono::milliseconds kInitialRtt{100};  // spec: libudt, ten of its SYN intervals
constexpr auto kCheckInterval = 250ms;                 // guess: two calls of libudt's each
constexpr auto kMissedChecks = 2s;                     // guess: this process did not run
constexpr int kFullWindowPackets = 16;  // spec: udt4.md §8: a peer whose reader takes nothing announces fewer
constexpr std::size_t kMaxBytesAtOnce = std::numeric_limits<int>::max();  // spec: libudt counts in int

std::uint64_t count(std::int64_t value) { return static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0)); }

/// The value of an option that is a number; none where libudt's garbage collector has taken the socket.
std::optional<int> number_of(const UdtSocket& socket, UDT::SOCKOPT option) {
  int value = 0;
  int length = sizeof value;
  if (UDT::getsockopt(socket.id(), 0, option, &value, &length) == UDT::ERROR) return std::nullopt;
  return value;
}

/// A connection as the channel's two threads and the io_context's share it.
/// Threads: internally synchronised. receive() and send() from one thread each.
class Connection {
 public:
  explicit Connection(Established established)
      : socket_(std::move(established.socket)),
        peer_(established.peer),
        payload_bytes_(static_cast<std::size_t>(number_of(socket_, UDT_MSS).value_or(1500)) - kMssOverheadBytes),
        port_watch_(std::move(established.port_watch)),
        idle_timeout_(established.idle_timeout),
        last_byte_at_(Clock::now().time_since_epoch()) {
    port_watch_->watch(peer_);
  }
  ~Connection() { port_watch_->unwatch(peer_); }

  /// How many bytes libudt had for us; 0 when none came within kBlockingCallLimit.  errors: Errc::connection_broken
  [[nodiscard]] Result<std::size_t> receive(std::span<std::byte> into);
  /// How many bytes libudt took; 0 when it took none within kBlockingCallLimit. `last`: nothing is known to follow.
  /// errors: Errc::connection_broken
  [[nodiscard]] Result<std::size_t> send(std::span<const std::byte> from, bool last);
  /// Whether the peer's libudt has acknowledged all that was sent.  errors: Errc::connection_broken, it never will
  [[nodiscard]] Result<bool> drained();
  /// Fails once nothing of what was sent has been acknowledged for the idle timeout, though the peer has room: libudt
  /// takes any packet of the peer's for life, also where none of ours gets through.  errors: Errc::connection_broken
  [[nodiscard]] Status check_acknowledgements();
  /// From now on ended_in_order() can tell; note_end() is then to be called twice a second or so.
  /// returns  whether this is the first call
  [[nodiscard]] bool watch_its_end();
  /// Takes note when the connection has ended.
  void note_end();
  /// Once receive() has failed: the peer said that it closes, and all that came before has been read. libudt does not
  /// say so. Known from the silence before the end, which is long where libudt gave the peer up.
  [[nodiscard]] bool ended_in_order();
  /// Keeps the last statistics. May be called again.
  void close();
  [[nodiscard]] ChannelStats stats();
  [[nodiscard]] std::optional<Clock::time_point> port_closed_since();
  [[nodiscard]] const Endpoint& peer() const { return peer_; }

 private:
  [[nodiscard]] Error broken(const char* doing) const;

  UdtSocket socket_;                              // constant after construction
  const Endpoint peer_;                           // constant after construction
  const std::size_t payload_bytes_;               // constant after construction: of a full packet
  const std::shared_ptr<PortWatch> port_watch_;   // synchronises itself
  const std::chrono::milliseconds idle_timeout_;  // constant after construction
  std::atomic<std::uint64_t> bytes_received_{0};
  std::atomic<Clock::duration> last_byte_at_;
  std::atomic<bool> end_is_watched_{false};
  std::atomic<bool> bytes_dropped_{false};
  core::Mutex mutex_;
  std::optional<bool> ended_amid_talk_ UDTCAT_GUARDED_BY(mutex_);     // known from the end on
  std::optional<int> left_unacknowledged_ UDTCAT_GUARDED_BY(mutex_);  // as ended_amid_talk_
  bool all_read_ UDTCAT_GUARDED_BY(mutex_) = false;  // after the end, and libudt has nothing more for us
  ChannelStats last_stats_ UDTCAT_GUARDED_BY(mutex_);
  int acknowledgements_ UDTCAT_GUARDED_BY(mutex_) = 0;  // as libudt counts them: those that were news
  Clock::time_point acknowledged_at_ UDTCAT_GUARDED_BY(mutex_) = Clock::now();
  Clock::time_point checked_at_ UDTCAT_GUARDED_BY(mutex_) = acknowledged_at_;
};

Result<std::size_t> Connection::receive(std::span<std::byte> into) {
  const auto most = static_cast<int>(std::min(into.size(), kMaxBytesAtOnce));
  // SAFETY: libudt writes plain bytes.
  const int received = UDT::recv(socket_.id(), reinterpret_cast<char*>(into.data()), most, 0);
  if (received == UDT::ERROR && !last_error_is_try_again()) {
    const bool socket_is_gone = UDT::getlasterror_code() == CUDTException::EINVSOCK;
    note_end();
    const core::MutexLock lock(mutex_);
    bytes_dropped_ = socket_is_gone && !all_read_;
    return tl::unexpected(broken("receive from"));
  }
  if (received <= 0) {
    port_watch_->take(Clock::now());
    return std::size_t{0};
  }
  bytes_received_ += static_cast<std::size_t>(received);
  last_byte_at_ = Clock::now().time_since_epoch();
  // libudt's garbage collector takes an ended socket a second after its last byte was read, or with bytes in it a
  // minute after the end: what tells one from the other must be known before.
  const core::MutexLock lock(mutex_);
  if (ended_amid_talk_ && number_of(socket_, UDT_RCVDATA) == 0) all_read_ = true;
  return static_cast<std::size_t>(received);
}

Result<std::size_t> Connection::send(std::span<const std::byte> from, bool last) {
  std::size_t most = std::min(from.size(), kMaxBytesAtOnce);
  // The receiver's libudt hands up a full packet only 100 ms later unless a short one follows: leave one byte for that.
  if (last && most > 1 && most % payload_bytes_ == 0) --most;
  // SAFETY: libudt reads plain bytes.
  const int sent = UDT::send(socket_.id(), reinterpret_cast<const char*>(from.data()), static_cast<int>(most), 0);
  if (sent == UDT::ERROR && !last_error_is_try_again()) return tl::unexpected(broken("send to"));
  return static_cast<std::size_t>(std::max(sent, 0));
}

Result<bool> Connection::drained() {
  // In this order: what is still open now has a number that can only fall to what it is at the end.
  const bool connected = UDT::getsockstate(socket_.id()) == CONNECTED;
  auto packets = number_of(socket_, UDT_SNDDATA);
  if (!packets) {
    const core::MutexLock lock(mutex_);
    packets = left_unacknowledged_;
  }
  if (packets == 0) return true;
  if (connected && packets) return false;
  return fail(Errc::connection_broken, fmt::format("send to udp {}", peer_.to_string()),
              "the connection ended before all was acknowledged");
}

Status Connection::check_acknowledgements() {
  const auto now = Clock::now();
  const core::MutexLock lock(mutex_);
  if (now - checked_at_ < kCheckInterval) return {};
  if (now - checked_at_ > kMissedChecks) acknowledged_at_ += now - checked_at_;
  checked_at_ = now;
  const auto unacknowledged = number_of(socket_, UDT_SNDDATA);
  UDT::TRACEINFO trace;
  if (!unacknowledged || UDT::perfmon(socket_.id(), &trace, false) == UDT::ERROR) return {};
  const bool news = std::exchange(acknowledgements_, trace.pktRecvACKTotal) != trace.pktRecvACKTotal;
  if (unacknowledged == 0 || trace.pktFlowWindow < kFullWindowPackets || news) acknowledged_at_ = now;
  if (now - acknowledged_at_ < idle_timeout_) return {};
  return fail(Errc::connection_broken, fmt::format("send to udp {}", peer_.to_string()),
              "nothing was acknowledged for too long");
}

bool Connection::watch_its_end() {
  if (end_is_watched_.exchange(true)) return false;
  std::ignore = port_watch_->silence();  // the first question makes the system keep the time from now on
  return true;
}

void Connection::note_end() {
  if (!end_is_watched_ || UDT::getsockstate(socket_.id()) == CONNECTED) return;
  const auto silence = port_watch_->silence();
  const auto unacknowledged = number_of(socket_, UDT_SNDDATA);
  const core::MutexLock lock(mutex_);
  if (ended_amid_talk_) return;
  left_unacknowledged_ = unacknowledged;  // soon libudt's garbage collector takes the number with the socket
  all_read_ = number_of(socket_, UDT_RCVDATA) == 0;
  // A system that keeps no time of arrival leaves us the time of the last payload.
  ended_amid_talk_ = silence.value_or(Clock::now() - Clock::time_point(last_byte_at_.load())) < kSilenceOfTheLost;
}

bool Connection::ended_in_order() {
  note_end();
  // The socket that libudt's garbage collector took may have held bytes.
  if (bytes_dropped_ || port_closed_since()) return false;
  const core::MutexLock lock(mutex_);
  return ended_amid_talk_.value_or(false);
}

void Connection::close() {
  std::ignore = stats();  // for its memory: after close() libudt has none
  socket_.close();
}

ChannelStats Connection::stats() {
  UDT::TRACEINFO trace;
  const bool known = UDT::perfmon(socket_.id(), &trace, false) != UDT::ERROR;
  const core::MutexLock lock(mutex_);
  if (known) {
    last_stats_.packets_sent = count(trace.pktSentTotal);
    last_stats_.packets_lost = count(trace.pktSndLossTotal);
    last_stats_.packets_resent = count(trace.pktRetransTotal);
    const std::chrono::duration<double, std::milli> rtt(trace.msRTT);
    if (rtt != kInitialRtt) last_stats_.rtt = std::chrono::duration_cast<std::chrono::microseconds>(rtt);
  }
  last_stats_.transport = TransportKind::libudt;
  last_stats_.bytes_received = bytes_received_;
  return last_stats_;
}

std::optional<Clock::time_point> Connection::port_closed_since() {
  port_watch_->take(Clock::now());
  return port_watch_->closed_since(peer_, Clock::time_point(last_byte_at_.load()));
}

Error Connection::broken(const char* doing) const {
  Error error = last_error(Errc::connection_broken, fmt::format("{} udp {}", doing, peer_.to_string()));
  error.code = Errc::connection_broken;  // whatever libudt's reason, this connection is over
  return error;
}

/// One direction of a connection: what is asked of it is done on a thread of its own, as libudt blocks, one after the
/// other. The thread starts with the first, and ends with the last once finish() was called.
/// Threads: confined to the channel's; `jobs` to its own, but for posting.
struct Direction {
  explicit Direction(std::shared_ptr<Connection> of) : connection(std::move(of)) {}

  const std::shared_ptr<Connection> connection;  // synchronises itself
  boost::asio::io_context jobs{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> goes_on = make_work_guard(jobs);
  std::optional<Error> broken;  // its own thread's: after the first error each later call gives the same
  std::atomic<Clock::duration> give_up_at{Clock::duration::max()};
  std::atomic<std::size_t> writes_waiting{0};
  const std::shared_ptr<std::atomic<bool>> finished = std::make_shared<std::atomic<bool>>(false);

  [[nodiscard]] bool is_closed() const { return give_up_at.load() != Clock::duration::max(); }
  [[nodiscard]] bool is_given_up() const { return Clock::now().time_since_epoch() >= give_up_at.load(); }
  [[nodiscard]] Status check(const char* doing) {
    if (!broken)
      if (auto checked = connection->check_acknowledgements(); !checked) broken = std::move(checked.error());
    if (broken) return tl::unexpected(*broken);
    if (is_given_up()) return fail(Errc::connection_broken, doing, "the channel is closed");
    return {};
  }
};

Result<std::size_t> read(Direction& from, std::span<std::byte> into, std::size_t least_bytes, bool tells_the_end) {
  std::size_t filled = 0;
  while (filled < least_bytes) {
    if (from.broken && tells_the_end && !from.is_given_up() && from.connection->ended_in_order()) return std::size_t{0};
    UDTCAT_CHECK(from.check("receive"));
    const auto received = from.connection->receive(into.subspan(filled));
    if (received) filled += *received;
    if (!received) from.broken = received.error();
  }
  return filled;
}

Status write(Direction& to, std::span<const std::byte> from) {
  while (!from.empty()) {
    UDTCAT_CHECK(to.check("send"));
    const auto sent = to.connection->send(from, to.writes_waiting == 1);
    if (!sent) to.broken = sent.error();
    if (sent) from = from.subspan(*sent);
  }
  return to.broken ? tl::unexpected(*to.broken) : Status{};
}

Status wait_drained(Direction& to) {
  for (;;) {
    UDTCAT_CHECK(to.check("wait for acknowledgements"));
    const auto drained = to.connection->drained();
    if (!drained) return tl::unexpected(drained.error());
    if (*drained) return {};
    boost::asio::steady_timer(to.jobs, kDrainPoll).wait();
  }
}

/// Threads: confined, as Channel.
class LibudtChannel final : public Channel {
 public:
  /// reading, writing   with event loops that are prepared
  LibudtChannel(boost::asio::io_context& io, std::shared_ptr<Runtime> runtime, std::shared_ptr<Direction> reading,
                std::shared_ptr<Direction> writing)
      : io_(io),
        runtime_(std::move(runtime)),
        connection_(reading->connection),
        reading_(std::move(reading)),
        writing_(std::move(writing)),
        end_poll_(reading_->jobs) {}
  /// Waits for the read in progress, at most kBlockingCallLimit. Writes that close() left time for go on without us.
  ~LibudtChannel() override;

  void async_read_least(std::span<std::byte> into, std::size_t least_bytes, ReadSomeHandler handler) override {
    UDTCAT_INVARIANT(least_bytes > 0 && least_bytes <= into.size(), "callers read what they know must come");
    read_at_least(into, least_bytes, false, std::move(handler));
  }
  void async_read_some(std::span<std::byte> into, ReadSomeHandler handler) override;
  void async_write(core::SharedBytes from, WriteHandler handler) override;
  void async_drained(DrainedHandler handler) override;
  void close(std::chrono::milliseconds drain) override;
  [[nodiscard]] ChannelStats stats() override { return connection_->stats(); }
  [[nodiscard]] Endpoint peer() const override { return connection_->peer(); }
  [[nodiscard]] std::optional<Clock::time_point> port_closed_since() override {
    return connection_->port_closed_since();
  }

 private:
  void read_at_least(std::span<std::byte> into, std::size_t least_bytes, bool tells_the_end, ReadSomeHandler handler);
  void poll_end();
  template <typename Outcome, typename Work>
  void start(std::thread& thread, const std::shared_ptr<Direction>& direction, Work work,
             std::function<void(Outcome)> handler);

  boost::asio::io_context& io_;
  const std::shared_ptr<Runtime> runtime_;        // synchronises itself
  const std::shared_ptr<Connection> connection_;  // synchronises itself
  const std::shared_ptr<Direction> reading_;
  const std::shared_ptr<Direction> writing_;  // its thread may outlive us
  boost::asio::steady_timer end_poll_;        // the reading thread's
  std::thread reader_;
  std::thread writer_;
  core::Lifetime lifetime_;
};

LibudtChannel::~LibudtChannel() {
  LibudtChannel::close(0ms);
  if (reader_.joinable()) reader_.join();
  if (writer_.joinable()) runtime_->adopt(std::move(writer_), writing_->finished);
}

/// Has `work` done on the direction's thread, and its outcome told to `handler` on ours.
template <typename Outcome, typename Work>
void LibudtChannel::start(std::thread& thread, const std::shared_ptr<Direction>& direction, Work work,
                          std::function<void(Outcome)> handler) {
  auto tell = [guard = boost::asio::make_work_guard(io_),
               handler = lifetime_.guard(std::move(handler))](Outcome outcome) mutable {
    boost::asio::post(guard.get_executor(), [handler = std::move(handler), outcome = std::move(outcome)]() mutable {
      handler(std::move(outcome));
    });
    guard.reset();
  };
  if (direction->is_closed()) return tell(fail(Errc::connection_broken, "use a channel", "it is closed"));
  boost::asio::post(direction->jobs, [work = std::move(work), tell]() mutable { tell(work()); });
  if (thread.joinable()) return;
  try {
    thread = std::thread([direction] {
      direction->jobs.run();
      *direction->finished = true;
    });
  } catch (const std::system_error& error) {
    direction->broken = Error{Errc::out_of_resources, "start a thread for libudt", error.what()};
    direction->jobs.poll();  // which fails it
  }
}

void LibudtChannel::read_at_least(std::span<std::byte> into, std::size_t least_bytes, bool tells_the_end,
                                  ReadSomeHandler handler) {
  start<Result<std::size_t>>(
      reader_, reading_,
      [from = reading_.get(), into, least_bytes, tells_the_end] {
        return read(*from, into, least_bytes, tells_the_end);
      },
      std::move(handler));
}

void LibudtChannel::async_read_some(std::span<std::byte> into, ReadSomeHandler handler) {
  UDTCAT_INVARIANT(!into.empty(), "callers have room for what they read");
  if (connection_->watch_its_end()) boost::asio::post(reading_->jobs, [this] { poll_end(); });
  read_at_least(into, 1, true, std::move(handler));
}

void LibudtChannel::poll_end() {
  connection_->note_end();
  if (reading_->is_closed()) return;
  end_poll_.expires_after(kEndPoll);
  end_poll_.async_wait([this](const boost::system::error_code& cancelled) {
    if (!cancelled) poll_end();
  });
}

void LibudtChannel::async_write(core::SharedBytes from, WriteHandler handler) {
  if (!writing_->is_closed()) ++writing_->writes_waiting;
  start<Status>(
      writer_, writing_,
      [to = writing_.get(), from = std::move(from)] {
        auto written = write(*to, from.bytes());
        --to->writes_waiting;
        return written;
      },
      std::move(handler));
}

void LibudtChannel::async_drained(DrainedHandler handler) {
  start<Status>(
      writer_, writing_, [to = writing_.get()] { return wait_drained(*to); }, std::move(handler));
}

void LibudtChannel::close(std::chrono::milliseconds drain) {
  if (writing_->is_closed()) return;
  const auto now = Clock::now().time_since_epoch();
  reading_->give_up_at = now;
  boost::asio::post(reading_->jobs, [this] {
    end_poll_.cancel();
    reading_->goes_on.reset();
  });
  writing_->give_up_at = now + drain;
  boost::asio::post(writing_->jobs, [to = writing_.get()] {
    std::ignore = wait_drained(*to);  // whatever came of it: this is the end
    to->connection->close();
    to->goes_on.reset();
  });
  // Nothing can wait where nothing was ever written. And without time to drain, a thread blocked in libudt is to wake
  // now.
  if (!writer_.joinable() || drain <= 0ms) connection_->close();
}

}  // namespace

Result<std::unique_ptr<Channel>> make_channel(boost::asio::io_context& io, std::shared_ptr<Runtime> runtime,
                                              Established established) {
  UDTCAT_CHECK(established.socket.make_blocking());
  auto connection = std::make_shared<Connection>(std::move(established));
  auto reading = std::make_shared<Direction>(connection);
  auto writing = std::make_shared<Direction>(std::move(connection));
  for (const auto& each : {reading, writing}) UDTCAT_CHECK(net::prepare_event_loop(each->jobs, net::LoopSignals::none));
  return std::make_unique<LibudtChannel>(io, std::move(runtime), std::move(reading), std::move(writing));
}

}  // namespace udtcat::transport::libudt
