// SPDX-License-Identifier: Apache-2.0
#include "trees/proofs.hpp"

#include <filesystem>
#include <span>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "files/stamp.hpp"
#include "lib/core/log.hpp"

namespace udtcat::trees {

std::optional<files::FileLocation> book_of(const files::FileTree& tree, const std::string& books) {
  const auto root = tree.enter("", Errc::local_read_failed);
  if (!root) return std::nullopt;
  std::error_code unknown;
  const std::string path =
      std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", (*root)->number()), unknown).string();
  std::filesystem::create_directories(books, unknown);
  if (unknown || path.empty()) return std::nullopt;
  // Names of files are the user's own.
  std::filesystem::permissions(books, std::filesystem::perms::owner_all, unknown);
  return files::FileLocation(books + '/' + files::to_hex(files::digest_of({std::as_bytes(std::span(path))})));
}

Proofs::Proofs(const std::optional<files::FileLocation>& book, std::string peer) : peer_(std::move(peer)) {
  if (book) book_ = files::ProofBook::load(*book);
}

std::optional<files::Digest> Proofs::find(const Entry& entry, const files::FileLocation& location,
                                          const struct stat& status) {
  if (!entry.stamp || !S_ISREG(status.st_mode) || static_cast<std::uint64_t>(status.st_size) != entry.size_bytes)
    return std::nullopt;
  const auto own = files::stamp_of(location, status);
  if (!own) return std::nullopt;
  const core::MutexLock lock(mutex_);
  return book_ ? book_->find(entry.path, of_peer(*entry.stamp), *own) : std::nullopt;
}

std::vector<Proved> Proofs::note(const std::vector<Proved>& proved, Destination& destination) {
  std::vector<Proved> later;
  for (const Proved& each : proved) {
    const auto location = destination.locate(each.path);
    const auto status = location ? location->look() : tl::unexpected(location.error());
    // One that somebody has changed since is not the one that was proved.
    if (!status || !*status || !files::is_same_state(**status, each.status)) continue;
    const auto own = files::stamp_of(*location, **status);
    if (!own) {
      later.push_back(each);
      continue;
    }
    const core::MutexLock lock(mutex_);
    if (book_) book_->note(each.path, of_peer(each.source), *own, each.digest);
  }
  return later;
}

void Proofs::save() {
  const core::MutexLock lock(mutex_);
  if (!book_) return;
  if (auto saved = book_->save(); !saved) core::log().info("{}", saved.error().message());
}

/// Stamps are the sender's word, which counts for itself only.
files::Stamp Proofs::of_peer(const files::Stamp& stamp) const {
  if (peer_.empty()) return stamp;
  return files::short_digest_of({stamp, std::as_bytes(std::span(peer_))});
}

}  // namespace udtcat::trees
