/// Again after a cut: which errors are cuts, and how often one tries.
#pragma once

#include <functional>

#include <boost/asio/io_context.hpp>

#include <udtcat/result.hpp>

#include "gridftp/client/transfer.hpp"
#include "gridftp/coroutine/task.hpp"

namespace udtcat::gridftp {

/// A server has refused because of the file: there is none, no space for it, no permission.  spec: RFC 959 §4.2.1: 55x
[[nodiscard]] bool is_final(const Error& error);

/// Whether the same transfer may well succeed the next time.
/// moved   whether this attempt got as far as moving bytes
[[nodiscard]] bool is_cut(const Error& error, bool moved);

/// Runs `attempt` until it succeeds, fails by something else than a cut, or has got no further for options.retries times in a row.
/// Threads: runs on the io_context thread.
[[nodiscard]] Task<Status> with_retries(boost::asio::io_context& io, TransferOptions options, SharedProgress progress,
                                        std::function<Task<Status>()> attempt);

}  // namespace udtcat::gridftp
