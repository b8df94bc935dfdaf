// SPDX-License-Identifier: Apache-2.0
/// The parts that an end may have in a transfer, from HELLO on: by who dialled, and who has the files.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <udtcat/result.hpp>

#include "trees/message.hpp"
#include "trees/selection.hpp"
#include "trees/tally.hpp"
#include "trees/transfer_claims.hpp"
#include "trees/wire.hpp"

namespace udtcat::trees {

/// The wishes of either end.
struct Wishes {
  bool keeps_owners = false;
  std::optional<std::uint64_t> limit_bytes{};  ///< of what a receiver writes; none: what the disk has
  std::optional<std::string> manifest{};       ///< a file to write; none: no manifest
  bool wants_totals = false;                   ///< somebody watches
  bool waits = false;                          ///< for another process that has the same transfer under way
  bool rereads = false;                        ///< no book is believed; what is proved is noted all the same
  std::optional<std::string> home{};           ///< of the user, whose mode is not a sender's to change
  std::optional<std::string> books{};          ///< the directory of a receiver's books; none: nothing is remembered
};

/// The other end, as the way to it knows it.
struct OtherEnd {
  std::string key{};       ///< empty: it has none of its own
  bool is_sealed = false;  ///< the session proves every byte: leaves that come are not hashed again
  TransferClaims::Claimant claimant{};
};

/// One of these, as a thread runs it.
using TransferRole = std::function<Status(Wire& wire, Tally& tally, const OtherEnd& other)>;

// Blocking; errors: those of Sender::run() and Receiver::run(), of sources and of places. `tally` outlives them.

/// A connector that sends.  place   as Hello has it
[[nodiscard]] Status send_as_connector(Wire& wire, const Selection& selection, const std::string& place,
                                       const Wishes& wishes, Tally& tally);
/// A connector that receives into a directory, which is made where it is not there.
[[nodiscard]] Status receive_as_connector(Wire& wire, const std::vector<std::string>& paths,
                                          const std::string& directory, const Wishes& wishes, const OtherEnd& other,
                                          Tally& tally);

/// The other end of a connector that sends.
[[nodiscard]] Status receive_as_listener(Wire& wire, const std::string& directory, const Wishes& wishes,
                                         const OtherEnd& other, TransferClaims& claims, Tally& tally);
/// The other end of a connector that receives: what is below a directory, read-only.
[[nodiscard]] Status send_as_listener(Wire& wire, const std::string& directory, Tally& tally);
/// The other end of either, for the account whose processes may do as they like.
[[nodiscard]] Status serve_account(Wire& wire, const Wishes& wishes, const OtherEnd& other, Tally& tally);

}  // namespace udtcat::trees
