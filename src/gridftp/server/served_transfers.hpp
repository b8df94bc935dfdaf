// SPDX-License-Identifier: Apache-2.0
/// A client's transfers, as the server sees them: files it sends and stores, and listings.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>

#include <udtcat/result.hpp>

#include "files/byte_ranges.hpp"
#include "gridftp/coroutine/task.hpp"
#include "gridftp/dialogue/reply.hpp"
#include "gridftp/disk/published_files.hpp"
#include "gridftp/mode_e/block_sink.hpp"
#include "gridftp/server/checksum_request.hpp"
#include "gridftp/server/client_log.hpp"
#include "gridftp/server/limited_place.hpp"
#include "gridftp/server/listing.hpp"
#include "gridftp/server/service.hpp"
#include "gridftp/server/transfer_markers.hpp"
#include "gridftp/server/transfer_parameters.hpp"

namespace udtcat::gridftp {

/// The control connection, as far as transfers need it.
struct ControlCallbacks {
  SendReply send_reply;
  std::function<Status()> look;  ///< whether it still stands at this moment.  errors: why not
};

/// Payload moved, of files and listings.
struct ByteCounts {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  ByteCounts& operator+=(const ByteCounts& more) {
    sent += more.sent;
    received += more.received;
    return *this;
  }
};

/// Each command gives the reply to it. Paths are the peer's, from the root.
/// Threads: confined to the io_context thread; one call at a time, but for cancel() and counts.
class ServedTransfers {
 public:
  ServedTransfers(boost::asio::io_context& io, std::shared_ptr<Service> service, const Quota& quota,
                  const ControlEnds& ends, ControlCallbacks control);

  /// Before all others: what the client has of the root is all that it sees from now on. Touches the disk.
  /// errors: those of ServedRoot::below()
  [[nodiscard]] Status enter(const tool::PeerPlace& place);

  [[nodiscard]] TransferParameters& parameters() { return parameters_; }

  // Of the next transfer.  spec: docs/spec/gridftp.md §5
  /// REST
  [[nodiscard]] Reply restart_at(const std::string& ranges);
  [[nodiscard]] Reply allocate(const std::string& bytes);

  /// SITE UPLOAD: names the file that the next upload comes from, by any line that differs where the file does.
  [[nodiscard]] Reply name_source(const std::string& source);
  /// SITE HAVE: the bytes of a file that has not come whole, which a client may leave out.
  [[nodiscard]] Task<Reply> stored_ranges(std::string path) const;

  [[nodiscard]] Task<Reply> retrieve(std::string path, std::optional<files::ByteRange> part);
  /// at   of the file that is there, in place; none: a new file, or the rest of one by REST
  [[nodiscard]] Task<Reply> store(std::string path, std::optional<std::uint64_t> at);
  /// APPE: to the file that is there, else to what an upload that was cut has left of it.
  [[nodiscard]] Task<Reply> append(std::string path);
  /// path   or, behind a directory, a pattern.  above   as the client has written that directory
  [[nodiscard]] Task<Reply> list(std::string path, ListingFormat form, std::string above = {});
  /// STAT: the same lines in the reply.
  [[nodiscard]] Task<Reply> status_of(std::string path) const;
  [[nodiscard]] Task<Reply> checksum(ChecksumRequest request);

  void cancel(const Error& why);
  void end(const Error& why);
  [[nodiscard]] bool is_busy() const { return busy_; }
  [[nodiscard]] ByteCounts moved() const { return {sent_bytes_, *received_bytes_}; }
  /// Grows as long as something is done for the client.
  [[nodiscard]] std::uint64_t done_bytes() const { return sent_bytes_ + *received_bytes_ + summed_bytes_; }
  [[nodiscard]] const ServedRoot& root() const { return place_.root(); }
  /// The contiguous bytes that an interrupted upload has left of a file that does not exist: APPE resumes behind them.
  /// Touches the disk.
  [[nodiscard]] std::uint64_t partial_bytes(const std::string& path) const;
  [[nodiscard]] const ClientLog& log() const { return log_; }
  /// The client was told partial_bytes(): APPE resumes there only.
  void note_told(std::string path, std::uint64_t partial_bytes) { told_ = {std::move(path), partial_bytes}; }
  /// RNFR and RNTO. Touches the disk.  errors: those of LimitedPlace::rename()
  [[nodiscard]] Status rename(const std::string& from, const std::string& to);
  /// MKD.  errors: those of LimitedPlace::make_directory(); that of cancel()
  [[nodiscard]] Task<Status> make_directory(std::string path);
  /// DELE and RMD.
  [[nodiscard]] const LimitedPlace& place() const { return place_; }

 private:
  struct StoreParameters;
  struct Incoming;
  class BusyGuard;
  [[nodiscard]] Result<Incoming> open_incoming(const std::string& path, std::optional<std::uint64_t> at,
                                               const StoreParameters& parameters);
  [[nodiscard]] Task<Result<Incoming>> open_with_room(const std::string& path, std::optional<std::uint64_t> at,
                                                      StoreParameters& parameters);
  [[nodiscard]] bool is_whole_file(const std::string& path, const StoreParameters& parameters) const;
  /// Cancels the transfer, as long as the watch lives, where the peer lets nothing move for too long.
  [[nodiscard]] StallTimer stall_timer(std::function<bool()> waits_for_disk);
  [[nodiscard]] Task<Status> receive(const Incoming& incoming);
  [[nodiscard]] Task<Status> publish(const std::string& path, bool in_place, const Incoming& incoming);
  [[nodiscard]] Task<Status> send(SendRequest request);
  /// Sends the reply 125 or 150.  errors: that of cancel(), where the transfer was cancelled meanwhile
  [[nodiscard]] Task<Status> announce(const std::string& path);

  boost::asio::io_context& io_;
  std::pair<std::string, std::uint64_t> told_;  // see note_told()
  const std::shared_ptr<Service> service_;
  std::optional<Error> over_;       // all that might follow
  std::optional<Error> cancelled_;  // the transfer under way
  LimitedPlace place_{io_, service_->root, cancelled_};
  const ServeOptions& options_ = service_->options;
  const ControlCallbacks control_;
  PublishedFiles published_;  // by this client, since it came
  TransferParameters parameters_;
  DataPath& path_ = parameters_.path();
  const std::chrono::milliseconds stall_timeout_;
  const bool is_anonymous_;
  const std::string client_name_;  // for messages
  const ClientLog log_;
  files::ByteRanges restart_;               // for the next transfer
  std::optional<std::uint64_t> allocated_;  // for the next transfer
  std::string source_;                      // of the next upload
  bool busy_ = false;
  std::uint64_t sent_bytes_ = 0;
  std::uint64_t summed_bytes_ = 0;  // by checksum()
  const std::shared_ptr<std::uint64_t> received_bytes_ = std::make_shared<std::uint64_t>(0);
};

}  // namespace udtcat::gridftp
