// SPDX-License-Identifier: Apache-2.0
#include "trees/disk/hash_cache.hpp"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <tuple>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/whole_io.hpp"
#include "lib/core/byte_packing.hpp"
#include "lib/core/text.hpp"
#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"
#include "trees/disk/attributes.hpp"
#include "trees/disk/entry_path.hpp"

namespace udtcat::trees {

namespace {

// spec: docs/spec/trees.md §6, all of these
constexpr std::string_view kCacheMagic = "udtcat proofs 2\n";
constexpr std::size_t kCacheHeadBytes = kCacheMagic.size() + sizeof(HashCache::Age);
using CachePathLength = std::uint16_t;
constexpr std::size_t kCacheEntryBytes = 2 * sizeof(Fingerprint) + sizeof(files::Digest) + sizeof(HashCache::Age) +
                                         2 * sizeof(CachePathLength);  // without its path

constexpr std::size_t kCachePieceBytes = 1'048'576;  // guess: a write of a millisecond
constexpr const char* kNextCacheSuffix = ".new";     // guess: of what takes a cache's place
constexpr int kMaxTries = 100;                       // guess: more than processes that save one at a time

constexpr std::size_t kMaxPathsBytes = HashCache::kMaxBytes;  // guess: of memory; a tree's paths take much less
constexpr std::size_t kPartForgotten = 16;  // guess: of a full cache is evicted, so that it is seldom full

std::size_t shared_bytes(std::string_view one, std::string_view other) {
  return static_cast<std::size_t>(std::ranges::mismatch(one, other).in1 - one.begin());
}

}  // namespace

HashCache::CacheEntry* HashCache::at(std::string_view path) {
  const PathStore::Number number = paths_.find(path);
  if (number == PathStore::kNone || number >= places_.size() || places_[number] == PathStore::kNone) return nullptr;
  return &entries_[places_[number]];
}

std::optional<files::Digest> HashCache::find(std::string_view path, const Fingerprint& source, const Fingerprint& own) {
  CacheEntry* const found = at(path);
  if (found == nullptr || found->source != source || found->own != own) return std::nullopt;
  found->used = age_;
  return found->digest;
}

void HashCache::note(const std::string& path, const Fingerprint& source, const Fingerprint& own,
                     const files::Digest& digest) {
  forget(path);
  if (!is_entry_path(path)) return;
  if (!has_space()) evict();
  if (!has_space()) return;
  if (const auto forgotten = forgotten_.find(path); forgotten != forgotten_.end()) forgotten_.erase(forgotten);
  put(path, CacheEntry{.source = source, .own = own, .digest = digest, .used = age_, .is_new = true});
}

void HashCache::forget(std::string_view path) {
  CacheEntry* const found = at(path);
  if (found == nullptr) return;
  drop(*found);
  forgotten_.emplace(path);
}

void HashCache::put(std::string_view path, CacheEntry entry) {
  entry.path = paths_.add(path);
  places_.resize(paths_.numbers(), PathStore::kNone);
  places_[entry.path] = static_cast<std::uint32_t>(entries_.size());
  entries_.push_back(entry);
  ++live_;
  if (entries_.size() > 2 * kMaxEntries) tidy();
}

void HashCache::drop(CacheEntry& entry) {
  places_[entry.path] = PathStore::kNone;
  entry.path = PathStore::kNone;
  --live_;
}

bool HashCache::has_space() const { return live_ < kMaxEntries && paths_.bytes() < kMaxPathsBytes; }

/// Removes entries of the earliest ages, and none of this one.
void HashCache::evict() {
  if (full_at_ == age_) return;
  std::vector<Age> ages;
  ages.reserve(live_);
  for (const CacheEntry& each : entries_)
    if (each.path != PathStore::kNone) ages.push_back(each.used);
  if (ages.empty()) return tidy();
  const auto last = ages.begin() + static_cast<std::ptrdiff_t>(ages.size() / kPartForgotten);
  std::ranges::nth_element(ages, last);
  std::size_t left = ages.size() / kPartForgotten + 1;
  for (auto each = entries_.begin(); each != entries_.end() && left > 0; ++each) {
    if (each->path == PathStore::kNone || each->used > *last || each->used == age_) continue;
    drop(*each);
    --left;
  }
  if (!has_space()) tidy();
  if (!has_space()) full_at_ = age_;
}

/// Frees the memory of entries that were removed.
void HashCache::tidy() {
  const PathStore before = std::exchange(paths_, {});
  std::deque<CacheEntry> entries = std::exchange(entries_, {});
  places_.clear();
  live_ = 0;
  for (; !entries.empty(); entries.pop_front())
    if (entries.front().path != PathStore::kNone) put(before.path(entries.front().path), entries.front());
}

std::vector<std::string> HashCache::unused_since(Age age, std::size_t most) const {
  const auto is_unused = [&](const CacheEntry& each) { return each.path != PathStore::kNone && each.used < age; };
  std::vector<std::string> paths;
  const auto unused = static_cast<std::size_t>(std::ranges::count_if(entries_, is_unused));
  const std::size_t rounds = (unused + most - 1) / std::max<std::size_t>(most, 1);
  const std::size_t begin = rounds == 0 ? 0 : age % rounds * most;
  std::size_t number = 0;
  for (const CacheEntry& each : entries_)
    if (is_unused(each) && number++ >= begin && paths.size() < most) paths.push_back(paths_.path(each.path));
  return paths;
}

Status HashCache::encode_to(const std::function<Status(std::span<const std::byte>)>& put) const {
  files::Sha256 hash;
  std::vector<std::byte> piece;
  core::ByteWriter writer(piece);
  std::size_t bytes = kCacheHeadBytes + sizeof(files::Digest);
  const auto put_piece = [&]() -> Status {
    hash.add(piece);
    UDTCAT_CHECK(put(piece));
    piece.clear();
    return {};
  };
  writer.text(kCacheMagic);
  writer.number(age_);
  std::string before;
  for (const CacheEntry& entry : entries_) {
    if (entry.path == PathStore::kNone) continue;
    std::string path = paths_.path(entry.path);
    const std::size_t shared = shared_bytes(path, before);
    bytes += kCacheEntryBytes + path.size() - shared;
    if (bytes > kMaxBytes) break;  // those behind are read again
    writer.bytes(entry.source);
    writer.bytes(entry.own);
    writer.bytes(entry.digest);
    writer.number(entry.used);
    writer.number(static_cast<CachePathLength>(shared));
    writer.sized_text<CachePathLength>(std::string_view(path).substr(shared));
    before = std::move(path);
    if (piece.size() >= kCachePieceBytes) UDTCAT_CHECK(put_piece());
  }
  UDTCAT_CHECK(put_piece());
  return put(hash.digest());
}

std::vector<std::byte> HashCache::encode() const {
  std::vector<std::byte> bytes;
  std::ignore = encode_to([&](std::span<const std::byte> piece) -> Status {
    core::ByteWriter(bytes).bytes(piece);
    return {};
  });  // memory does not fail
  return bytes;
}

std::optional<HashCache> HashCache::parse(std::span<const std::byte> bytes, files::FileLocation location) {
  if (bytes.size() < kCacheHeadBytes + sizeof(files::Digest) || bytes.size() > kMaxBytes) return std::nullopt;
  const auto hashed = bytes.first(bytes.size() - sizeof(files::Digest));
  if (core::as_text(hashed.first(kCacheMagic.size())) != kCacheMagic) return std::nullopt;
  if (!std::ranges::equal(files::digest_of({hashed}), bytes.last(sizeof(files::Digest)))) return std::nullopt;
  core::ByteReader rest(hashed.subspan(kCacheMagic.size()));
  HashCache cache(std::move(location));
  cache.age_ = rest.number<Age>();
  std::string path;
  while (rest.rest_bytes() > 0) {
    CacheEntry entry;
    entry.source = rest.array<sizeof(Fingerprint)>();
    entry.own = rest.array<sizeof(Fingerprint)>();
    entry.digest = rest.array<sizeof(files::Digest)>();
    entry.used = rest.number<Age>();
    const std::size_t shared = rest.number<CachePathLength>();
    const std::string end = rest.sized_text<CachePathLength>();
    if (rest.is_cut() || entry.used > cache.age_ || shared > path.size()) return std::nullopt;
    if (shared < path.size() && !end.empty() && path[shared] == end.front()) return std::nullopt;  // they share more
    path.replace(shared, std::string::npos, end);
    if (!is_entry_path(path) || cache.at(path) != nullptr) return std::nullopt;
    if (cache.live_ == kMaxEntries || cache.paths_.bytes() > 2 * kMaxPathsBytes) return std::nullopt;
    cache.put(path, entry);
  }
  if (!rest.is_whole()) return std::nullopt;
  return cache;
}

HashCache HashCache::load(const files::FileLocation& location) {
  HashCache empty(location);
  empty.loaded_ = empty.file_state();
  const auto file = location.open(O_RDONLY, Errc::local_read_failed);
  struct stat status {};
  if (!file || ::fstat(file->number(), &status) != 0 || !S_ISREG(status.st_mode)) return empty;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size > kMaxBytes) return empty;
  std::vector<std::byte> bytes(size);
  const auto got = files::read_whole(*file, bytes, location.shown());
  if (!got || *got != size) return empty;
  auto cache = parse(bytes, location);
  if (!cache) return empty;
  cache->loaded_ = empty.loaded_;
  return std::move(*cache);
}

