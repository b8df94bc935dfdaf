#include "gridftp/xio/link.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <boost/asio/post.hpp>

namespace udtcat::gridftp::xio {
namespace {

template <typename Byte>
std::size_t total_bytes(const std::vector<std::span<Byte>>& pieces) {
  std::size_t total = 0;
  for (const auto& piece : pieces) total += piece.size();
  return total;
}

Error busy(const char* what) { return {Errc::bad_argument, what, "another one is going on"}; }

}  // namespace

Result<std::shared_ptr<Link>> Link::make(std::shared_ptr<boost::asio::io_context> io) {
  auto read_event = WakeEvent::make();
  if (!read_event) return tl::unexpected(read_event.error());
  auto write_event = WakeEvent::make();
  if (!write_event) return tl::unexpected(write_event.error());
  return std::shared_ptr<Link>(new Link(std::move(io), std::move(*read_event), std::move(*write_event)));
}

Link::Link(std::shared_ptr<boost::asio::io_context> io, WakeEvent read_event, WakeEvent write_event)
    : io_(std::move(io)), read_event_(std::move(read_event)), write_event_(std::move(write_event)) {}

// ---- Opening ---------------------------------------------------------------------------------------------------------

Progress Link::open_progress() {
  const std::lock_guard lock(mutex_);
  Progress progress{.done = open_ || over_};
  if (over_) progress.error = error_;
  reader_waits_ = !progress.done;
  return progress;
}

void Link::on_open(Endpoint peer, GiveUpHandler give_up) {
  give_up_ = std::move(give_up);
  const std::lock_guard lock(mutex_);
  open_ = true;
  peer_ = peer;
  wake_reader();
}

Endpoint Link::peer() {
  const std::lock_guard lock(mutex_);
  return peer_;
}

// ---- Outgoing: their write → ring → a block ---------------------------------------------------------------------------

Progress Link::start_write(std::vector<std::span<const std::byte>> from) {
  {
    const std::lock_guard lock(mutex_);
    if (writing_ || close_asked_) return {.done = true, .error = busy("write")};
    const std::size_t left = total_bytes(from);
    writing_.emplace(Writing{std::move(from), 0, 0, left});
  }
  return write_on();
}

Progress Link::write_progress() { return write_on(); }

/// Copies without the mutex: the ring's two ends never touch the same bytes, and nobody else changes writing_ now.
Progress Link::write_on() {
  std::unique_lock lock(mutex_);
  if (!writing_) return {.done = true};
  Writing& writing = *writing_;
  while (!error_ && writing.left > 0) {
    auto& piece = writing.from[writing.next];
    const auto room = outgoing_.writable();
    const std::size_t bytes = std::min(piece.size(), room.size());
    if (room.empty()) break;
    lock.unlock();
    if (bytes > 0) std::memcpy(room.data(), piece.data(), bytes);
    lock.lock();
    outgoing_.commit(bytes);
    piece = piece.subspan(bytes);
    if (piece.empty()) ++writing.next;
    writing.bytes += bytes;
    writing.left -= bytes;
    wrote_ = wrote_ || bytes > 0;
  }
  poke();
  Progress progress{.done = error_ || writing.left == 0, .bytes = writing.bytes, .error = error_};
  writer_waits_ = !progress.done;
  if (progress.done) writing_.reset();
  return progress;
}

std::size_t Link::stop_write() {
  const std::lock_guard lock(mutex_);
  writer_waits_ = false;
  const std::size_t bytes = writing_ ? writing_->bytes : 0;
  writing_.reset();
  return bytes;
}

LocalStream::ReadResult Link::source_read(std::span<std::byte> into) {
  std::unique_lock lock(mutex_);
  const auto bytes_there = outgoing_.readable();
  if (bytes_there.empty()) {
    const bool end = close_asked_ && !writing_;
    return {end ? LocalStream::ReadState::end : LocalStream::ReadState::would_block};
  }
  const std::size_t bytes = std::min(into.size(), bytes_there.size());
  lock.unlock();
  std::memcpy(into.data(), bytes_there.data(), bytes);
  lock.lock();
  outgoing_.consume(bytes);
  if (writing_ && outgoing_.free_bytes() >= std::min(writing_->left, kRingBytes / 2)) wake_writer();
  return {LocalStream::ReadState::data, bytes};
}

void Link::source_wait(LocalStream::WaitHandler handler) {
  source_waiter_ = std::move(handler);
  const std::lock_guard lock(mutex_);
  if (outgoing_.size_bytes() > 0 || close_asked_) poke();
}

void Link::source_receipted() {
  const std::lock_guard lock(mutex_);
  receipted_ = true;
  wake_writer();
}

// ---- Incoming: the block that arrived → their read --------------------------------------------------------------------

Progress Link::start_read(std::vector<std::span<std::byte>> into, std::size_t at_least) {
  const std::lock_guard lock(mutex_);
  if (reading_) return {.done = true, .error = busy("read")};
  const std::size_t room = total_bytes(into);
  reading_.emplace(Reading{std::move(into), 0, 0, std::min(at_least, room)});
  fill_reading();
  return read_on();
}

Progress Link::read_progress() {
  const std::lock_guard lock(mutex_);
  return read_on();
}

Progress Link::read_on() {
  if (!reading_) return {.done = true};
  const bool enough = satisfied(*reading_);
  Progress progress{.done = enough || error_ || ended_, .bytes = reading_->bytes};
  if (!enough) {
    progress.error = error_;
    progress.ended = ended_;
  }
  reader_waits_ = !progress.done;
  if (progress.done) reading_.reset();
  return progress;
}

bool Link::satisfied(const Reading& reading) const {
  if (reading.at_least > 0) return reading.bytes >= reading.at_least;
  // Without room it is a question: is there anything?
  const bool has_room = reading.bytes > 0 || reading.next < reading.into.size();
  return has_room || !offered_.empty();
}

std::size_t Link::stop_read() {
  const std::lock_guard lock(mutex_);
  reader_waits_ = false;
  const std::size_t bytes = reading_ ? reading_->bytes : 0;
  reading_.reset();
  return bytes;
}

/// From the block in place to where it is wanted. Under the mutex, since the block goes with the stream.
void Link::fill_reading() {
  Reading& reading = *reading_;
  while (reading.next < reading.into.size()) {
    auto& room = reading.into[reading.next];
    const std::size_t bytes = std::min(room.size(), offered_.size());
    if (bytes > 0) std::memcpy(room.data(), offered_.data(), bytes);
    offered_ = offered_.subspan(bytes);
    room = room.subspan(bytes);
    reading.bytes += bytes;
    if (!room.empty()) break;
    ++reading.next;
  }
  if (offered_.empty() && offered_bytes_ > 0) poke();
}

void Link::sink_write(std::span<const std::byte> from, LocalStream::WriteHandler handler) {
  sink_writer_ = std::move(handler);
  const std::lock_guard lock(mutex_);
  offered_bytes_ = from.size();
  offered_ = from;
  if (left_locked()) {
    left_unread_ = true;
    offered_ = {};
    return poke();
  }
  if (!reading_) return;
  fill_reading();
  if (satisfied(*reading_)) wake_reader();
}

void Link::sink_finish(LocalStream::FinishHandler handler) {
  sink_finisher_ = std::move(handler);
  const std::lock_guard lock(mutex_);
  ended_ = true;
  wake_reader();
  poke();
}

// ---- The end -----------------------------------------------------------------------------------------------------------

Progress Link::start_close() {
  {
    const std::lock_guard lock(mutex_);
    close_asked_ = true;
    left_unread_ = left_unread_ || !offered_.empty();
    offered_ = {};
    poke();
  }
  return close_progress();
}

Progress Link::close_progress() {
  const std::lock_guard lock(mutex_);
  Progress progress{.done = receipted_ || over_ || !wrote_};
  if (!receipted_ && wrote_) progress.error = error_;
  writer_waits_ = !progress.done;
  return progress;
}

void Link::abandon() {
  const std::lock_guard lock(mutex_);
  abandoned_ = true;
  reading_.reset();
  writing_.reset();
  offered_ = {};
  reader_waits_ = writer_waits_ = false;
  poke();
}

bool Link::left() {
  const std::lock_guard lock(mutex_);
  return left_locked();
}

void Link::on_over(const std::optional<Error>& error) {
  give_up_ = nullptr;
  close_timer_.reset();
  const std::lock_guard lock(mutex_);
  if (over_) return;
  over_ = true;
  if (error) error_ = error;
  wake_reader();
  wake_writer();
}

void Link::detach() {
  source_waiter_ = nullptr;
  sink_writer_ = nullptr;
  sink_finisher_ = nullptr;
  const std::lock_guard lock(mutex_);
  offered_ = {};
  offered_bytes_ = 0;
}

// ---- Waking --------------------------------------------------------------------------------------------------------------

void Link::wake_reader() {
  if (std::exchange(reader_waits_, false)) read_event_.raise();
}

void Link::wake_writer() {
  if (std::exchange(writer_waits_, false)) write_event_.raise();
}

void Link::poke() {
  if (over_ || std::exchange(poked_, true)) return;
  // Weak: the io_context is ours too.
  boost::asio::post(*io_, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->serve();
  });
}

