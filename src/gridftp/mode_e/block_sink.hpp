/// Where the blocks of a file go as they come: in any order, from several connections.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <udtcat/result.hpp>

#include "gridftp/coroutine/stream_io.hpp"
#include "gridftp/coroutine/task.hpp"
#include "gridftp/files/block_store.hpp"
#include "gridftp/files/byte_ranges.hpp"
#include "gridftp/files/restart_journal.hpp"

namespace udtcat::gridftp {

/// Threads: confined to the io_context thread; several connections may store at a time.
class BlockSink {
 public:
  virtual ~BlockSink() = default;
  /// `bytes`, which are the file's from `offset` on, are valid until it returns, which is when there is room for more.
  /// errors: Errc::local_write_failed, Errc::protocol_violated
  [[nodiscard]] virtual Task<Status> store(std::uint64_t offset, std::span<const std::byte> bytes) = 0;
};

/// A file: in place, on the threads for disks.
class FileSink final : public BlockSink {
 public:
  static constexpr std::uint64_t kJournalEveryBytes = 4'194'304;  // guess: what at most comes twice after a cut

  /// Touches the disk, and may do so on another thread.
  /// have      what is in it already
  /// journal   is kept up to date; none: nobody goes on after a cut
  /// at        where in the file the first byte goes
  FileSink(boost::asio::io_context& io, BlockStore store, ByteRanges have, std::optional<RestartJournal> journal,
           std::uint64_t at = 0);
  /// As set_aside(), at once, where neither that nor publish() was called: the process ends.
  ~FileSink() override;
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;
  /// errors: those of BlockStore::write_at(); Errc::interrupted after publish() or set_aside()
  Task<Status> store(std::uint64_t offset, std::span<const std::byte> bytes) override;
  /// What need not come again, whatever becomes of this process.
  [[nodiscard]] const ByteRanges& safe() const { return safe_; }
  /// As BlockStore::publish(), of all that is there.
  [[nodiscard]] Task<Status> publish();
  /// Somebody who stores waits for a disk.
  [[nodiscard]] bool is_storing() const { return storing_ > 0; }
  /// How far it goes.
  [[nodiscard]] std::uint64_t end() const { return end_of(have_); }
  /// Drops all that has come: the next attempt begins anew.
  [[nodiscard]] Task<void> forget();
  /// What is there stays for the next attempt; if that is nothing, nothing stays.
  [[nodiscard]] Task<void> set_aside();

 private:
  [[nodiscard]] static std::uint64_t end_of(const ByteRanges& have) {
    return have.empty() ? 0 : have.ranges().back().end;
  }
  [[nodiscard]] Task<Status> note();
  [[nodiscard]] Status save(const ByteRanges& have) const;
  /// Until what came before has been written.
  [[nodiscard]] Task<void> settle();
  [[nodiscard]] Task<void> close();
  [[nodiscard]] Status leave();

  boost::asio::io_context& io_;
  BlockStore store_;
  ByteRanges have_;
  const std::optional<RestartJournal> journal_;
  const std::uint64_t at_;
  ByteRanges safe_;          // of have_: what the journal says
  bool noting_ = false;      // one journal at a time
  bool closed_ = false;      // nothing more is taken
  std::size_t storing_ = 0;  // calls of store() that wait
  Signal stored_;
};

/// Tells how many bytes go through it to another.
class CountingSink final : public BlockSink {
 public:
  using Count = std::function<void(std::size_t bytes)>;
  CountingSink(std::shared_ptr<BlockSink> to, Count count) : to_(std::move(to)), count_(std::move(count)) {}
  Task<Status> store(std::uint64_t offset, std::span<const std::byte> bytes) override;

 private:
  const std::shared_ptr<BlockSink> to_;
  const Count count_;
};

/// To somebody who takes bytes in order only. What comes too early is kept, at most kMostEarlyBytes of it; then those who bring
/// it wait until the next bytes in order have come, which always have room.
class PipeSink final : public BlockSink {
 public:
  static constexpr std::size_t kMostEarlyBytes = 64'000'000;  // guess: 16 connections, four blocks of 1 MiB each

  static constexpr std::size_t kPieceCost = 256;  // guess: what keeping a piece costs beside its bytes

  /// first   the offset that the first byte for `to` has
  PipeSink(boost::asio::io_context& io, std::unique_ptr<LocalStream> to, std::uint64_t first)
      : to_(std::move(to)), next_(first), changed_(io) {}
  Task<Status> store(std::uint64_t offset, std::span<const std::byte> bytes) override;
  /// All that was stored has been taken, and the end with it.  errors: Errc::local_write_failed
  [[nodiscard]] Task<Status> finish();

 private:
  [[nodiscard]] Task<void> write_on();

  StreamIo to_;
  std::uint64_t next_;
  bool writing_ = false;
  std::map<std::uint64_t, std::vector<std::byte>> early_;  // by offset
  std::size_t early_bytes_ = 0;
  std::optional<Error> failure_;
  Signal changed_;
};

}  // namespace udtcat::gridftp
