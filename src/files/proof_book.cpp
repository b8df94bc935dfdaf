// SPDX-License-Identifier: Apache-2.0
#include "files/proof_book.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <thread>
#include <tuple>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/attributes.hpp"
#include "files/whole_io.hpp"
#include "lib/core/byte_packing.hpp"
#include "lib/core/text.hpp"
#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"

namespace udtcat::files {

namespace {

// spec: docs/spec/trees.md §6, all of these
constexpr std::string_view kBookMagic = "udtcat proofs 2\n";
using BookCount = std::uint64_t;
constexpr std::size_t kBookHeadBytes = kBookMagic.size() + sizeof(ProofBook::Age) + sizeof(BookCount);
using BookPathLength = std::uint16_t;
constexpr std::size_t kBookEntryBytes =
    2 * sizeof(Stamp) + sizeof(Digest) + sizeof(ProofBook::Age) + sizeof(BookPathLength);  // without its path

constexpr std::size_t kBookPieceBytes = 1'048'576;  // guess: a write of a millisecond
constexpr const char* kNextBookSuffix = ".new";     // custom: of what takes a book's place

constexpr std::size_t kPartForgotten = 8;               // guess: of a full book, so that it is seldom full
constexpr int kSaveTries = 100;                         // guess: two seconds
constexpr std::chrono::milliseconds kBetweenSaves{20};  // guess: likewise

}  // namespace

std::optional<Digest> ProofBook::find(std::string_view path, const Stamp& source, const Stamp& own) {
  const auto found = proofs_.find(path);
  if (found == proofs_.end() || found->second.source != source || found->second.own != own) return std::nullopt;
  found->second.used = age_;
  return found->second.digest;
}

void ProofBook::note(std::string path, const Stamp& source, const Stamp& own, const Digest& digest) {
  forget(path);
  if (path.empty() || path.size() > kMaxPathBytes) return;
  const std::size_t bytes = kBookEntryBytes + path.size();
  if (!has_room(bytes)) make_room();
  if (!has_room(bytes)) return;
  const auto forgotten = forgotten_.find(path);
  if (forgotten != forgotten_.end()) forgotten_.erase(forgotten);
  put(std::move(path), Proof{source, own, digest, age_, true});
}

void ProofBook::forget(std::string_view path) {
  if (!proofs_.contains(path)) return;
  erase(path);
  forgotten_.emplace(path);
}

void ProofBook::put(std::string path, const Proof& proof) {
  bytes_ += kBookEntryBytes + path.size();
  proofs_.emplace(std::move(path), proof);
}

void ProofBook::erase(std::string_view path) {
  const auto found = proofs_.find(path);
  if (found == proofs_.end()) return;
  bytes_ -= kBookEntryBytes + path.size();
  proofs_.erase(found);
}

bool ProofBook::has_room(std::size_t entry_bytes) const {
  return proofs_.size() < kMaxEntries && entry_bytes <= kMaxBytes - kBookHeadBytes - sizeof(Digest) - bytes_;
}

/// Those of the earliest ages go, and none of this one.
void ProofBook::make_room() {
  if (full_at_ == age_ || proofs_.empty()) return;
  std::vector<Age> ages;
  ages.reserve(proofs_.size());
  for (const auto& [path, proof] : proofs_) ages.push_back(proof.used);
  const auto last = ages.begin() + static_cast<std::ptrdiff_t>(ages.size() / kPartForgotten);
  std::ranges::nth_element(ages, last);
  for (auto each = proofs_.begin(); each != proofs_.end();) {
    const bool goes = each->second.used <= *last && each->second.used < age_;
    if (goes) bytes_ -= kBookEntryBytes + each->first.size();
    each = goes ? proofs_.erase(each) : std::next(each);
  }
  if (proofs_.size() == ages.size()) full_at_ = age_;
}

std::vector<std::string> ProofBook::unused_since(Age age, std::size_t most) const {
  std::vector<std::string> paths;
  std::size_t unused = 0;
  for (const auto& [path, proof] : proofs_) unused += proof.used < age ? 1 : 0;
  const std::size_t rounds = (unused + most - 1) / std::max<std::size_t>(most, 1);
  const std::size_t begin = rounds == 0 ? 0 : age % rounds * most;
  std::size_t number = 0;
  for (const auto& [path, proof] : proofs_) {
    if (proof.used >= age) continue;
    if (number >= begin && paths.size() < most) paths.push_back(path);
    ++number;
  }
  return paths;
}

Status ProofBook::encode_to(const std::function<Status(std::span<const std::byte>)>& put) const {
  Sha256 hash;
  std::vector<std::byte> piece;
  core::ByteWriter writer(piece);
  const auto put_piece = [&]() -> Status {
    hash.add(piece);
    UDTCAT_CHECK(put(piece));
    piece.clear();
    return {};
  };
  writer.text(kBookMagic);
  writer.number(age_);
  writer.number(BookCount{proofs_.size()});
  for (const auto& [path, proof] : proofs_) {
    writer.bytes(proof.source);
    writer.bytes(proof.own);
    writer.bytes(proof.digest);
    writer.number(proof.used);
    writer.sized_text<BookPathLength>(path);
    if (piece.size() < kBookPieceBytes) continue;
    UDTCAT_CHECK(put_piece());
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

std::optional<ProofBook> ProofBook::parse(std::span<const std::byte> bytes, FileLocation location) {
  if (bytes.size() < kBookHeadBytes + sizeof(Digest) || bytes.size() > kMaxBytes) return std::nullopt;
  const auto hashed = bytes.first(bytes.size() - sizeof(Digest));
  if (core::as_text(hashed.first(kBookMagic.size())) != kBookMagic) return std::nullopt;
  if (!std::ranges::equal(digest_of({hashed}), bytes.last(sizeof(Digest)))) return std::nullopt;
  core::ByteReader rest(hashed.subspan(kBookMagic.size()));
  ProofBook book(std::move(location));
  book.age_ = rest.number<Age>();
  const auto count = rest.number<BookCount>();
  if (count > kMaxEntries) return std::nullopt;
  for (std::uint64_t i = 0; i < count; ++i) {
    Proof proof;
    proof.source = rest.array<sizeof(Stamp)>();
    proof.own = rest.array<sizeof(Stamp)>();
    proof.digest = rest.array<sizeof(Digest)>();
    proof.used = rest.number<Age>();
    std::string path = rest.sized_text<BookPathLength>();
    if (path.empty() || path.size() > kMaxPathBytes) return std::nullopt;  // also where the book is cut
    if (proof.used > book.age_) return std::nullopt;
    if (!book.proofs_.empty() && path <= book.proofs_.rbegin()->first) return std::nullopt;
    book.bytes_ += kBookEntryBytes + path.size();
    book.proofs_.emplace_hint(book.proofs_.end(), std::move(path), proof);
  }
  if (!rest.is_whole()) return std::nullopt;
  return book;
}

ProofBook ProofBook::load(const FileLocation& location) {
  ProofBook empty(location);
  empty.loaded_ = empty.look();
  const auto file = location.open(O_RDONLY, Errc::local_read_failed);
  struct stat status {};
  if (!file || ::fstat(file->number(), &status) != 0 || !S_ISREG(status.st_mode)) return empty;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size > kMaxBytes) return empty;
  std::vector<std::byte> bytes(size);
  const auto got = read_whole(*file, bytes, location.shown());
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
  for (const std::string& path : forgotten_) others.erase(path);
  for (auto& [path, proof] : proofs_) {
    const auto found = others.proofs_.find(path);
    const bool is_same =
        found != others.proofs_.end() && found->second.source == proof.source && found->second.own == proof.own;
    if (is_same) found->second.used = std::max(found->second.used, proof.used);
    if (is_same || !proof.is_new) continue;
    others.erase(path);
    if (others.has_room(kBookEntryBytes + path.size())) others.put(path, proof);
  }
  *this = std::move(others);
}

namespace {

/// Locked for this process, while it has that name.
Result<bridge::Descriptor> take_next_book(const FileLocation& next) {
  for (int tries = 0; tries < kSaveTries; ++tries) {
    UDTCAT_TRY(auto file, next.open(O_WRONLY | O_CREAT | O_NOFOLLOW, Errc::local_write_failed));
    const bool is_locked = ::flock(file.number(), LOCK_EX | LOCK_NB) == 0;
    const bool is_held = !is_locked && errno == EWOULDBLOCK;  // else there are no locks there
    if (!is_held && next.leads_to(file)) return file;
    if (is_held) std::this_thread::sleep_for(kBetweenSaves);
  }
  return fail(Errc::out_of_resources, "write " + next.shown(), "another process is writing it");
}

}  // namespace

Status ProofBook::save() {
  const FileLocation next = location_.with_suffix(kNextBookSuffix);
  UDTCAT_TRY(const auto file, take_next_book(next));
  if (look() != loaded_) take_over();
  if (::ftruncate(file.number(), 0) != 0)
    return fail(Errc::local_write_failed, "write " + next.shown(), core::errno_text(errno));
  auto saved = encode_to([&](std::span<const std::byte> piece) { return write_whole(file, piece, next.shown()); });
  if (saved) saved = next.rename_to(location_);
  if (!saved) next.remove();
  if (!saved) return saved;
  loaded_ = look();
  forgotten_.clear();
  for (auto& [path, proof] : proofs_) proof.is_new = false;
  return {};
}

}  // namespace udtcat::files
