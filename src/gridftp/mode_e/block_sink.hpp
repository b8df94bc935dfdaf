// SPDX-License-Identifier: Apache-2.0
/// Sinks: the destination of a file's blocks, which come in any order, from several connections.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <udtcat/result.hpp>
#include <udtcat/units.hpp>

#include "files/byte_ranges.hpp"
#include "files/directory_use.hpp"
#include "gridftp/coroutine/stream_io.hpp"
#include "gridftp/coroutine/task.hpp"
#include "gridftp/disk/block_store.hpp"
#include "gridftp/disk/restart_journal.hpp"

namespace udtcat::gridftp {

/// Threads: confined to the io_context thread; several connections may store at a time.
class BlockSink {
 public:
  /// How much a connection stores at a time.
  static constexpr std::size_t kPieceBytes = 256 * kKiB;  // guess: a block of Globus' server

  virtual ~BlockSink() = default;
  /// `bytes`, which are the file's from `offset` on, are valid until it returns, which is when there is room for more.
  /// errors: Errc::local_write_failed, Errc::protocol_violated
  [[nodiscard]] virtual Task<Status> store(std::uint64_t offset, std::span<const std::byte> bytes) = 0;
};

/// A file: in place, on the threads for disks.
///
///   open ── kJournalEveryBytes have come ──► saving ── the journal is on the disk ──► open
///   open, saving ── publish(), set_aside() ──► closed, where store() fails
class FileSink final : public BlockSink {
 public:
  static constexpr std::uint64_t kJournalEveryBytes = 4'194'304;  // guess: what at most comes twice after a cut

  /// Touches the disk, and may do so on another thread.
  /// have      ranges that the file has already
  /// journal   is kept up to date; none: a cut transfer begins anew
  /// at        where in the file the first byte goes
  /// limit     of the directory that the file is in, where `store` is counted; none: what the disk has
  FileSink(boost::asio::io_context& io, BlockStore store, files::ByteRanges have, std::optional<RestartJournal> journal,
           std::uint64_t at = 0, std::optional<files::DirectoryLimit> limit = {});
  /// As set_aside(), without waiting, where neither that nor publish() was called.
  ~FileSink() override;
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;
  /// errors: those of BlockStore::write_at(), of DirectoryLimit::try_reserve(); Errc::interrupted after publish() or
  /// set_aside()
  Task<Status> store(std::uint64_t offset, std::span<const std::byte> bytes) override;
  /// Ranges that need not come again, even after a kill: those that the journal has.
  [[nodiscard]] const files::ByteRanges& durable() const { return durable_; }
  /// As BlockStore::publish(), of all blocks stored.
  /// last_look   called when all is on the disk; its error keeps the file from being renamed.  errors: also that
  [[nodiscard]] Task<Status> publish(std::function<Status()> last_look = {});
  /// A call of store() waits for the disk.
  [[nodiscard]] bool is_storing() const { return storing_ > 0; }
  [[nodiscard]] std::uint64_t end() const { return have_.end(); }
  /// Drops all blocks: the next attempt begins anew.
  [[nodiscard]] Task<void> forget();
  /// Keeps FILE.part for the next attempt, unless it is empty.
  [[nodiscard]] Task<void> set_aside();

 private:
  enum class State { open, saving, closed };

  [[nodiscard]] Task<Status> save_journal();
  [[nodiscard]] Status save(const files::ByteRanges& have) const;
  /// Until each store() under way has been written.
  [[nodiscard]] Task<void> await_stores();
  [[nodiscard]] Task<void> close();
  [[nodiscard]] Status leave();
  [[nodiscard]] Task<Status> write(std::uint64_t offset, std::span<const std::byte> bytes);
  [[nodiscard]] Task<Result<files::DirectoryUse::Reservation>> reserve_to(std::uint64_t bytes);

  boost::asio::io_context& io_;
  BlockStore store_;
  files::ByteRanges have_;
  const std::optional<RestartJournal> journal_;
  const std::uint64_t at_;
  const std::optional<files::DirectoryLimit> limit_;
  std::uint64_t reserved_bytes_ = 0;  // up to where blocks may be written, as the limit says
  std::optional<Error> refused_;      // by the limit: no further bytes are stored
  files::ByteRanges durable_;         // of have_: ranges that the journal has
  State state_ = State::open;
  std::size_t storing_ = 0;  // calls of store() that wait
  AsyncCondition stored_;
};

/// Counts the bytes that go through it to another sink.
class CountingSink final : public BlockSink {
 public:
  using Count = std::function<void(std::size_t bytes)>;
  CountingSink(std::shared_ptr<BlockSink> to, Count count) : to_(std::move(to)), count_(std::move(count)) {}
  Task<Status> store(std::uint64_t offset, std::span<const std::byte> bytes) override;

 private:
  const std::shared_ptr<BlockSink> to_;
  const Count count_;
};

/// A stream, which takes bytes in order only. Blocks that come too early are kept, at most kMaxEarlyBytes of them;
/// then their callers wait until the next bytes in order have come, which always have room.
class PipeSink final : public BlockSink {
 public:
  static constexpr std::size_t kMaxEarlyBytes = 64'000'000;  // guess: 16 connections, four blocks of 1 MiB each

  static constexpr std::size_t kPieceCost = 256;  // guess: what keeping a piece costs beside its bytes

  /// first   the offset that the first byte for `to` has
  PipeSink(boost::asio::io_context& io, std::unique_ptr<LocalStream> to, std::uint64_t first)
      : to_(std::move(to)), next_(first), changed_(io) {}
  Task<Status> store(std::uint64_t offset, std::span<const std::byte> bytes) override;
  /// The stream has taken all bytes, and their end.  errors: Errc::local_write_failed
  [[nodiscard]] Task<Status> finish();

 private:
  void keep(std::uint64_t offset, std::span<const std::byte> bytes);
  [[nodiscard]] Task<void> write(std::uint64_t offset, std::span<const std::byte> bytes);
  [[nodiscard]] Task<void> write_early();

  StreamIo to_;
  std::uint64_t next_;
  bool writing_ = false;
  std::map<std::uint64_t, std::vector<std::byte>> early_;  // by offset
  std::size_t early_bytes_ = 0;
  std::optional<Error> failure_;
  AsyncCondition changed_;
};

}  // namespace udtcat::gridftp