/// Calls the stream back for what the user's side has done meanwhile.
void Link::serve() {
  LocalStream::WaitHandler waiter;
  LocalStream::WriteHandler writer;
  LocalStream::FinishHandler finisher;
  std::size_t taken = 0;
  bool unread = false;
  bool gone = false;
  {
    const std::lock_guard lock(mutex_);
    poked_ = false;
    if (outgoing_.size_bytes() > 0 || close_asked_) waiter = std::exchange(source_waiter_, nullptr);
    if (offered_.empty() && offered_bytes_ > 0) {
      taken = std::exchange(offered_bytes_, 0);
      writer = std::exchange(sink_writer_, nullptr);
    }
    if (ended_) finisher = std::exchange(sink_finisher_, nullptr);
    unread = left_unread_;
    gone = abandoned_;
  }
  watch_close();
  if (waiter) waiter();
  if (writer) writer({}, taken);
  if (finisher) finisher(unread ? std::make_error_code(std::errc::connection_reset) : std::error_code());
  if (gone && give_up_) std::exchange(give_up_, nullptr)({Errc::interrupted, "transfer", "given up at the other end"});
}

void Link::watch_close() {
  {
    const std::lock_guard lock(mutex_);
    if (!left_locked() || receipted_ || over_) return;
  }
  if (close_timer_) return;
  close_timer_.emplace(*io_, kCloseWait);
  close_timer_->async_wait([weak = weak_from_this()](const boost::system::error_code& cancelled) {
    const auto self = weak.lock();
    if (cancelled || !self) return;
    {
      const std::lock_guard lock(self->mutex_);
      if (self->receipted_) return;
    }
    if (!self->give_up_) return;
    std::exchange(self->give_up_, nullptr)(
        {Errc::peer_lost, "close the connection to " + self->peer_.to_string(),
         "the other end has not taken everything within " + std::to_string(kCloseWait.count()) + " s"});
  });
}

