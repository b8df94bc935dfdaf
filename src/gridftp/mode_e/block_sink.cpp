#include "gridftp/mode_e/block_sink.hpp"

#include <utility>

#include "gridftp/files/disk_threads.hpp"
#include "lib/core/try.hpp"

namespace udtcat::gridftp {

FileSink::FileSink(boost::asio::io_context& io, BlockStore store, ByteRanges have,
                   std::optional<RestartJournal> journal, std::uint64_t at)
    : io_(io),
      store_(std::move(store)),
      have_(std::move(have)),
      journal_(std::move(journal)),
      at_(at),
      safe_(have_),
      stored_(io) {
  // What an earlier file of this name had is not what this one has.
  if (journal_ && have_.empty()) journal_->remove();
}

Task<Status> FileSink::store(std::uint64_t offset, std::span<const std::byte> bytes) {
  // A kill costs what the journal does not have yet: a slow disk may not make that ever more.
  while (noting_ && have_.bytes() >= safe_.bytes() + 2 * kJournalEveryBytes) co_await stored_.wait();
  if (closed_) co_return fail(Errc::interrupted, "write a file", "its transfer has ended");
  ++storing_;
  const ByteRange range{offset, offset + bytes.size()};
  const bool again = have_.touches(range);
  auto status = co_await on_disk(
      io_, [&] { return again ? store_.write_at(at_ + offset, bytes) : store_.write_first(at_ + offset, bytes); });
  if (status) status = have_.add(range);
  if (status && journal_ && !noting_ && have_.bytes() >= safe_.bytes() + kJournalEveryBytes) status = co_await note();
  if (--storing_ == 0) stored_.notify();
  co_return status;
}

/// Of what has been written by now; what is written meanwhile is for the next one.
Task<Status> FileSink::note() {
  noting_ = true;
  ByteRanges have = have_;
  auto saved = co_await on_disk(io_, [&] { return save(have); });
  noting_ = false;
  if (saved) safe_ = std::move(have);
  stored_.notify();
  co_return saved;
}

Status FileSink::save(const ByteRanges& have) const {
  // A range that ends beyond the file is not believed: the file has to reach as far first.
  UDTCAT_CHECK(store_.reach(end_of(have)));
  if (RestartJournal::needs_sync()) UDTCAT_CHECK(store_.sync());
  return journal_->save(have);
}

/// Nothing more comes, and what has come is written.
Task<void> FileSink::close() {
  closed_ = true;
  co_await settle();
}

Task<void> FileSink::settle() {
  while (storing_ > 0) co_await stored_.wait();
}

Task<void> FileSink::forget() {
  co_await settle();
  have_ = safe_ = {};
  std::ignore = co_await on_disk(io_, [this]() -> Status {
    store_.clear();
    if (journal_) journal_->remove();
    return {};
  });
}

Task<Status> FileSink::publish() {
  co_await close();
  co_return co_await on_disk(io_, [this]() -> Status {
    // First: a journal that outlives its FILE.part would speak for the next one of that name.
    if (journal_) journal_->remove();
    auto published = store_.publish(end());
    return published ? store_.close() : published;
  });
}

Task<void> FileSink::set_aside() {
  co_await close();
  std::ignore = co_await on_disk(io_, [this] { return leave(); });  // nobody relies on what could not be written
}

Status FileSink::leave() {
  // On a full disk there may be no room for a journal, and the last one still holds.
  const bool kept = journal_ && !have_.empty() && (save(have_) || !safe_.empty());
  if (!kept) store_.discard();
  if (!kept && journal_) journal_->remove();
  return store_.close();
}

FileSink::~FileSink() {
  if (!closed_) std::ignore = leave();
}

Task<Status> CountingSink::store(std::uint64_t offset, std::span<const std::byte> bytes) {
  count_(bytes.size());
  co_return co_await to_->store(offset, bytes);
}

Task<Status> PipeSink::store(std::uint64_t offset, std::span<const std::byte> bytes) {
  std::vector<std::byte> copy(bytes.begin(), bytes.end());
  while (!failure_ && (offset > next_ || writing_) && early_bytes_ + copy.size() + kPieceCost > kMostEarlyBytes)
    co_await changed_.wait();
  if (failure_) co_return tl::unexpected(*failure_);
  const std::size_t size = copy.size();
  const auto [place, isnew] = early_.try_emplace(offset, std::move(copy));
  if (isnew) {
    early_bytes_ += size + kPieceCost;
  } else if (place->second.size() < size) {  // NOLINT: try_emplace leaves `copy` alone where it inserts nothing
    early_bytes_ += size - place->second.size();
    place->second = std::move(copy);
  }
  if (!writing_) co_await write_on();
  if (failure_) co_return tl::unexpected(*failure_);
  co_return Status{};
}

/// Whatever is next in order, while there is any. One at a time.
Task<void> PipeSink::write_on() {
  writing_ = true;
  while (!failure_ && !early_.empty() && early_.begin()->first <= next_) {
    const auto piece = early_.extract(early_.begin());
    early_bytes_ -= piece.mapped().size() + kPieceCost;
    const std::uint64_t known = next_ - piece.key();  // came before, from an overlapping block
    if (known < piece.mapped().size()) {
      const auto written = co_await to_.write(std::span(piece.mapped()).subspan(known));
      if (!written) failure_ = Error{Errc::local_write_failed, written.error().what, written.error().cause};
      next_ = piece.key() + piece.mapped().size();
    }
    changed_.notify();
  }
  writing_ = false;
}

Task<Status> PipeSink::finish() {
  while (!failure_ && writing_) co_await changed_.wait();
  if (failure_) co_return tl::unexpected(*failure_);
  co_return co_await to_.finish();
}

}  // namespace udtcat::gridftp
