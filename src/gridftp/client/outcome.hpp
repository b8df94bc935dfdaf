/// How a transfer ends, when two connections have something to say about it.
#pragma once

#include <memory>
#include <optional>

#include <boost/asio/io_context.hpp>

#include <udtcat/result.hpp>

#include "gridftp/client/remote_server.hpp"
#include "gridftp/client/transfer.hpp"
#include "gridftp/coroutine/promise.hpp"
#include "gridftp/coroutine/task.hpp"
#include "gridftp/mode_e/block_sink.hpp"

namespace udtcat::gridftp {

/// Waits for the server's last word after the data have come to their end, well or not. Its reason counts more than ours.
/// Where the data failed and it has said nothing yet, it is not waited for.
[[nodiscard]] Task<Status> judge(RemoteServer& server, Status moved, std::shared_ptr<Promise<Status>> said);

[[nodiscard]] ControlLink::Moved counter_of(SharedProgress progress);
/// For who has no use for what a server says it has.
[[nodiscard]] MarkerHandler ignore_markers();

/// Stream mode: the bytes of the connection are the file's, from where `have` has no gap; its end is the file's end.
/// have   grows by what comes.  errors: Errc::connection_broken where `expected` does not come whole; those of the sink
[[nodiscard]] Task<Status> receive_stream_mode(StreamIo& from, BlockSink& sink, ByteRanges& have,
                                               std::optional<ByteRange> expected);
/// Stream mode: all of the source, and the end.  errors: those of the source; Errc::connection_broken
[[nodiscard]] Task<Status> send_stream_mode(StreamIo& to, const SendRequest& request);

/// Runs it, and hands its outcome on.
void run_transfer(boost::asio::io_context& io, Task<Status> transfer, TransferHandler handler);

}  // namespace udtcat::gridftp
