// SPDX-License-Identifier: Apache-2.0
/// The messages between the two ends of a transfer of trees. Bytes: docs/spec/trees.md. No input or output here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <udtcat/result.hpp>

#include "files/sha256.hpp"
#include "trees/disk/attributes.hpp"
#include "trees/disk/entry_kind.hpp"
#include "trees/disk/fingerprint.hpp"

namespace udtcat::trees {

inline constexpr std::size_t kHeaderBytes = 4;             // spec: docs/spec/trees.md §1
inline constexpr std::size_t kMaxBodyBytes = 1'249'280;    // spec: docs/spec/trees.md §1: a chunk, and much around it
inline constexpr std::size_t kMaxPaths = 65'536;           // spec: docs/spec/trees.md §1
inline constexpr std::size_t kMaxReasonBytes = 1'024;      // spec: docs/spec/trees.md §1
inline constexpr std::size_t kMaxAttributeBytes = 65'536;  // spec: docs/spec/trees.md §3
inline constexpr std::size_t kMaxUnacknowledged = 32'768;  // spec: docs/spec/trees.md §4
inline constexpr std::size_t kMaxUnacknowledgedBytes = 16'777'216;  // spec: docs/spec/trees.md §4
inline constexpr std::size_t kMaxDigests = 32'768;  // guess: of a HASHES message of ours: 1 MiB, 32 GiB of a file

/// The number of an entry.
using EntryId = std::uint64_t;

enum class Role : std::uint8_t { sends = 1, receives = 2 };

struct Hello {
  Role role = Role::sends;  ///< the connector's
  bool keeps_owners = false;
  bool wants_totals = false;
  bool rereads = false;      ///< a sender's receiver believes no cache
  files::ShortDigest job{};  ///< names the transfer, so that the receiver finds what the same one has left
  std::string place;
  std::vector<std::string> paths;
};

struct Entry {
  EntryKind kind = EntryKind::file;
  bool may_be_linked = false;  ///< a file: later entries may be hard links to it
  Attributes attributes;
  std::string path;
  std::uint64_t size_bytes = 0;            ///< a file
  std::optional<Fingerprint> fingerprint;  ///< a file
  std::string target;                      ///< a symbolic link
  EntryId of = 0;                          ///< a hard link
  std::uint32_t major = 0;                 ///< a device
  std::uint32_t minor = 0;                 ///< likewise
};

/// Bytes of a chunk from `offset` on.
struct Extent {
  std::uint32_t offset = 0;
  std::span<const std::byte> bytes;
};

struct Data {
  EntryId entry = 0;
  std::uint64_t chunk = 0;
  files::Digest digest{};
  std::vector<Extent> extents;  ///< not empty ones, in order, within a chunk; of a decoded one: in the decoded bytes
};
struct Zeros {
  EntryId entry = 0;
  std::uint64_t chunk = 0;
  std::uint64_t count = 0;
};
struct CopyChunks {
  EntryId entry = 0;
  std::uint64_t chunk = 0;
  std::uint64_t count = 0;
};
struct FileDone {
  EntryId entry = 0;
  files::Digest digest{};
  std::optional<Fingerprint> fingerprint{};  ///< of the state in which it was read; none: that cannot be told
};
struct Dropped {
  EntryId entry = 0;
  std::string reason;
};
struct End {
  std::uint64_t entries = 0;
};

/// A name that could not be announced.
struct Missed {
  std::string reason;
};
/// The whole of a transfer, for progress.
struct Totals {
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;  ///< of files, holes included
};

struct UpToDate {
  EntryId entry = 0;
  std::optional<files::Digest> digest;
};
struct Want {
  EntryId entry = 0;
};
struct Hashes {
  EntryId entry = 0;
  bool last = false;
  std::uint64_t zeros = 0;  ///< chunks, before the digests'
  std::vector<files::Digest> digests;
};
struct Refused {
  EntryId entry = 0;
  std::string reason;
};
/// An attribute that the receiver's file system does not keep; of each kind the first is told.
struct NotStored {
  std::string reason;
};
struct Done {
  std::uint64_t entries = 0;
};
struct Failed {
  Errc cause = Errc::local_write_failed;  ///< one of local_read_failed, local_write_failed, stream_refused, interrupted
  std::string reason;
};

using Message = std::variant<Hello, Entry, Data, Zeros, CopyChunks, FileDone, Dropped, End, Totals, Missed, UpToDate,
                             Want, Hashes, Refused, Done, NotStored, Failed>;

/// How the failure of the other end reads at this one.
[[nodiscard]] Error error_of(const Failed& failed);

/// Appends the message to `to`. Its parts keep the limits; reasons are cut to theirs.
void encode(const Message& message, std::vector<std::byte>& to);

/// The same of Data with one extent, but for its bytes, which the caller writes behind it.
void encode_head(const Data& data, std::vector<std::byte>& to);

/// How many bytes of a message follow its header.  errors: Errc::protocol_violated
[[nodiscard]] Result<std::size_t> body_bytes(std::span<const std::byte, kHeaderBytes> header);
/// Total: any bytes give a message or a violation.
/// type   the first byte of the header.  body   outlives the extents of Data
/// errors: Errc::protocol_violated
[[nodiscard]] Result<Message> decode(std::uint8_t type, std::span<const std::byte> body);

}  // namespace udtcat::trees
