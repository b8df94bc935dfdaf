// SPDX-License-Identifier: Apache-2.0
#include "trees/verified_files.hpp"

#include <chrono>
#include <filesystem>
#include <map>
#include <span>
#include <system_error>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "lib/core/log.hpp"
#include "trees/disk/fingerprint.hpp"

namespace udtcat::trees {

std::optional<files::FileLocation> cache_of(const files::FileTree& tree, const std::string& caches) {
  const auto root = tree.enter("", Errc::local_read_failed);
  if (!root) return std::nullopt;
  std::error_code unknown;
  const std::string path =
      std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", (*root)->number()), unknown).string();
  std::filesystem::create_directories(caches, unknown);
  if (unknown || path.empty()) return std::nullopt;
  // Names of files are the user's own.
  std::filesystem::permissions(caches, std::filesystem::perms::owner_all, unknown);
  return files::FileLocation(caches + '/' + files::to_hex(files::digest_of({std::as_bytes(std::span(path))})));
}

namespace {

constexpr int kSaveTries = 100;                         // guess: two seconds
constexpr std::chrono::milliseconds kBetweenSaves{20};  // guess: likewise

/// The cache of that file, which the transfers of this process share.
std::shared_ptr<SharedHashCache> share(const files::FileLocation& location) {
  static core::Mutex mutex;
  static std::map<std::string, std::weak_ptr<SharedHashCache>> open_caches;  // guarded by mutex
  const core::MutexLock lock(mutex);
  std::erase_if(open_caches, [](const auto& each) { return each.second.expired(); });
  auto shared = open_caches[location.shown()].lock();
  if (!shared) open_caches[location.shown()] = shared = std::make_shared<SharedHashCache>();
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

VerifiedFiles::VerifiedFiles(const std::optional<files::FileLocation>& cache, Use use)
    : use_(std::move(use)), shared_(cache ? share(*cache) : nullptr) {
  if (!shared_) return;
  const core::MutexLock lock(shared_->mutex);
  if (!shared_->cache) shared_->cache = HashCache::load(*cache);
  shared_->cache->grow_older();
  began_ = shared_->cache->age();
}

std::optional<files::Digest> VerifiedFiles::find(const Entry& entry, const files::FileLocation& location,
                                                 const struct stat& status) {
  if (!shared_ || !use_.is_trusted || !entry.fingerprint || !S_ISREG(status.st_mode) ||
      static_cast<std::uint64_t>(status.st_size) != entry.size_bytes)
    return std::nullopt;
  const auto own = fingerprint_of(location, status);
  if (!own) return std::nullopt;
  const core::MutexLock lock(shared_->mutex);
  return shared_->cache->find(entry.path, of_peer(*entry.fingerprint), *own);
}

std::vector<VerifiedFile> VerifiedFiles::note(const std::vector<VerifiedFile>& verified, Destination& destination) {
  std::vector<VerifiedFile> later;
  for (const VerifiedFile& each : verified) {
    const auto location = destination.locate(each.path);
    const auto status = location ? of_name(location->look()) : tl::unexpected(location.error());
    // A file that somebody has changed since is not cached.
    if (!status || !*status || !is_same_state(**status, each.status)) continue;
    const auto own = fingerprint_of(*location, **status);
    if (!own) {
      later.push_back(each);
      continue;
    }
    if (!shared_) continue;
    const core::MutexLock lock(shared_->mutex);
    shared_->cache->note(each.path, of_peer(each.source), *own, each.digest);
  }
  return later;
}

void VerifiedFiles::forget_what_is_gone(Destination& destination, std::size_t most) {
  if (!shared_) return;
  std::vector<std::string> unused;
  {
    const core::MutexLock lock(shared_->mutex);
    unused = shared_->cache->unused_since(began_, most);
  }
  std::erase_if(unused, [&](const std::string& path) { return !is_gone(destination, path); });
  const core::MutexLock lock(shared_->mutex);
  for (const std::string& path : unused) shared_->cache->forget(path);
}

void VerifiedFiles::save() {
  if (!shared_) return;
  const core::MutexLock lock(shared_->mutex);
  Status saved = shared_->cache->save();
  for (int tries = 0; !saved && saved.error().code == Errc::out_of_resources && tries < kSaveTries; ++tries) {
    std::ignore = shared_->pause.wait_for(shared_->mutex, kBetweenSaves);
    saved = shared_->cache->save();
  }
  if (!saved) core::log().info("{}", saved.error().message());
}

/// A sender's fingerprints are not trusted for the files of another.
Fingerprint VerifiedFiles::of_peer(const Fingerprint& fingerprint) const {
  if (use_.peer.empty()) return fingerprint;
  return files::short_digest_of({fingerprint, std::as_bytes(std::span(use_.peer))});
}

}  // namespace udtcat::trees
