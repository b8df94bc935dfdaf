// SPDX-License-Identifier: Apache-2.0
#include "trees/disk/proof_book.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
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
constexpr std::string_view kBookMagic = "udtcat proofs 2\n";
constexpr std::size_t kBookHeadBytes = kBookMagic.size() + sizeof(ProofBook::Age);
using BookPathLength = std::uint16_t;
constexpr std::size_t kBookEntryBytes = 2 * sizeof(Stamp) + sizeof(files::Digest) + sizeof(ProofBook::Age) +
                                        2 * sizeof(BookPathLength);  // without its path

constexpr std::size_t kBookPieceBytes = 1'048'576;  // guess: a write of a millisecond
constexpr const char* kNextBookSuffix = ".new";     // custom: of what takes a book's place

constexpr std::size_t kMaxPathsBytes = ProofBook::kMaxBytes;  // guess: of memory; a tree's paths take much less
constexpr std::size_t kPartForgotten = 16;                    // guess: of a full book, so that it is seldom full

std::size_t shared_bytes(std::string_view one, std::string_view other) {
  return static_cast<std::size_t>(std::ranges::mismatch(one, other).in1 - one.begin());
}

}  // namespace

ProofBook::Proof* ProofBook::at(std::string_view path) {
  const PathStore::Number number = paths_.find(path);
  if (number == PathStore::kNone || number >= places_.size() || places_[number] == PathStore::kNone) return nullptr;
  return &proofs_[places_[number]];
}

std::optional<files::Digest> ProofBook::find(std::string_view path, const Stamp& source, const Stamp& own) {
  Proof* const found = at(path);
  if (found == nullptr || found->source != source || found->own != own) return std::nullopt;
  found->used = age_;
  return found->digest;
}

void ProofBook::note(const std::string& path, const Stamp& source, const Stamp& own, const files::Digest& digest) {
  forget(path);
  if (!is_entry_path(path)) return;
  if (!has_room()) make_room();
  if (!has_room()) return;
  if (const auto forgotten = forgotten_.find(path); forgotten != forgotten_.end()) forgotten_.erase(forgotten);
  put(path, Proof{.source = source, .own = own, .digest = digest, .used = age_, .is_new = true});
}

void ProofBook::forget(std::string_view path) {
  Proof* const found = at(path);
  if (found == nullptr) return;
  drop(*found);
  forgotten_.emplace(path);
}

void ProofBook::put(std::string_view path, Proof proof) {
  proof.path = paths_.add(path);
  places_.resize(paths_.numbers(), PathStore::kNone);
  places_[proof.path] = static_cast<std::uint32_t>(proofs_.size());
  proofs_.push_back(proof);
  ++live_;
  if (proofs_.size() > 2 * kMaxEntries) tidy();
}

void ProofBook::drop(Proof& proof) {
  places_[proof.path] = PathStore::kNone;
  proof.path = PathStore::kNone;
  --live_;
}

bool ProofBook::has_room() const { return live_ < kMaxEntries && paths_.bytes() < kMaxPathsBytes; }

/// Those of the earliest ages go, and none of this one.
void ProofBook::make_room() {
  if (full_at_ == age_) return;
  std::vector<Age> ages;
  ages.reserve(live_);
  for (const Proof& each : proofs_)
    if (each.path != PathStore::kNone) ages.push_back(each.used);
  if (ages.empty()) return tidy();
  const auto last = ages.begin() + static_cast<std::ptrdiff_t>(ages.size() / kPartForgotten);
  std::ranges::nth_element(ages, last);
  std::size_t left = ages.size() / kPartForgotten + 1;
  for (auto each = proofs_.begin(); each != proofs_.end() && left > 0; ++each) {
    if (each->path == PathStore::kNone || each->used > *last || each->used == age_) continue;
    drop(*each);
    --left;
  }
  if (!has_room()) tidy();
  if (!has_room()) full_at_ = age_;
}

