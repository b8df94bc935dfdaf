// SPDX-License-Identifier: Apache-2.0
/// The receiver's hashes of a basis file, chunk by chunk, as they come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <udtcat/result.hpp>

#include "lib/core/try.hpp"
#include "trees/bounded_queue.hpp"
#include "trees/disk/tree_hash.hpp"
#include "trees/message.hpp"

namespace udtcat::trees {

/// The receiver's answers, from the thread that reads them to the one that sends.
using Answers = BoundedQueue<Message>;

/// Threads: unsynchronised.
class RemoteHashes {
 public:
  /// `answers` outlives this, which takes those that belong to the first.
  /// chunks   of the file, at most.  errors: Errc::protocol_violated: there are more already
  [[nodiscard]] static Result<RemoteHashes> begin(Answers& answers, Hashes first, std::uint64_t chunks) {
    RemoteHashes hashes(answers, chunks);
    UDTCAT_CHECK(hashes.accept(std::move(first)));
    return hashes;
  }

  /// The next chunk's; none: the receiver has no more. Waits for the receiver.
  /// errors: Errc::protocol_violated; as Failed says
  [[nodiscard]] Result<std::optional<files::Digest>> next() {
    for (;;) {
      if (now_.zeros > 0) {
        --now_.zeros;
        return hash_of_zeros();
      }
      if (at_ < now_.digests.size()) return now_.digests[at_++];
      if (now_.last) return std::nullopt;
      UDTCAT_CHECK(take_next());
    }
  }

  /// Passes over those that are left.
  [[nodiscard]] Status drain() {
    while (!now_.last) UDTCAT_CHECK(take_next());
    return {};
  }

 private:
  RemoteHashes(Answers& answers, std::uint64_t chunks) : answers_(answers), left_(chunks) {}

  [[nodiscard]] Status accept(Hashes hashes) {
    if (hashes.zeros > left_ || hashes.digests.size() > left_ - hashes.zeros)
      return fail(Errc::protocol_violated, "read the receiver's hashes", "they are of more chunks than the file has");
    left_ -= hashes.zeros + hashes.digests.size();
    now_ = std::move(hashes);
    at_ = 0;
    return {};
  }
  [[nodiscard]] Status take_next() {
    UDTCAT_TRY(Message answer, answers_.pop());
    auto* hashes = std::get_if<Hashes>(&answer);
    if (hashes == nullptr || hashes->entry != now_.entry)
      return fail(Errc::protocol_violated, "read the receiver's hashes", "something else came between them");
    return accept(std::move(*hashes));
  }

  Answers& answers_;
  std::uint64_t left_;  // chunks that may still come
  Hashes now_;
  std::size_t at_ = 0;  // of its digests
};

}  // namespace udtcat::trees
