// SPDX-License-Identifier: Apache-2.0
#include "gridftp/mode_e/block_sink.hpp"

#include <algorithm>
#include <utility>

#include "gridftp/disk/disk_threads.hpp"
#include "lib/core/try.hpp"

namespace udtcat::gridftp {

FileSink::FileSink(boost::asio::io_context& io, BlockStore store, files::ByteRanges have,
                   std::optional<RestartJournal> journal, std::uint64_t at, std::optional<files::DirectoryLimit> limit)
    : io_(io),
      store_(std::move(store)),
      have_(std::move(have)),
      journal_(std::move(journal)),
      at_(at),
      limit_(std::move(limit)),
      reserved_bytes_(store_.size().value_or(0)),
      durable_(have_),
      stored_(io) {
  // A journal of an earlier file of this name would be believed for this one.
  if (have_.empty() && !store_.begin_journal() && journal_) journal_->remove();
}

Task<Status> FileSink::store(std::uint64_t offset, std::span<const std::byte> bytes) {
  // Waits for a slow disk, so that a kill costs a bounded number of bytes that the journal lacks.
  while (state_ == State::saving && have_.bytes() >= durable_.bytes() + 2 * kJournalEveryBytes) co_await stored_.wait();
  if (state_ == State::closed) co_return fail(Errc::interrupted, "write a file", "its transfer has ended");
  if (refused_) co_return tl::unexpected(*refused_);
  ++storing_;
  auto status = co_await write(offset, bytes);
  if (--storing_ == 0) stored_.notify();
  co_return status;
}

Task<Status> FileSink::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  const files::ByteRange range{offset, offset + bytes.size()};
  UDTCAT_CO_TRY(const auto reservation, co_await reserve_to(at_ + range.end));  // to the end of this
  const bool again = have_.touches(range);
  UDTCAT_CO_CHECK(co_await on_disk(io_, [&]() -> Status {
    if (again) return store_.write_at(at_ + offset, bytes);
    UDTCAT_CHECK(store_.write_first(at_ + offset, bytes));
    // A count sees what was reserved, also where the file would end before a hole.
    const bool is_seen = !limit_ || bytes.empty() || store_.size().value_or(UINT64_MAX) >= at_ + range.end;
    return is_seen ? Status() : store_.write_at(at_ + range.end - 1, bytes.last(1));
  }));
  UDTCAT_CO_CHECK(have_.add(range));
  if (!journal_ || state_ != State::open || have_.bytes() < durable_.bytes() + kJournalEveryBytes) co_return Status{};
  co_return co_await save_journal();
}

/// Waits while what is in the directory is counted again. A limit that refuses one block refuses those behind it, too.
Task<Result<files::DirectoryUse::Reservation>> FileSink::reserve_to(std::uint64_t bytes) {
  files::DirectoryUse::CountNumber asked;
  while (limit_ && bytes > reserved_bytes_) {
    if (state_ == State::closed) co_return fail(Errc::interrupted, "write a file", "its transfer has ended");
    if (refused_) co_return tl::unexpected(*refused_);
    auto reservation =
        limit_->try_reserve(bytes - reserved_bytes_, "write " + store_.shown(), asked, store_.charged_file());
    if (!reservation && reservation.error().code == Errc::stream_refused) refused_ = reservation.error();
    if (!reservation) co_return tl::unexpected(std::move(reservation.error()));
    if (*reservation) {
      reserved_bytes_ = bytes;
      co_return std::move(**reservation);
    }
    co_await pause(io_, files::DirectoryUse::kAskAgain);
  }
  co_return files::DirectoryUse::Reservation();
}

/// Saves the ranges written by now; ranges written meanwhile are for the next call.
Task<Status> FileSink::save_journal() {
  state_ = State::saving;
  files::ByteRanges have = have_;
  auto saved = co_await on_disk(io_, [&] { return save(have); });
  if (state_ == State::saving) state_ = State::open;
  if (saved) durable_ = std::move(have);
  stored_.notify();
  co_return saved;
}

Status FileSink::save(const files::ByteRanges& have) const {
  // The file is extended first, as a range that ends beyond it is not believed.
  UDTCAT_CHECK(store_.reach(have.end()));
  if (RestartJournal::needs_sync()) UDTCAT_CHECK(store_.sync());
  return journal_->save(have);
}