/// Proofs that were forgotten take no memory any more.
void ProofBook::tidy() {
  const PathStore before = std::exchange(paths_, {});
  std::deque<Proof> proofs = std::exchange(proofs_, {});
  places_.clear();
  live_ = 0;
  for (; !proofs.empty(); proofs.pop_front())
    if (proofs.front().path != PathStore::kNone) put(before.path(proofs.front().path), proofs.front());
}

std::vector<std::string> ProofBook::unused_since(Age age, std::size_t most) const {
  const auto is_unused = [&](const Proof& each) { return each.path != PathStore::kNone && each.used < age; };
  std::vector<std::string> paths;
  const auto unused = static_cast<std::size_t>(std::ranges::count_if(proofs_, is_unused));
  const std::size_t rounds = (unused + most - 1) / std::max<std::size_t>(most, 1);
  const std::size_t begin = rounds == 0 ? 0 : age % rounds * most;
  std::size_t number = 0;
  for (const Proof& each : proofs_)
    if (is_unused(each) && number++ >= begin && paths.size() < most) paths.push_back(paths_.path(each.path));
  return paths;
}

Status ProofBook::encode_to(const std::function<Status(std::span<const std::byte>)>& put) const {
  files::Sha256 hash;
  std::vector<std::byte> piece;
  core::ByteWriter writer(piece);
  std::size_t bytes = kBookHeadBytes + sizeof(files::Digest);
  const auto put_piece = [&]() -> Status {
    hash.add(piece);
    UDTCAT_CHECK(put(piece));
    piece.clear();
    return {};
  };
  writer.text(kBookMagic);
  writer.number(age_);
  std::string before;
  for (const Proof& proof : proofs_) {
    if (proof.path == PathStore::kNone) continue;
    std::string path = paths_.path(proof.path);
    const std::size_t shared = shared_bytes(path, before);
    bytes += kBookEntryBytes + path.size() - shared;
    if (bytes > kMaxBytes) break;  // those behind are read again
    writer.bytes(proof.source);
    writer.bytes(proof.own);
    writer.bytes(proof.digest);
    writer.number(proof.used);
    writer.number(static_cast<BookPathLength>(shared));
    writer.sized_text<BookPathLength>(std::string_view(path).substr(shared));
    before = std::move(path);
    if (piece.size() >= kBookPieceBytes) UDTCAT_CHECK(put_piece());
  }
  UDTCAT_CHECK(put_piece());
  return put(hash.digest());
}

std::vector<std::byte> ProofBook::encode() const {
  std::vector<std::byte> bytes;
  std::ignore = encode_to([&](std::span<const std::byte> piece) -> Status {
    core::ByteWriter(bytes).bytes(piece);
    return {};
  });  // memory does not fail
  return bytes;
}

std::optional<ProofBook> ProofBook::parse(std::span<const std::byte> bytes, files::FileLocation location) {
  if (bytes.size() < kBookHeadBytes + sizeof(files::Digest) || bytes.size() > kMaxBytes) return std::nullopt;
  const auto hashed = bytes.first(bytes.size() - sizeof(files::Digest));
  if (core::as_text(hashed.first(kBookMagic.size())) != kBookMagic) return std::nullopt;
  if (!std::ranges::equal(files::digest_of({hashed}), bytes.last(sizeof(files::Digest)))) return std::nullopt;
  core::ByteReader rest(hashed.subspan(kBookMagic.size()));
  ProofBook book(std::move(location));
  book.age_ = rest.number<Age>();
  std::string path;
  while (rest.rest_bytes() > 0) {
    Proof proof;
    proof.source = rest.array<sizeof(Stamp)>();
    proof.own = rest.array<sizeof(Stamp)>();
    proof.digest = rest.array<sizeof(files::Digest)>();
    proof.used = rest.number<Age>();
    const std::size_t shared = rest.number<BookPathLength>();
    const std::string end = rest.sized_text<BookPathLength>();
    if (rest.is_cut() || proof.used > book.age_ || shared > path.size()) return std::nullopt;
    if (shared < path.size() && !end.empty() && path[shared] == end.front()) return std::nullopt;  // they share more
    path.replace(shared, std::string::npos, end);
    if (!is_entry_path(path) || book.at(path) != nullptr) return std::nullopt;
    if (book.live_ == kMaxEntries || book.paths_.bytes() > 2 * kMaxPathsBytes) return std::nullopt;
    book.put(path, proof);
  }
  if (!rest.is_whole()) return std::nullopt;
  return book;
}

