// SPDX-License-Identifier: Apache-2.0
#include "gridftp/xio/link.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <boost/asio/post.hpp>

#include "lib/core/try.hpp"

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

Result<std::shared_ptr<XioLink>> XioLink::make(std::shared_ptr<boost::asio::io_context> io) {
  UDTCAT_TRY(auto read_event, bridge::WakeEvent::make());
  UDTCAT_TRY(auto write_event, bridge::WakeEvent::make());
  return std::shared_ptr<XioLink>(new XioLink(std::move(io), std::move(read_event), std::move(write_event)));
}

XioLink::XioLink(std::shared_ptr<boost::asio::io_context> io, bridge::WakeEvent read_event,
                 bridge::WakeEvent write_event)
    : io_(std::move(io)), read_event_(std::move(read_event)), write_event_(std::move(write_event)) {}

// ---- Opening --------------------------------------------------------------------------------------------------------

OperationState XioLink::open_progress() {
  const core::MutexLock lock(mutex_);
  OperationState progress{.done = stream_ != Stream::opening};
  if (stream_ == Stream::over) progress.error = error_;
  reader_waits_ = !progress.done;
  return progress;
}

void XioLink::on_open(Endpoint peer, AbortHandler abort) {
  abort_ = std::move(abort);
  const core::MutexLock lock(mutex_);
  if (stream_ == Stream::opening) stream_ = Stream::open;
  peer_ = peer;
  wake_reader();
}

Endpoint XioLink::peer() {
  const core::MutexLock lock(mutex_);
  return peer_;
}

// ---- Outgoing: their write → ring → a block -------------------------------------------------------------------------

OperationState XioLink::start_write(std::vector<std::span<const std::byte>> from) {
  {
    const core::MutexLock lock(mutex_);
    if (writing_ || left_locked()) return {.done = true, .error = busy("write")};
    const std::size_t left = total_bytes(from);
    writing_.emplace(Writing{std::move(from), 0, 0, left});
  }
  return write_on();
}

OperationState XioLink::write_progress() { return write_on(); }

/// Copies without the mutex: the ring's two ends never touch the same bytes, and one write at a time changes writing_.
OperationState XioLink::write_on() {
  core::MutexLock lock(mutex_);
  if (!writing_) return {.done = true};
  Writing& writing = *writing_;
  while (!error_ && writing.left > 0) {
    auto& piece = writing.from[writing.next];
    const auto room = ring_.writable();
    const std::size_t bytes = std::min(piece.size(), room.size());
    if (room.empty()) break;
    lock.unlock();
    if (bytes > 0) std::memcpy(room.data(), piece.data(), bytes);
    lock.lock();
    ring_.commit(bytes);
    piece = piece.subspan(bytes);
    if (piece.empty()) ++writing.next;
    writing.bytes += bytes;
    writing.left -= bytes;
    if (bytes > 0 && outgoing_ == Outgoing::nothing) outgoing_ = Outgoing::unconfirmed;
  }
  post_serve();
  OperationState progress{.done = error_ || writing.left == 0, .bytes = writing.bytes, .error = error_};
  writer_waits_ = !progress.done;
  if (progress.done) writing_.reset();
  return progress;
}

std::size_t XioLink::stop_write() {
  const core::MutexLock lock(mutex_);
  writer_waits_ = false;
  const std::size_t bytes = writing_ ? writing_->bytes : 0;
  writing_.reset();
  return bytes;
}

LocalStream::ReadResult XioLink::source_read(std::span<std::byte> into) {
  core::MutexLock lock(mutex_);
  const auto bytes_there = ring_.readable();
  if (bytes_there.empty()) {
    const bool end = user_ == User::closing && !writing_;
    return {end ? LocalStream::ReadState::end : LocalStream::ReadState::would_block};
  }
  const std::size_t bytes = std::min(into.size(), bytes_there.size());
  lock.unlock();
  std::memcpy(into.data(), bytes_there.data(), bytes);
  lock.lock();
  ring_.consume(bytes);
  if (writing_ && ring_.free_bytes() >= std::min(writing_->left, kRingBytes / 2)) wake_writer();
  return {LocalStream::ReadState::data, bytes};
}

