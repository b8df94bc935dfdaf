// SPDX-License-Identifier: Apache-2.0
#include "files/proof_book.hpp"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>

#include "files/whole_io.hpp"
#include "lib/core/byte_packing.hpp"
#include "lib/core/text.hpp"
#include "lib/core/try.hpp"

namespace udtcat::files {

namespace {

// spec: docs/spec/trees.md §6, all of these
constexpr std::string_view kBookMagic = "udtcat proofs 1\n";
using BookCount = std::uint64_t;
constexpr std::size_t kBookHeadBytes = kBookMagic.size() + sizeof(BookCount);
using BookPathLength = std::uint16_t;
constexpr std::size_t kBookEntryBytes =
    2 * sizeof(Stamp) + sizeof(Digest) + sizeof(BookPathLength);  // without its path

constexpr std::size_t kBookPieceBytes = 1'048'576;  // guess: a write of a millisecond
constexpr const char* kNextBookSuffix = ".new";     // custom: of what takes a book's place

}  // namespace

std::optional<Digest> ProofBook::find(std::string_view path, const Stamp& source, const Stamp& own) const {
  const auto found = proofs_.find(path);
  if (found == proofs_.end() || found->second.source != source || found->second.own != own) return std::nullopt;
  return found->second.digest;
}

void ProofBook::note(std::string path, const Stamp& source, const Stamp& own, const Digest& digest) {
  forget(path);
  const std::size_t bytes = kBookEntryBytes + path.size();
  if (path.empty() || path.size() > kMaxPathBytes || proofs_.size() == kMaxEntries ||
      bytes > kMaxBytes - kBookHeadBytes - sizeof(Digest) - bytes_)
    return;
  bytes_ += bytes;
  proofs_.emplace(std::move(path), Proof{source, own, digest});
}

void ProofBook::forget(std::string_view path) {
  const auto found = proofs_.find(path);
  if (found == proofs_.end()) return;
  bytes_ -= kBookEntryBytes + path.size();
  proofs_.erase(found);
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
  writer.number(BookCount{proofs_.size()});
  for (const auto& [path, proof] : proofs_) {
    writer.bytes(proof.source);
    writer.bytes(proof.own);
    writer.bytes(proof.digest);
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
  const auto count = rest.number<BookCount>();
  if (count > kMaxEntries) return std::nullopt;
  ProofBook book(std::move(location));
  for (std::uint64_t i = 0; i < count; ++i) {
    Proof proof;
    proof.source = rest.array<sizeof(Stamp)>();
    proof.own = rest.array<sizeof(Stamp)>();
    proof.digest = rest.array<sizeof(Digest)>();
    std::string path = rest.sized_text<BookPathLength>();
    if (path.empty() || path.size() > kMaxPathBytes) return std::nullopt;  // also where the book is cut
    if (!book.proofs_.empty() && path <= book.proofs_.rbegin()->first) return std::nullopt;
    book.bytes_ += kBookEntryBytes + path.size();
    book.proofs_.emplace_hint(book.proofs_.end(), std::move(path), proof);
  }
  if (!rest.is_whole()) return std::nullopt;
  return book;
}

ProofBook ProofBook::load(const FileLocation& location) {
  ProofBook empty(location);
  const auto file = location.open(O_RDONLY, Errc::local_read_failed);
  struct stat status {};
  if (!file || ::fstat(file->number(), &status) != 0 || !S_ISREG(status.st_mode)) return empty;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size > kMaxBytes) return empty;
  std::vector<std::byte> bytes(size);
  const auto got = read_whole(*file, bytes, location.shown());
  if (!got || *got != size) return empty;
  auto book = parse(bytes, location);
  return book ? std::move(*book) : empty;
}

Status ProofBook::save() const {
  const FileLocation next = location_.with_suffix(kNextBookSuffix);
  UDTCAT_TRY(const auto file, next.open(O_WRONLY | O_CREAT | O_TRUNC, Errc::local_write_failed));
  auto saved = encode_to([&](std::span<const std::byte> piece) { return write_whole(file, piece, next.shown()); });
  if (saved) saved = next.rename_to(location_);
  if (!saved) next.remove();
  return saved;
}

}  // namespace udtcat::files
