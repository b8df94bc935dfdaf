/// Gets and puts a file: our end of a transfer with an FTP server that speaks MODE E. See docs/spec/gridftp.md §4.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>

#include <udtcat/result.hpp>

#include "gridftp/block_store.hpp"
#include "gridftp/byte_ranges.hpp"
#include "gridftp/url.hpp"

namespace udtcat::gridftp {

struct TransferOptions {
  std::size_t parallelism = 1;     ///< data connections
  std::optional<ByteRange> range;  ///< which bytes of the remote file; none: all
  std::size_t block_bytes = 1'048'576;
  std::chrono::milliseconds patience{60'000};  ///< silence of the server after which it is lost
};

/// How a transfer went.
struct TransferOutcome {
  std::uint64_t bytes = 0;  ///< of payload
};

/// Called once, on the io_context thread; not after that has been destroyed, which gives a transfer up.
using TransferHandler = std::function<void(Result<TransferOutcome>)>;

/// `to` is made when the first byte comes, and has its name when it is whole; until then it is TO.part.
/// errors (to the handler): Errc::cannot_resolve, Errc::cannot_reach, Errc::stream_refused with what the server said,
/// Errc::connection_broken for a file that did not come whole, Errc::protocol_violated, Errc::local_write_failed
void async_download(boost::asio::io_context& io, FtpUrl from, std::string to, TransferOptions options,
                    TransferHandler handler);
/// A range is of the local file, and goes to the same place in the remote one. `from` outlives the transfer.
/// errors (to the handler): as of async_download(), and Errc::local_read_failed
void async_upload(boost::asio::io_context& io, const BlockStore& from, FtpUrl to, TransferOptions options,
                  TransferHandler handler);

}  // namespace udtcat::gridftp