/// Refuses further blocks, and waits until all are written.
Task<void> FileSink::close() {
  state_ = State::closed;
  co_await await_stores();
}

Task<void> FileSink::await_stores() {
  while (storing_ > 0) co_await stored_.wait();
}

Task<void> FileSink::forget() {
  co_await await_stores();
  have_ = durable_ = {};
  std::ignore = co_await on_disk(io_, [this]() -> Status {
    store_.clear();
    if (!store_.begin_journal() && journal_) journal_->remove();
    return {};
  });
}

Task<Status> FileSink::publish(std::function<Status()> last_look) {
  co_await close();
  auto published = co_await on_disk(io_, [this] { return store_.complete(end()); });
  if (!published) have_ = durable_ = {};  // what is there is not known
  if (published && last_look) published = last_look();
  if (!published) co_return published;
  co_return co_await on_disk(io_, [this]() -> Status {
    auto renamed = store_.put_in_place();
    return renamed ? store_.close() : renamed;
  });
}

Task<void> FileSink::set_aside() {
  co_await close();
  std::ignore = co_await on_disk(io_, [this] { return leave(); });  // the journal has only what was written
}

Status FileSink::leave() {
  // On a full disk there may be no room for a journal, and the last one still holds.
  const bool wanted = journal_ && !have_.empty() && !refused_ && store_.flush();
  const bool kept = wanted && (save(have_) || !durable_.empty());
  // All that was reserved is released, also of zeros that are not written.
  if (!kept && limit_ && !store_.is_in_place()) std::ignore = store_.reach(reserved_bytes_);
  if (!kept) store_.discard();
  if (!kept && journal_) journal_->remove();
  return store_.close();
}

FileSink::~FileSink() {
  if (state_ != State::closed) std::ignore = leave();
}

Task<Status> CountingSink::store(std::uint64_t offset, std::span<const std::byte> bytes) {
  count_(bytes.size());
  co_return co_await to_->store(offset, bytes);
}

Task<Status> PipeSink::store(std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!failure_ && (offset > next_ || writing_) && early_bytes_ + bytes.size() + kPieceCost > kMaxEarlyBytes)
    co_await changed_.wait();
  if (!failure_ && !writing_ && offset <= next_) {
    writing_ = true;
    co_await write(offset, bytes);  // in order: from where it is
    co_await write_early();
    writing_ = false;
    changed_.notify();
  } else if (!failure_) {
    keep(offset, bytes);
  }
  if (failure_) co_return tl::unexpected(*failure_);
  co_return Status{};
}

void PipeSink::keep(std::uint64_t offset, std::span<const std::byte> bytes) {
  const auto [entry, is_new] = early_.try_emplace(offset);
  if (is_new) early_bytes_ += kPieceCost;
  std::vector<std::byte>& piece = entry->second;
  if (piece.size() >= bytes.size()) return;  // another block brought more of the same
  early_bytes_ += bytes.size() - piece.size();
  piece.assign(bytes.begin(), bytes.end());
}

Task<void> PipeSink::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  const std::uint64_t known = next_ - offset;  // bytes that an overlapping block brought before
  if (known >= bytes.size()) co_return;
  const auto written = co_await to_.write(bytes.subspan(known));
  if (!written) failure_ = Error{Errc::local_write_failed, written.error().what, written.error().cause};
  next_ = offset + bytes.size();
  changed_.notify();
}

/// Writes the kept blocks that are next in order. One call at a time.
Task<void> PipeSink::write_early() {
  while (!failure_ && !early_.empty() && early_.begin()->first <= next_) {
    const auto piece = early_.extract(early_.begin());
    early_bytes_ -= piece.mapped().size() + kPieceCost;
    co_await write(piece.key(), piece.mapped());
    changed_.notify();
  }
}

Task<Status> PipeSink::finish() {
  while (!failure_ && writing_) co_await changed_.wait();
  if (failure_) co_return tl::unexpected(*failure_);
  co_return co_await to_.finish();
}

}  // namespace udtcat::gridftp
