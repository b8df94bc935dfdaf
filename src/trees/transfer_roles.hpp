// SPDX-License-Identifier: Apache-2.0
/// The parts that an end may have in a transfer, from HELLO on: by who dialled, and who has the files.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <udtcat/result.hpp>

#include "files/directory_use.hpp"
#include "trees/active_transfers.hpp"
#include "trees/blocking_stream.hpp"
#include "trees/counters.hpp"
#include "trees/message.hpp"
#include "trees/selection.hpp"

namespace udtcat::trees {

/// Options of either end.
struct TransferOptions {
  bool keeps_owners = false;
  std::optional<std::uint64_t> limit_bytes{};  ///< of what a receiver writes; none: what the disk has
  std::optional<std::string> manifest{};       ///< a file to write; none: no manifest
  bool wants_totals = false;                   ///< for progress
  bool waits = false;                          ///< for another process that has the same transfer under way
  bool rereads = false;                        ///< files are read again even where the hash cache knows them
  std::optional<std::string> home{};           ///< of the user, whose mode is not a sender's to change
  std::optional<std::string> caches{};         ///< the directory of a receiver's caches; none: nothing is remembered
};

/// The other end, as the connection knows it.
struct PeerInfo {
  std::string key{};       ///< by which it is told from others, or its name; empty: it has none of its own
  bool is_sealed = false;  ///< the session proves every byte: chunks that come are not hashed again
  ActiveTransfers::Owner owner{};
};

/// A directory of this end's, or what a peer has of it.
struct TransferPlace {
  std::string directory;
  std::string below{};  ///< in it, without following a symbolic link; empty: the directory itself
  std::string peer{};   ///< whose that is, for messages
  std::optional<std::uint64_t> limit_bytes{};  ///< of all that may be there; none: what the disk has
  files::DirectoryUses* uses = nullptr;        ///< where there is a limit; outlives the transfer
};

/// One of these, as a thread runs it.
using TransferRole = std::function<Status(BlockingStream& stream, TransferCounters& counters, const PeerInfo& peer)>;

// Blocking; errors: those of Sender::run() and Receiver::run(), of sources and of places. `counters` outlives them.

/// A connector that sends.  place   as Hello has it
[[nodiscard]] Status send_as_connector(BlockingStream& stream, const Selection& selection, const std::string& place,
                                       const TransferOptions& options, TransferCounters& counters);
/// A connector that receives into a directory, which is made where it is not there.
[[nodiscard]] Status receive_as_connector(BlockingStream& stream, const std::vector<std::string>& paths,
                                          const std::string& directory, const TransferOptions& options,
                                          const PeerInfo& peer, TransferCounters& counters);

/// The other end of a connector that sends.
[[nodiscard]] Status receive_as_listener(BlockingStream& stream, const TransferPlace& place,
                                         const TransferOptions& options, const PeerInfo& peer, ActiveTransfers& active,
                                         TransferCounters& counters);
/// The other end of a connector that receives: what is below a directory, read-only.
[[nodiscard]] Status send_as_listener(BlockingStream& stream, const TransferPlace& place, TransferCounters& counters);
/// The same: what is selected here, and the other end may name no paths.
[[nodiscard]] Status send_selection_as_listener(BlockingStream& stream, const Selection& selection,
                                                const TransferOptions& options, TransferCounters& counters);
/// The other end of a connector that sends, for a login that may do nothing else: into a directory, which is made where
/// it is not there, and the directories below it that the other end names.
[[nodiscard]] Status receive_for_login(BlockingStream& stream, const std::string& directory,
                                       const TransferOptions& options, const PeerInfo& peer,
                                       TransferCounters& counters);
/// The other end of either, for the account whose processes may do as they like.
[[nodiscard]] Status serve_account(BlockingStream& stream, const TransferOptions& options, const PeerInfo& peer,
                                   TransferCounters& counters);

}  // namespace udtcat::trees
