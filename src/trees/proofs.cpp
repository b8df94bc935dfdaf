// SPDX-License-Identifier: Apache-2.0
#include "trees/proofs.hpp"

#include <chrono>
#include <filesystem>
#include <map>
#include <span>
#include <system_error>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "lib/core/log.hpp"
#include "trees/disk/stamp.hpp"

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

namespace {

constexpr int kSaveTries = 100;                         // guess: two seconds
constexpr std::chrono::milliseconds kBetweenSaves{20};  // guess: likewise

/// The one of that file, in this process.
std::shared_ptr<SharedBook> share(const files::FileLocation& location) {
  static core::Mutex mutex;
  static std::map<std::string, std::weak_ptr<SharedBook>> open_books;  // guarded by mutex
  const core::MutexLock lock(mutex);
  std::erase_if(open_books, [](const auto& each) { return each.second.expired(); });
  auto shared = open_books[location.shown()].lock();
  if (!shared) open_books[location.shown()] = shared = std::make_shared<SharedBook>();
  return shared;
}

/// Whether a path leads to nothing, and not only to where this account may not look.
bool is_gone(Destination& destination, const std::string& path) {
  const auto status = destination.look(path);
  if (status) return !*status;
  for (std::size_t at = path.find('/'); at != std::string::npos; at = path.find('/', at + 1)) {
    const auto above = destination.look(path.substr(0, at));
    if (!above) return false;
    if (!*above || !S_ISDIR((*above)->st_mode)) return true;
  }
  return false;
}

}  // namespace

Proofs::Proofs(const std::optional<files::FileLocation>& book, Use use)
    : use_(std::move(use)), shared_(book ? share(*book) : nullptr) {
  if (!shared_) return;
  const core::MutexLock lock(shared_->mutex);
  if (!shared_->book) shared_->book = ProofBook::load(*book);
  shared_->book->grow_older();
  began_ = shared_->book->age();
}

std::optional<files::Digest> Proofs::find(const Entry& entry, const files::FileLocation& location,
                                          const struct stat& status) {
  if (!shared_ || !use_.is_believed || !entry.stamp || !S_ISREG(status.st_mode) ||
      static_cast<std::uint64_t>(status.st_size) != entry.size_bytes)
    return std::nullopt;
  const auto own = stamp_of(location, status);
  if (!own) return std::nullopt;
  const core::MutexLock lock(shared_->mutex);
  return shared_->book->find(entry.path, of_peer(*entry.stamp), *own);
}

std::vector<Proved> Proofs::note(const std::vector<Proved>& proved, Destination& destination) {
  std::vector<Proved> later;
  for (const Proved& each : proved) {
    const auto location = destination.locate(each.path);
    const auto status = location ? of_name(location->look()) : tl::unexpected(location.error());
    // One that somebody has changed since is not the one that was proved.
    if (!status || !*status || !is_same_state(**status, each.status)) continue;
    const auto own = stamp_of(*location, **status);
    if (!own) {
      later.push_back(each);
      continue;
    }
    if (!shared_) continue;
    const core::MutexLock lock(shared_->mutex);
    shared_->book->note(each.path, of_peer(each.source), *own, each.digest);
  }
  return later;
}

void Proofs::forget_what_is_gone(Destination& destination, std::size_t most) {
  if (!shared_) return;
  std::vector<std::string> unused;
  {
    const core::MutexLock lock(shared_->mutex);
    unused = shared_->book->unused_since(began_, most);
  }
  std::erase_if(unused, [&](const std::string& path) { return !is_gone(destination, path); });
  const core::MutexLock lock(shared_->mutex);
  for (const std::string& path : unused) shared_->book->forget(path);
}

void Proofs::save() {
  if (!shared_) return;
  const core::MutexLock lock(shared_->mutex);
  Status saved = shared_->book->save();
  for (int tries = 0; !saved && saved.error().code == Errc::out_of_resources && tries < kSaveTries; ++tries) {
    std::ignore = shared_->pause.wait_for(shared_->mutex, kBetweenSaves);
    saved = shared_->book->save();
  }
  if (!saved) core::log().info("{}", saved.error().message());
}

/// Stamps are the sender's word, which counts for itself only.
Stamp Proofs::of_peer(const Stamp& stamp) const {
  if (use_.peer.empty()) return stamp;
  return files::short_digest_of({stamp, std::as_bytes(std::span(use_.peer))});
}

}  // namespace udtcat::trees
