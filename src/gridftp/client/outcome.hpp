// SPDX-License-Identifier: Apache-2.0
/// The outcome of a transfer, from its data and its control connection, and whether it is tried again.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <udtcat/result.hpp>

#include "gridftp/client/remote_server.hpp"
#include "gridftp/client/transfer.hpp"
#include "gridftp/coroutine/task.hpp"
#include "lib/core/try.hpp"

namespace udtcat::gridftp {

/// Behind the name of a file that is put: the journal of that.  spec: docs/spec/gridftp.md §5
inline constexpr const char* kSentSuffix = ".sent";

/// Waits for the server's final reply after the data have come to their end, well or not. The server's reason counts
/// more than ours.
/// data   how the data ended
[[nodiscard]] Task<Status> outcome_of(RemoteServer& server, Status data, std::shared_ptr<Promise<Status>> final_reply);

[[nodiscard]] ControlConnection::Moved counter_of(SharedProgress progress);
/// For transfers that are not resumed.
[[nodiscard]] MarkerHandler ignore_markers();

/// The server refused because of the file: it does not exist, no space, no permission.  spec: RFC 959 §4.2.1: 55x
[[nodiscard]] bool is_final(const Error& error);

/// Whether a transfer that moved nothing may have failed because the server cannot, or will not, connect to us.
[[nodiscard]] bool may_not_reach_us(const Error& error);

/// Whether a server that could not connect to us for one file may well do so for the next.
[[nodiscard]] bool may_reach_us_next_time(const Error& error);

/// Whether the same transfer may well succeed the next time.
/// moved   whether this attempt got as far as moving bytes
[[nodiscard]] bool is_cut(const Error& error, bool moved);

/// Runs `attempt` until it succeeds, fails by something else than a cut, or has got no further for options.retries
/// times in a row.
/// Threads: runs on the io_context thread.
[[nodiscard]] Task<Status> with_retries(boost::asio::io_context& io, TransferOptions options, SharedProgress progress,
                                        std::function<Task<Status>()> attempt);

inline constexpr std::size_t kMaxMessageBytes = 8'192;  // guess: a path of PATH_MAX twice
inline constexpr std::size_t kMostNamed = 100;          // guess: lines that somebody reads

/// Whether this error is about one file or directory only, so that the transfer goes on with the others; exceeded
/// storage (552) is not.
/// was_last   the last attempt: a file that is busy (450) is skipped, too
[[nodiscard]] bool is_of_one(const Error& error, bool was_last = false);

/// Files or directories that were refused, or could not be read, while the others of the same transfer went on.
/// Threads: unsynchronised.
class FailedFiles {
 public:
  void add(const Error& why);
  /// Counts one without a reason of its own.
  void add_silently() { ++count_; }
  /// all   that there are, "files" or "directories".  errors: with the code of the first: how many are missing
  [[nodiscard]] Status check(std::size_t all, std::string_view nouns) const;

 private:
  std::size_t count_ = 0;
  std::size_t added_ = 0;  // of those, with a reason of their own
  Errc first_{};
};

/// Transfers files one after the other; those of one server share its control connection. A file that the server
/// refuses, or that cannot be read here, holds up none of the others.
/// FileTransfer   Download or Upload: one file, by attempt(), and conclude() with the last attempt's outcome
template <typename FileTransfer>
[[nodiscard]] Task<Status> transfer_all(boost::asio::io_context& io, std::vector<TransferRequest> requests,
                                        TransferOptions options, SharedProgress progress,
                                        std::unique_ptr<RemoteServer> server) {
  const auto published = std::make_shared<PublishedFiles>();
  FailedFiles failed;
  Status ended;
  for (TransferRequest& request : requests) {
    const FtpUrl url = request.remote;
    const bool is_alone = requests.size() == 1 || request.pipe != nullptr;
    request.published = published;
    FileTransfer file(io, std::move(request), options, progress);
    bool is_of_file = false;  // and not of the login
    const auto attempt = [&]() -> Task<Status> {
      is_of_file = false;
      UDTCAT_CO_CHECK(co_await ensure_logged_in(io, server, url, options));
      is_of_file = true;
      const std::uint64_t before = server->path().moved_bytes();
      auto status = co_await file.attempt(*server);
      const bool was_refused = !status && is_final(status.error()) && server->path().moved_bytes() == before;
      if (!status && (!was_refused || !server->forget_transfer())) server.reset();
      co_return status;
    };
    auto status = co_await with_retries(io, options, progress, attempt);
    ended = co_await file.conclude(std::move(status));
    if (ended) continue;
    if (is_alone || !is_of_file || !is_of_one(ended.error(), true)) break;
    failed.add(ended.error());
    ended = {};
  }
  if (server) co_await server->quit();
  co_return ended ? failed.check(requests.size(), "files") : ended;
}

/// The local file of a request.  errors: as said by `code`
[[nodiscard]] Result<files::FileLocation> location_of_request(const TransferRequest& request, Errc code);

}  // namespace udtcat::gridftp
