// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/thread_channel.hpp"

#include <atomic>
#include <utility>

#include "lib/core/invariant.hpp"
#include "lib/core/mutex.hpp"

namespace udtcat::transport {

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto kCopyGap = 2ms;     // guess: a copy of 200 bytes for each train of a busy connection would show
constexpr auto kMostBehind = 5ms;  // guess: less than the round trips that answers are measured against
constexpr std::size_t kMaxDatagramsUnderWay = 64;  // guess: as many as a connection keeps; more are a flood

}  // namespace

/// The other thread's side: it has the channel, and is there until the last event of it has been handled.
/// Threads: confined to the io thread, but for the copy, which is synchronised.
class ThreadChannel::Far : public std::enable_shared_from_this<Far> {
 public:
  using Event = std::function<void(ThreadChannel&)>;

  /// As the channel was when it last made a copy.
  struct Copy {
    ChannelStats stats{};
    Written written{};
    std::size_t datagram_room_bytes = 0;
    std::uint64_t ahead_bytes = UINT64_MAX;
    Endpoint peer{};
    bool path_is_silent = false;
    std::optional<Clock::time_point> port_closed_since{};
  };

  Far(IoThread& thread, std::function<void(const Event&)> on_event, const Endpoint& peer)
      : thread_(thread), on_event_(std::move(on_event)), copy_{.peer = peer} {}

  void make(const Factory& factory, std::shared_ptr<ReadGuard> memory) {
    channel_ = factory({std::move(memory), [this] { on_change(); }});
    renew();
  }
  void destroy() { channel_.reset(); }
  [[nodiscard]] Channel& channel() { return *channel_; }

  /// Tells the proxy, if it is there by then.
  void tell(Event event) {
    thread_.post_back([self = shared_from_this(), event = std::move(event)] { self->on_event_(event); });
  }
  /// The same, of a completion, which may change much.
  void complete(Event event) {
    renew();
    tell(std::move(event));
  }
  void tell_datagram(std::span<const std::byte> bytes) {
    if (datagrams_under_way_ >= kMaxDatagramsUnderWay) return;
    ++datagrams_under_way_;
    tell([self = shared_from_this(), copied = std::vector(bytes.begin(), bytes.end())](ThreadChannel& proxy) {
      --self->datagrams_under_way_;
      if (proxy.datagram_handler_ && !proxy.closed_) proxy.datagram_handler_(copied);
    });
  }

  void renew() {
    if (!channel_) return;
    Copy fresh{.stats = channel_->stats(),
               .written = channel_->written().value_or(Written()),
               .datagram_room_bytes = channel_->datagram_room_bytes(),
               .ahead_bytes = channel_->ahead_bytes(),
               .peer = channel_->peer(),
               .path_is_silent = channel_->path_is_silent(),
               .port_closed_since = channel_->port_closed_since()};
    const core::MutexLock lock(mutex_);
    copy_ = fresh;
    copied_at_ = Clock::now();
    changed_since_ = false;
    asked_for_ = false;
  }

  // The proxy's:
  [[nodiscard]] Copy copy() {
    const core::MutexLock lock(mutex_);
    return copy_;
  }
  /// Whether something has happened since a copy that is too old.
  [[nodiscard]] bool is_behind() {
    const core::MutexLock lock(mutex_);
    return changed_since_ && Clock::now() - copied_at_ > kMostBehind;
  }
  /// For what changes with time alone. Whether a copy is to be asked for.
  [[nodiscard]] bool ask() {
    const core::MutexLock lock(mutex_);
    return Clock::now() - copied_at_ > kMostBehind && !std::exchange(asked_for_, true);
  }

 private:
  void on_change() {
    {
      const core::MutexLock lock(mutex_);
      changed_since_ = true;
      if (Clock::now() - copied_at_ < kCopyGap) return;
    }
    renew();
  }

  IoThread& thread_;
  const std::function<void(const Event&)> on_event_;  // called on the owner's thread
  std::unique_ptr<Channel> channel_;
  std::atomic<std::size_t> datagrams_under_way_ = 0;

  core::Mutex mutex_;
  Copy copy_ UDTCAT_GUARDED_BY(mutex_);
  Clock::time_point copied_at_ UDTCAT_GUARDED_BY(mutex_){};
  bool changed_since_ UDTCAT_GUARDED_BY(mutex_) = false;
  bool asked_for_ UDTCAT_GUARDED_BY(mutex_) = false;
};

ThreadChannel::ThreadChannel(IoThread& thread, const Settings& settings, Factory factory)
    : thread_(thread),
      settings_(settings),
      memory_(std::make_shared<ReadGuard>()),
      far_(std::make_shared<Far>(thread, lifetime_.guard([this](const Far::Event& event) { event(*this); }),
                                 settings.peer)) {
  thread_.post([far = far_, factory = std::move(factory), memory = memory_] { far->make(factory, memory); });
}

ThreadChannel::~ThreadChannel() {
  if (read_handler_) memory_->shut();
  thread_.post([far = far_] { far->destroy(); });
}

void ThreadChannel::post(Use use) const {
  thread_.post([far = far_, use = std::move(use)] { use(far->channel()); });
}

// ---- The stream -----------------------------------------------------------------------------------------------------

void ThreadChannel::begin_read(ReadSomeHandler handler) {
  UDTCAT_INVARIANT(!read_handler_, "callers read one at a time");
  read_handler_ = std::move(handler);
}