// ---- As a stream sees it ---------------------------------------------------------------------------------------------------

namespace {

class LinkStream final : public LocalStream {
 public:
  explicit LinkStream(std::shared_ptr<Link> link) : link_(std::move(link)) {}
  LinkStream(const LinkStream&) = delete;
  LinkStream& operator=(const LinkStream&) = delete;
  ~LinkStream() override { link_->detach(); }

  ReadResult read_some(std::span<std::byte> into) override { return link_->source_read(into); }
  void async_wait_readable(WaitHandler handler) override { link_->source_wait(std::move(handler)); }
  void receipted() override { link_->source_receipted(); }
  void async_write_some(std::span<const std::byte> from, WriteHandler handler) override {
    link_->sink_write(from, std::move(handler));
  }
  void async_finish(FinishHandler handler) override { link_->sink_finish(std::move(handler)); }
  void abort() override { link_->detach(); }

  std::string source_name() const override { return "the file transfer"; }
  std::string sink_name() const override { return "the file transfer"; }

 private:
  const std::shared_ptr<Link> link_;
};

}  // namespace

std::unique_ptr<LocalStream> make_link_stream(std::shared_ptr<Link> link) {
  return std::make_unique<LinkStream>(std::move(link));
}

}  // namespace udtcat::gridftp::xio