ProofBook ProofBook::load(const files::FileLocation& location) {
  ProofBook empty(location);
  empty.loaded_ = empty.look();
  const auto file = location.open(O_RDONLY, Errc::local_read_failed);
  struct stat status {};
  if (!file || ::fstat(file->number(), &status) != 0 || !S_ISREG(status.st_mode)) return empty;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size > kMaxBytes) return empty;
  std::vector<std::byte> bytes(size);
  const auto got = files::read_whole(*file, bytes, location.shown());
  if (!got || *got != size) return empty;
  auto book = parse(bytes, location);
  if (!book) return empty;
  book->loaded_ = empty.loaded_;
  return std::move(*book);
}

ProofBook::Look ProofBook::look() const {
  const auto status = location_.look();
  if (!status || !*status) return std::nullopt;
  const auto changed = changed_time_of(**status);
  return {{(*status)->st_dev, (*status)->st_ino, static_cast<std::uint64_t>(changed.seconds), changed.nanoseconds}};
}

/// Another process has saved the book: its proofs stand where there are no newer ones here.
void ProofBook::take_over() {
  ProofBook others = load(location_);
  others.age_ = std::max(others.age_, age_);
  for (const std::string& path : forgotten_)
    if (Proof* const found = others.at(path)) others.drop(*found);
  for (const Proof& proof : proofs_) {
    if (proof.path == PathStore::kNone) continue;
    const std::string path = paths_.path(proof.path);
    Proof* const found = others.at(path);
    const bool is_same = found != nullptr && found->source == proof.source && found->own == proof.own;
    if (is_same) found->used = std::max(found->used, proof.used);
    if (is_same || !proof.is_new) continue;
    if (found != nullptr) others.drop(*found);
    if (others.has_room()) others.put(path, proof);
  }
  *this = std::move(others);
}

namespace {

/// Locked for this process, while it has that name.
Result<bridge::Descriptor> take_next_book(const files::FileLocation& next) {
  for (;;) {
    UDTCAT_TRY(auto file, next.open(O_WRONLY | O_CREAT | O_NOFOLLOW, Errc::local_write_failed));
    // Where there are no locks the name counts alone.
    if (::flock(file.number(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
      return fail(Errc::out_of_resources, "write " + next.shown(), "another process is writing it");
    if (next.leads_to(file)) return file;  // else another process has just given it its final name
  }
}

}  // namespace

Status ProofBook::save() {
  const files::FileLocation next = location_.with_suffix(kNextBookSuffix);
  UDTCAT_TRY(const auto file, take_next_book(next));
  if (look() != loaded_) take_over();
  if (::ftruncate(file.number(), 0) != 0) return core::fail_by_errno(Errc::local_write_failed, "write " + next.shown());
  auto saved =
      encode_to([&](std::span<const std::byte> piece) { return files::write_whole(file, piece, next.shown()); });
  if (saved) saved = next.rename_to(location_);
  if (!saved) next.remove();
  if (!saved) return saved;
  loaded_ = look();
  forgotten_.clear();
  if (proofs_.size() > 2 * live_) tidy();
  for (Proof& each : proofs_) each.is_new = false;
  return {};
}

}  // namespace udtcat::trees