void XioLink::source_wait(LocalStream::WaitHandler handler) {
  source_waiter_ = std::move(handler);
  const core::MutexLock lock(mutex_);
  if (ring_.size_bytes() > 0 || user_ == User::closing) post_serve();
}

void XioLink::source_receipted() {
  const core::MutexLock lock(mutex_);
  outgoing_ = Outgoing::receipted;
  wake_writer();
}

// ---- Incoming: the block that arrived → their read ------------------------------------------------------------------

OperationState XioLink::start_read(std::vector<std::span<std::byte>> into, std::size_t at_least) {
  const core::MutexLock lock(mutex_);
  if (reading_) return {.done = true, .error = busy("read")};
  const std::size_t room = total_bytes(into);
  reading_.emplace(Reading{std::move(into), 0, 0, std::min(at_least, room)});
  fill_reading();
  return read_on();
}

OperationState XioLink::read_progress() {
  const core::MutexLock lock(mutex_);
  return read_on();
}

OperationState XioLink::read_on() {
  if (!reading_) return {.done = true};
  const bool enough = satisfied(*reading_);
  OperationState progress{.done = enough || error_ || incoming_ != Incoming::flowing, .bytes = reading_->bytes};
  if (!enough) {
    progress.error = error_;
    progress.ended = incoming_ != Incoming::flowing;
  }
  reader_waits_ = !progress.done;
  if (progress.done) reading_.reset();
  return progress;
}

bool XioLink::satisfied(const Reading& reading) const {
  if (reading.at_least > 0) return reading.bytes >= reading.at_least;
  // Without room it is a question: is there anything?
  const bool has_room = reading.bytes > 0 || reading.next < reading.into.size();
  return has_room || !offered_.empty();
}

std::size_t XioLink::stop_read() {
  const core::MutexLock lock(mutex_);
  reader_waits_ = false;
  const std::size_t bytes = reading_ ? reading_->bytes : 0;
  reading_.reset();
  return bytes;
}

/// From the block in place to where it is wanted. Under the mutex, since the block goes with the stream.
void XioLink::fill_reading() {
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
  if (offered_.empty() && offered_bytes_ > 0) post_serve();
}

void XioLink::sink_write(std::span<const std::byte> from, LocalStream::WriteHandler handler) {
  sink_writer_ = std::move(handler);
  const core::MutexLock lock(mutex_);
  offered_bytes_ = from.size();
  offered_ = from;
  if (left_locked()) {
    drop_offered();
    return post_serve();
  }
  if (!reading_) return;
  fill_reading();
  if (satisfied(*reading_)) wake_reader();
}

void XioLink::sink_finish(LocalStream::FinishHandler handler) {
  sink_finisher_ = std::move(handler);
  const core::MutexLock lock(mutex_);
  if (incoming_ == Incoming::flowing) incoming_ = Incoming::ended;
  wake_reader();
  post_serve();
}

// ---- The end --------------------------------------------------------------------------------------------------------

OperationState XioLink::start_close() {
  {
    const core::MutexLock lock(mutex_);
    if (user_ == User::here) user_ = User::closing;
    drop_offered();
    post_serve();
  }
  return close_progress();
}

OperationState XioLink::close_progress() {
  const core::MutexLock lock(mutex_);
  const bool unconfirmed = outgoing_ == Outgoing::unconfirmed;
  OperationState progress{.done = !unconfirmed || stream_ == Stream::over};
  if (unconfirmed) progress.error = error_;
  writer_waits_ = !progress.done;
  return progress;
}

void XioLink::abandon() {
  const core::MutexLock lock(mutex_);
  user_ = User::gone;
  reading_.reset();
  writing_.reset();
  offered_ = {};
  reader_waits_ = writer_waits_ = false;
  post_serve();
}

