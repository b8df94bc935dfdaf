// SPDX-License-Identifier: Apache-2.0
/// Two local streams joined in memory: what is written to one is read from the other.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include <boost/asio/io_context.hpp>

#include <udtcat/local_stream.hpp>
#include <udtcat/units.hpp>

namespace udtcat::bridge {

inline constexpr std::size_t kPairBytes = 1 * kMiB;       // guess: four blocks; a writer waits when so many are unread
inline constexpr std::size_t kUncopiedBytes = 64 * kKiB;  // guess: a copy that costs more than to wait for the reader

/// A write of kUncopiedBytes or more.
enum class LargeWrites {
  buffered,  ///< as any other: done when there is room for it
  uncopied,  ///< read from the writer's own memory, and done when some of it has been read
};

/// For a program that reads and writes a stream of a connection itself: one end goes to the connection, the program
/// keeps the other. When one end is aborted or destroyed before it has finished, the other fails with
/// std::errc::connection_reset.
/// Threads: confined to the io_context thread, both.
[[nodiscard]] std::pair<std::unique_ptr<LocalStream>, std::unique_ptr<LocalStream>> make_stream_pair(
    boost::asio::io_context& io, std::string name, LargeWrites large = LargeWrites::buffered);

}  // namespace udtcat::bridge
