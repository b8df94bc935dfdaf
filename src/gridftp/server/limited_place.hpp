// SPDX-License-Identifier: Apache-2.0
/// A client's part of the root, and how much may be in it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>

#include <udtcat/result.hpp>

#include "files/directory_use.hpp"
#include "gridftp/coroutine/task.hpp"
#include "gridftp/disk/block_store.hpp"
#include "gridftp/server/served_root.hpp"
#include "tool/identity/peers_file.hpp"

namespace udtcat::gridftp {

/// Paths are the client's. What returns a Task waits for no thread; the others touch the disk, see DiskThreads.
/// Threads: confined to the io_context thread, or to one that serves it meanwhile.
class LimitedPlace {
 public:
  /// root   of all clients.  over   is set once nobody waits for what it has asked; it outlives this
  LimitedPlace(boost::asio::io_context& io, ServedRoot root, const std::optional<Error>& over)
      : io_(io), root_(std::move(root)), over_(over) {}

  /// Before all others.  errors: those of ServedRoot::below()
  [[nodiscard]] Status enter(const tool::PeerPlace& place, bool is_read_only, files::DirectoryUses& uses);
  [[nodiscard]] const ServedRoot& root() const { return root_; }

  /// Before something is written: returns once what is there is counted.
  /// errors: those of DirectoryUse::result_of(); that the client has gone
  [[nodiscard]] Task<Status> await_count();
  /// Bytes more, or whether what is there is too much; where that is counted again, returns after it.
  /// errors: those of DirectoryUse::reserve(); that the client has gone
  [[nodiscard]] Task<Result<files::DirectoryUse::Reservation>> reserve(std::uint64_t bytes, std::string what);
  /// none: as much as the disk has
  [[nodiscard]] const std::optional<files::DirectoryLimit>& limit() const { return limit_; }
  /// A file that is open takes space until it is closed.
  void charge(BlockStore& file) const;

  /// errors: those of ServedRoot, of await_count(), of reserve()
  [[nodiscard]] Task<Status> make_directory(std::string path);
  // errors: those of ServedRoot
  [[nodiscard]] Status remove(const std::string& path, bool directory) const;
  [[nodiscard]] Status rename(const std::string& from, const std::string& to) const;

 private:
  boost::asio::io_context& io_;
  ServedRoot root_;
  const std::optional<Error>& over_;
  std::optional<files::DirectoryLimit> limit_;
};

}  // namespace udtcat::gridftp