void XioLink::drop_offered() {
  if (!offered_.empty()) incoming_ = Incoming::dropped;
  offered_ = {};
}

bool XioLink::left() {
  const core::MutexLock lock(mutex_);
  return left_locked();
}

void XioLink::on_over(const std::optional<Error>& error) {
  abort_ = nullptr;
  close_timer_.reset();
  const core::MutexLock lock(mutex_);
  if (stream_ == Stream::over) return;
  stream_ = Stream::over;
  if (error) error_ = error;
  wake_reader();
  wake_writer();
}

void XioLink::detach() {
  source_waiter_ = nullptr;
  sink_writer_ = nullptr;
  sink_finisher_ = nullptr;
  const core::MutexLock lock(mutex_);
  offered_ = {};
  offered_bytes_ = 0;
}

// ---- Waking ---------------------------------------------------------------------------------------------------------

void XioLink::wake_reader() {
  if (std::exchange(reader_waits_, false)) read_event_.raise();
}

void XioLink::wake_writer() {
  if (std::exchange(writer_waits_, false)) write_event_.raise();
}

void XioLink::post_serve() {
  if (stream_ == Stream::over || std::exchange(serve_posted_, true)) return;
  // Weak: the io_context is ours too.
  boost::asio::post(*io_, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->serve();
  });
}

/// Calls the stream back for what the user's side has done meanwhile.
void XioLink::serve() {
  LocalStream::WaitHandler waiter;
  LocalStream::WriteHandler writer;
  LocalStream::FinishHandler finisher;
  std::size_t taken = 0;
  bool dropped = false;
  bool gone = false;
  {
    const core::MutexLock lock(mutex_);
    serve_posted_ = false;
    if (ring_.size_bytes() > 0 || user_ == User::closing) waiter = std::exchange(source_waiter_, nullptr);
    if (offered_.empty() && offered_bytes_ > 0) {
      taken = std::exchange(offered_bytes_, 0);
      writer = std::exchange(sink_writer_, nullptr);
    }
    finisher = std::exchange(sink_finisher_, nullptr);
    dropped = incoming_ == Incoming::dropped;
    gone = user_ == User::gone;
  }
  watch_close();
  if (waiter) waiter();
  if (writer) writer({}, taken);
  if (finisher) finisher(dropped ? std::make_error_code(std::errc::connection_reset) : std::error_code());
  if (gone && abort_) std::exchange(abort_, nullptr)({Errc::interrupted, "transfer", "given up at the other end"});
}

void XioLink::watch_close() {
  {
    const core::MutexLock lock(mutex_);
    if (!left_locked() || outgoing_ == Outgoing::receipted || stream_ == Stream::over) return;
  }
  if (close_timer_) return;
  close_timer_.emplace(*io_, kDeliveryWait);
  close_timer_->async_wait([weak = weak_from_this()](const boost::system::error_code& cancelled) {
    const auto self = weak.lock();
    if (cancelled || !self) return;
    {
      const core::MutexLock lock(self->mutex_);
      if (self->outgoing_ == Outgoing::receipted) return;
    }
    if (!self->abort_) return;
    std::exchange(self->abort_, nullptr)(
        {Errc::peer_lost, "close the connection to " + self->peer().to_string(),
         "the other end has not taken everything within " + std::to_string(kDeliveryWait.count()) + " s"});
  });
}

// ---- As a stream sees it --------------------------------------------------------------------------------------------

namespace {

class XioLinkStream final : public LocalStream {
 public:
  explicit XioLinkStream(std::shared_ptr<XioLink> link) : link_(std::move(link)) {}
  XioLinkStream(const XioLinkStream&) = delete;
  XioLinkStream& operator=(const XioLinkStream&) = delete;
  ~XioLinkStream() override { link_->detach(); }

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
  const std::shared_ptr<XioLink> link_;
};

}  // namespace

std::unique_ptr<LocalStream> make_link_stream(std::shared_ptr<XioLink> link) {
  return std::make_unique<XioLinkStream>(std::move(link));
}

}  // namespace udtcat::gridftp::xio