HashCache::FileState HashCache::file_state() const {
  const auto status = location_.look();
  if (!status || !*status) return std::nullopt;
  const auto changed = changed_time_of(**status);
  return {{(*status)->st_dev, (*status)->st_ino, static_cast<std::uint64_t>(changed.seconds), changed.nanoseconds}};
}

/// Another process has saved the cache: its entries are kept where there are no newer ones here.
void HashCache::take_over() {
  HashCache others = load(location_);
  others.age_ = std::max(others.age_, age_);
  for (const std::string& path : forgotten_)
    if (CacheEntry* const found = others.at(path)) others.drop(*found);
  for (const CacheEntry& entry : entries_) {
    if (entry.path == PathStore::kNone) continue;
    const std::string path = paths_.path(entry.path);
    CacheEntry* const found = others.at(path);
    const bool is_same = found != nullptr && found->source == entry.source && found->own == entry.own;
    if (is_same) found->used = std::max(found->used, entry.used);
    if (is_same || !entry.is_new) continue;
    if (found != nullptr) others.drop(*found);
    if (others.has_space()) others.put(path, entry);
  }
  *this = std::move(others);
}

namespace {

/// Locked for this process, while it has that name.
Result<bridge::Descriptor> take_next_cache(const files::FileLocation& next) {
  for (int tries = 0; tries < kMaxTries; ++tries) {
    UDTCAT_TRY(auto file, next.open(O_WRONLY | O_CREAT | O_NOFOLLOW, Errc::local_write_failed));
    // Where there are no locks the name counts alone.
    if (::flock(file.number(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
      return fail(Errc::out_of_resources, "write " + next.shown(), "another process is writing it");
    if (next.leads_to(file)) return file;  // else another process has just given it its final name
  }
  // It is not removed: it may be another process's.
  return fail(Errc::local_write_failed, "write " + next.shown(), "what has just been opened is not there");
}

}  // namespace

Status HashCache::save() {
  const files::FileLocation next = location_.with_suffix(kNextCacheSuffix);
  UDTCAT_TRY(const auto file, take_next_cache(next));
  if (file_state() != loaded_) take_over();
  if (::ftruncate(file.number(), 0) != 0) return core::fail_by_errno(Errc::local_write_failed, "write " + next.shown());
  auto saved =
      encode_to([&](std::span<const std::byte> piece) { return files::write_whole(file, piece, next.shown()); });
  if (saved) saved = next.rename_to(location_);
  if (!saved) next.remove();
  if (!saved) return saved;
  loaded_ = file_state();
  forgotten_.clear();
  if (entries_.size() > 2 * live_) tidy();
  for (CacheEntry& each : entries_) each.is_new = false;
  return {};
}

}  // namespace udtcat::trees
