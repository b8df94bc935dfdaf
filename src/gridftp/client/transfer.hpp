// SPDX-License-Identifier: Apache-2.0
/// Gets, puts and copies files: our end of transfers with FTP servers that speak MODE E. See docs/spec/gridftp.md §4.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <udtcat/endpoint.hpp>
#include <udtcat/local_stream.hpp>
#include <udtcat/options.hpp>
#include <udtcat/result.hpp>

#include "files/byte_ranges.hpp"
#include "files/file_tree.hpp"
#include "gridftp/coroutine/task.hpp"
#include "gridftp/dialogue/url.hpp"
#include "gridftp/disk/published_files.hpp"
#include "gridftp/mode_e/block_header.hpp"
#include "gridftp/mode_e/data_stack.hpp"

namespace udtcat::gridftp {

struct TransferOptions {
  std::size_t parallelism = 1;            ///< data connections to each address
  std::size_t stripes = 0;                ///< addresses of ours that a striped server may send to; 0: not striped
  std::optional<files::ByteRange> range;  ///< which bytes of the source; none: all
  std::size_t block_bytes = kDefaultModeEBlockBytes;
  std::chrono::milliseconds timeout{60'000};  ///< silence of the server after which it is lost
  /// guess: the same before it begins a transfer, or has made a directory: a robot fetches a tape, all of a file is
  /// summed up, or all of a directory counted. A host that is gone is noticed by the probes of its connection.
  std::chrono::milliseconds begin_timeout{std::chrono::hours(1)};
  std::optional<Endpoint> data_address;  ///< of this host, as PORT says it; none: as the control connection has it
  std::size_t retries = 5;               ///< in a row that move nothing
  std::chrono::milliseconds retry_pause{1'000};
  DataOptions data;
};

struct TransferRequest {
  FtpUrl remote;
  std::string path;                               ///< the local file
  std::unique_ptr<LocalStream> pipe{};            ///< takes its place, where there is one
  std::shared_ptr<const files::FileTree> tree{};  ///< `path` is in it; none: as every program of the user sees it
  std::shared_ptr<PublishedFiles> published{};    ///< what came before it in the same transfer; none: nothing is kept
};

struct TransferProgress {
  /// An attempt at a file begins.
  /// size_bytes   of the wanted part; none: unknown.  there_bytes   of it, that are there and need not be moved
  void begin_attempt(std::optional<std::uint64_t> size_bytes, std::uint64_t there_bytes) {
    file_bytes = size_bytes;
    kept_bytes = there_at_begin = there_bytes;
    moved_at_begin = bytes;
  }
  /// The bytes of the present file that are at the target.
  [[nodiscard]] std::uint64_t done_bytes() const { return there_at_begin + bytes - moved_at_begin; }

  std::uint64_t bytes = 0;                    ///< of payload moved since the start, but for what comes again
  std::uint64_t kept_bytes = 0;               ///< of the file under way, that need not be moved again
  std::uint64_t resumed_bytes = 0;            ///< that were there already
  std::uint64_t files = 0;                    ///< that are complete
  std::optional<std::uint64_t> file_bytes{};  ///< of the file under way; none: nobody knows
  std::uint64_t there_at_begin = 0;           ///< of the attempt under way
  std::uint64_t moved_at_begin = 0;           ///< `bytes`, then
};

class RemoteServer;
using SharedProgress = std::shared_ptr<TransferProgress>;

/// Files one after the other; those of one server share its control connection, and their data connections where that
/// can be. A local file has its name when it is whole; until then it is FILE.part, which a later call goes on with.
/// server   where we are logged in already; null: nowhere
/// errors: Errc::cannot_resolve, Errc::cannot_reach, Errc::stream_refused with what the server said,
/// Errc::connection_broken for a file that did not come whole, Errc::protocol_violated, Errc::local_write_failed
[[nodiscard]] Task<Status> download_all(boost::asio::io_context& io, std::vector<TransferRequest> requests,
                                        TransferOptions options, SharedProgress progress,
                                        std::unique_ptr<RemoteServer> server);
/// A range is of the local file, and goes to the same place in the remote one.
/// errors: as of download_all(), and Errc::local_read_failed
[[nodiscard]] Task<Status> upload_all(boost::asio::io_context& io, std::vector<TransferRequest> requests,
                                      TransferOptions options, SharedProgress progress,
                                      std::unique_ptr<RemoteServer> server);
/// All that is in the directory `from` of a server goes into the local directory `into`, which is made where it is not
/// there; nothing is written elsewhere. Symbolic links and special files are passed over with a warning. Names that FTP
/// cannot carry are missing, and at the end an error.
/// errors: as of download_all(), and Errc::protocol_violated for a listing that cannot be, or has
/// more than a client takes; Errc::stream_refused where all has come but what FTP cannot carry
[[nodiscard]] Task<Status> download_tree(boost::asio::io_context& io, FtpUrl from, std::string into,
                                         TransferOptions options, SharedProgress progress);
/// The other way; journals of earlier uploads are left out.
/// errors: as of upload_all(), and Errc::stream_refused likewise
[[nodiscard]] Task<Status> upload_tree(boost::asio::io_context& io, std::string from, FtpUrl into,
                                       TransferOptions options, SharedProgress progress);
/// From one server to the other, whose programs meet by themselves. A key is for them to have.
/// errors: as of download_all()
[[nodiscard]] Task<Status> copy(boost::asio::io_context& io, FtpUrl from, FtpUrl to, TransferOptions options,
                                SharedProgress progress);

}  // namespace udtcat::gridftp
