#include "gridftp/block_sink.hpp"

#include <utility>

namespace udtcat::gridftp {

FileSink::FileSink(BlockStore store, ByteRanges have, std::optional<RestartJournal> journal, std::uint64_t at)
    : store_(std::move(store)), have_(std::move(have)), journal_(std::move(journal)), at_(at), safe_(have_) {
  // What an earlier file of this name had is not what this one has.
  if (journal_ && have_.empty()) journal_->remove();
}

Task<Status> FileSink::store(std::uint64_t offset, std::span<const std::byte> bytes) {
  const ByteRange range{offset, offset + bytes.size()};
  const auto written =
      have_.touches(range) ? store_.write_at(at_ + offset, bytes) : store_.write_first(at_ + offset, bytes);
  if (!written) co_return written;
  if (auto added = have_.add(range); !added) co_return added;
  if (!journal_ || have_.bytes() < safe_.bytes() + kJournalEveryBytes) co_return Status{};
  co_return note();
}

Status FileSink::note() {
  if (auto reached = store_.reach(end()); !reached) return reached;  // what ends beyond the file is not believed
  if (RestartJournal::needs_sync())
    if (auto synced = store_.sync(); !synced) return synced;
  if (auto saved = journal_->save(have_); !saved) return saved;
  safe_ = have_;
  return {};
}

Status FileSink::publish() const {
  // First: a journal that outlives its FILE.part would speak for the next one of that name.
  if (journal_) journal_->remove();
  return store_.publish(end());
}

void FileSink::forget() {
  store_.clear();
  have_ = safe_ = {};
  if (journal_) journal_->remove();
}

void FileSink::set_aside() {
  // On a full disk there may be no room for a journal, and the last one still holds.
  if (journal_ && !have_.empty() && (note() || !safe_.empty())) return;
  store_.discard();
  if (journal_) journal_->remove();
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
