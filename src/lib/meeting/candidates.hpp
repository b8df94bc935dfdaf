// SPDX-License-Identifier: Apache-2.0
/// The addresses under which an end may be reached (RFC 8445 §5.1.1), as offers and answers carry them
/// (docs/spec/meet.md §3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <udtcat/candidate.hpp>

#include "lib/core/byte_packing.hpp"

namespace udtcat::meeting {

/// count:u8 candidate*, Candidate::kMaxCount at most: the caller keeps that.
void encode(core::ByteWriter& writer, const std::vector<Candidate>& candidates);
/// None: malformed. `reader` may be cut.
[[nodiscard]] std::optional<std::vector<Candidate>> decode_candidates(core::ByteReader& reader);

[[nodiscard]] std::vector<Endpoint> addresses_of(const std::vector<Candidate>& candidates);

/// Without those that name no host that others can reach. One of the loopback address is of use where this end has such
/// a one: then both are on one host.
[[nodiscard]] std::vector<Candidate> usable(const std::vector<Candidate>& candidates,
                                            const std::vector<Candidate>& own);

}  // namespace udtcat::meeting
