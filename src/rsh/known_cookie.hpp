/// A cookie that saves the near end a round trip: both ends of a command know its key before either has sent a
/// datagram.
#pragma once

#include <cstdint>

#include <udtcat/key.hpp>
#include <udtcat/result.hpp>

namespace udtcat::rsh {

/// For TransportOptions::known_cookie at both ends; not 0. Says nothing about the key. See docs/spec/rsh.md §1.
/// errors: Errc::cipher_failed
[[nodiscard]] Result<std::uint32_t> known_cookie(const Key& key);

}  // namespace udtcat::rsh