void ThreadChannel::async_read_least(std::span<std::byte> into, std::size_t least_bytes, ReadSomeHandler handler) {
  begin_read(std::move(handler));
  thread_.post([far = far_, into, least_bytes] {
    far->channel().async_read_least(into, least_bytes, [&far = *far](const Result<std::size_t>& read) {
      far.complete([read](ThreadChannel& proxy) { proxy.on_read(read); });
    });
  });
}

void ThreadChannel::async_read_some(std::span<std::byte> into, ReadSomeHandler handler) {
  begin_read(std::move(handler));
  thread_.post([far = far_, into] {
    far->channel().async_read_some(into, [&far = *far](const Result<std::size_t>& read) {
      far.complete([read](ThreadChannel& proxy) { proxy.on_read(read); });
    });
  });
}

/// The handler may destroy this.
void ThreadChannel::on_read(const Result<std::size_t>& read) { std::exchange(read_handler_, nullptr)(read); }

void ThreadChannel::async_write(core::SharedBytes from, WriteHandler handler) {
  const std::uint64_t number = first_write_ + write_handlers_.size();
  written_bytes_ += from.size();
  write_handlers_.push_back(std::move(handler));
  thread_.post([far = far_, from = std::move(from), number]() mutable {
    far->channel().async_write(std::move(from), [&far = *far, number](const Status& status) {
      far.complete([number, status](ThreadChannel& proxy) { proxy.on_written(number, status); });
    });
  });
}

/// The handler may destroy this.
void ThreadChannel::on_written(std::uint64_t number, const Status& status) {
  const WriteHandler handler = std::exchange(write_handlers_[number - first_write_], nullptr);
  for (; !write_handlers_.empty() && !write_handlers_.front(); ++first_write_) write_handlers_.pop_front();
  handler(status);
}

void ThreadChannel::async_drained(DrainedHandler handler) {
  UDTCAT_INVARIANT(!drained_handler_, "callers wait for one drain at a time");
  drained_handler_ = std::move(handler);
  thread_.post([far = far_] {
    far->channel().async_drained([&far = *far](const Status& status) {
      far.complete([status](ThreadChannel& proxy) { std::exchange(proxy.drained_handler_, nullptr)(status); });
    });
  });
}

void ThreadChannel::close(std::chrono::milliseconds drain) {
  closed_ = true;
  post([drain](Channel& channel) { channel.close(drain); });
}

bool ThreadChannel::close_if_silent_since(std::uint64_t bytes_received) {
  bool closed = false;
  thread_.call([&] { closed = far_->channel().close_if_silent_since(bytes_received); });
  closed_ = closed_ || closed;
  return closed;
}

// ---- Beside it ------------------------------------------------------------------------------------------------------

std::size_t ThreadChannel::datagram_room_bytes() const { return closed_ ? 0 : far_->copy().datagram_room_bytes; }

void ThreadChannel::send_datagram(std::span<const std::byte> bytes) {
  post([copied = std::vector(bytes.begin(), bytes.end())](Channel& channel) { channel.send_datagram(copied); });
}

void ThreadChannel::on_datagram(DatagramHandler handler) {
  datagram_handler_ = std::move(handler);
  thread_.post([far = far_] {
    far->channel().on_datagram([&far = *far](std::span<const std::byte> bytes) { far.tell_datagram(bytes); });
  });
}

void ThreadChannel::set_tunnel(std::function<void(std::span<const std::byte>)> send) {
  tunnel_ = std::move(send);
  thread_.post([far = far_] {
    far->channel().set_tunnel([far](std::span<const std::byte> packet) {
      far->tell([copied = std::vector(packet.begin(), packet.end())](ThreadChannel& proxy) { proxy.tunnel_(copied); });
    });
  });
}

void ThreadChannel::take_from_tunnel(std::span<const std::byte> packet) {
  post([copied = std::vector(packet.begin(), packet.end())](Channel& channel) { channel.take_from_tunnel(copied); });
}

void ThreadChannel::trust_peer() {
  post([](Channel& channel) { channel.trust_peer(); });
}

void ThreadChannel::try_path(const Endpoint& address) {
  post([address](Channel& channel) { channel.try_path(address); });
}

void ThreadChannel::watch_path(const std::optional<Endpoint>& fallback) {
  post([fallback](Channel& channel) { channel.watch_path(fallback); });
}

// ---- What it says ---------------------------------------------------------------------------------------------------

/// More may be acknowledged by now.
std::optional<Channel::Written> ThreadChannel::written() const {
  if (!settings_.knows_acknowledged) return std::nullopt;
  const Written copied = far_->copy().written;
  return Written{written_bytes_, copied.acknowledged, copied.unanswered_since};
}

std::uint64_t ThreadChannel::ahead_bytes() const { return far_->copy().ahead_bytes; }

ChannelStats ThreadChannel::stats() {
  if (far_->is_behind()) thread_.call([this] { far_->renew(); });
  return far_->copy().stats;
}

void ThreadChannel::add_end_stats(EndStats& end) const {
  thread_.call([&] { far_->channel().add_end_stats(end); });
}

Endpoint ThreadChannel::peer() const { return far_->copy().peer; }

bool ThreadChannel::path_is_silent() const {
  if (far_->ask()) thread_.post([far = far_] { far->renew(); });
  return far_->copy().path_is_silent;
}

std::optional<Clock::time_point> ThreadChannel::port_closed_since() {
  if (far_->ask()) thread_.post([far = far_] { far->renew(); });
  return far_->copy().port_closed_since;
}

}  // namespace udtcat::transport
