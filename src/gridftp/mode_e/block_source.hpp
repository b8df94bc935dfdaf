// SPDX-License-Identifier: Apache-2.0
/// Sources: the origin of a file's blocks, which go out on several connections.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <udtcat/result.hpp>

#include "files/byte_ranges.hpp"
#include "gridftp/coroutine/stream_io.hpp"
#include "gridftp/coroutine/task.hpp"
#include "gridftp/disk/block_store.hpp"

namespace udtcat::gridftp {

/// Threads: confined to the io_context thread; several connections may ask at a time.
class BlockSource {
 public:
  virtual ~BlockSource() = default;
  /// Fills the front of `into` with bytes that no other call gets.  returns  which bytes of the file they are; none:
  /// that was all
  /// errors: Errc::local_read_failed
  [[nodiscard]] virtual Task<Result<std::optional<files::ByteRange>>> next(std::span<std::byte> into) = 0;
  /// How many bytes next() would find now, as far as that is known: no more memory need be taken for it.
  [[nodiscard]] virtual std::size_t ahead(std::size_t most) const { return most; }
  /// A call of next() waits for the disk.
  [[nodiscard]] virtual bool is_reading() const { return false; }
};

/// Grows `room` to the size of the source's next block and `front_bytes` before it.
void make_room(std::vector<std::byte>& room, const BlockSource& source, std::size_t most, std::size_t front_bytes = 0);

class FileSource final : public BlockSource {
 public:
  /// ranges   in order. Where the file ends before they do, they end there. A file that changes before all is read, or
  /// is longer or shorter than its size, is an error.
  FileSource(boost::asio::io_context& io, BlockStore file, std::vector<files::ByteRange> ranges)
      : io_(io), file_(std::move(file)), ranges_(std::move(ranges)) {}
  Task<Result<std::optional<files::ByteRange>>> next(std::span<std::byte> into) override;
  [[nodiscard]] std::size_t ahead(std::size_t most) const override;
  [[nodiscard]] bool is_reading() const override { return reading_ > 0; }

 private:
  boost::asio::io_context& io_;
  const BlockStore file_;
  std::vector<files::ByteRange> ranges_;
  std::size_t first_ = 0;    // of ranges_
  std::size_t reading_ = 0;  // calls of next() that wait
};

/// A stream, which gives bytes in order: whole blocks until its end.
class PipeSource final : public BlockSource {
 public:
  PipeSource(boost::asio::io_context& io, std::unique_ptr<LocalStream> from) : from_(std::move(from)), free_(io) {}
  Task<Result<std::optional<files::ByteRange>>> next(std::span<std::byte> into) override;

 private:
  StreamIo from_;
  std::uint64_t read_bytes_ = 0;
  bool busy_ = false;  // a next() reads
  bool ended_ = false;
  AsyncCondition free_;
};

}  // namespace udtcat::gridftp
