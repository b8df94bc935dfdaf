// SPDX-License-Identifier: Apache-2.0
/// A file in stream mode: one data connection, whose end is the file's.  spec: RFC 959 §3.4.1
#pragma once

#include <optional>

#include <udtcat/result.hpp>

#include "files/byte_ranges.hpp"
#include "gridftp/coroutine/stream_io.hpp"
#include "gridftp/coroutine/task.hpp"
#include "gridftp/mode_e/block_sink.hpp"
#include "gridftp/mode_e/file_sender.hpp"

namespace udtcat::gridftp {

/// Receives: the bytes of the connection are the file's, from where `have` has no gap; its end is the file's end.
/// have   grows by what comes.  errors: Errc::connection_broken where `expected` does not come whole; those of the sink
[[nodiscard]] Task<Status> receive_stream_mode(StreamIo& from, BlockSink& sink, files::ByteRanges& have,
                                               std::optional<files::ByteRange> expected);
/// Sends all of the source, and the end.  errors: those of the source; Errc::connection_broken
[[nodiscard]] Task<Status> send_stream_mode(StreamIo& to, const SendRequest& request);

/// Returns when the peer has ended its side, or the connection is broken: a session that ends earlier drops data in
/// flight. A peer that has all data ends at once.
[[nodiscard]] Task<Status> await_end(StreamIo& of);

}  // namespace udtcat::gridftp
