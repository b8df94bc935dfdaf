// SPDX-License-Identifier: Apache-2.0
/// The addresses under which an end may be reached: its candidates (RFC 8445 §5.1.1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include <udtcat/candidate.hpp>
#include <udtcat/endpoint.hpp>

namespace udtcat::ssh {

/// The peers of the TCP connections that process `pid` has open: of an ssh, the address that it really dialled,
/// whatever aliases and resolvers say. Empty where it has none (it goes through a jump host or a master) or the system
/// does not tell.
[[nodiscard]] std::vector<Endpoint> dialled_addresses(pid_t pid);

inline constexpr std::size_t kMaxCandidates = 8;  // spec: docs/spec/rsh.md §1, that an end names

/// The addresses of this host that others may use, at most kMaxCandidates, with `port`.
[[nodiscard]] std::vector<Endpoint> host_candidates(std::uint16_t port);

/// Their hosts: "192.0.2.1,2001:db8::1"; "-" for none.
[[nodiscard]] std::string to_text(const std::vector<Endpoint>& candidates);
/// Those of to_text() that are numeric, but for link-local ones, whose link is named as the other end names its own; at
/// most kMaxCandidates, with `port`. Any other text has none.
[[nodiscard]] std::vector<Endpoint> parse_candidates(std::string_view text, std::uint16_t port);

/// An address at which an end may be, which has named those of its own interfaces: any other is as others see it.
[[nodiscard]] Candidate as_candidate(const Endpoint& address, const std::vector<Endpoint>& hosts);

/// The same in their order, each once.
[[nodiscard]] std::vector<Endpoint> each_once(const std::vector<Endpoint>& candidates);

}  // namespace udtcat::ssh
