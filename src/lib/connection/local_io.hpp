// SPDX-License-Identifier: Apache-2.0
/// Reading from the user's side of a stream or of a plain pipe, and the words for its failures.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <system_error>

#include <udtcat/local_stream.hpp>
#include <udtcat/result.hpp>

#include "lib/core/program_exit.hpp"

namespace udtcat::connection {

/// How a source was left: `data` where it is to be read again, else the state that ended the reading.
struct SourceRead {
  std::size_t bytes = 0;
  LocalStream::ReadState state = LocalStream::ReadState::data;
  std::error_code error{};  ///< set exactly for ReadState::failed
};

/// Takes what the source of `local` has, up to the room. All that a program wrote comes before its failure, of which
/// the next call tells; other failures take what came in the same call with them.
[[nodiscard]] inline SourceRead read_source(LocalStream& local, std::span<std::byte> room) {
  SourceRead read;
  while (read.bytes < room.size() && read.state == LocalStream::ReadState::data) {
    const auto piece = local.read_some(room.subspan(read.bytes));
    read.bytes += piece.bytes;
    read.state = piece.state;
    read.error = piece.error;
  }
  if (read.bytes > 0 && core::is_program_exit(read.error)) return {.bytes = read.bytes};
  return read;
}

/// The error of a source or a sink. One whose program has failed says just that: no read or write was at fault.
/// action   "read from", "write to"
[[nodiscard]] inline Error local_failure(Errc code, const std::string& action, const std::string& name,
                                         std::error_code error) {
  return {code, core::is_program_exit(error) ? name : "local " + action + ' ' + name + " failed", error.message()};
}
[[nodiscard]] inline Error local_read_failed(const LocalStream& local, std::error_code error) {
  return local_failure(Errc::local_read_failed, "read from", local.source_name(), error);
}
[[nodiscard]] inline Error local_write_failed(const LocalStream& local, std::error_code error) {
  return local_failure(Errc::local_write_failed, "write to", local.sink_name(), error);
}

}  // namespace udtcat::connection
