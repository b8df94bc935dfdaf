/// A server that we are logged in at, and the data connections between it and us.  spec: docs/spec/gridftp.md §4
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <udtcat/result.hpp>

#include "gridftp/client/control_client.hpp"
#include "gridftp/client/transfer.hpp"
#include "gridftp/coroutine/task.hpp"
#include "gridftp/mode_e/data_path.hpp"

namespace udtcat::gridftp {

class RemoteServer;
/// Has `server` be one that serves `url`: the one that is there, or a new one in its place.  errors: those of log_in()
[[nodiscard]] Task<Status> be_at(boost::asio::io_context& io, std::unique_ptr<RemoteServer>& server, FtpUrl url,
                                 TransferOptions options);

/// Is told of what a server says it has.
using MarkerHandler = std::function<void(const ByteRanges&)>;

/// Threads: confined to the io_context thread; one call at a time.
class RemoteServer {
 public:
  /// Connects, logs in, and agrees on bytes, blocks and what the data run over.
  /// errors: those of ControlClient, Errc::authentication_failed, Errc::stream_refused
  [[nodiscard]] static Task<Result<std::unique_ptr<RemoteServer>>> log_in(boost::asio::io_context& io, FtpUrl url,
                                                                          TransferOptions options);

  [[nodiscard]] ControlClient& control() { return *control_; }
  [[nodiscard]] DataPath& path() { return path_; }
  /// It speaks MODE E. Otherwise it is a plain FTP server: one connection, which is the file.
  [[nodiscard]] bool has_blocks() const { return has_blocks_; }
  /// Whether jobs with this URL are jobs for this server.
  [[nodiscard]] bool serves(const FtpUrl& url) const;

  /// None where it does not know, as of a device.  errors: Errc::protocol_violated, those of ControlClient
  [[nodiscard]] Task<Result<std::optional<std::uint64_t>>> size_of(std::string path);
  /// When the file was last changed, as the server writes it; empty where it does not say.
  [[nodiscard]] Task<Result<std::string>> time_of(std::string path);
  /// PORT or SPOR: it connects to us, from whatever host its data are at.  stripes   0: PORT
  [[nodiscard]] Task<Status> call_us(std::size_t stripes);
  /// PASV or SPAS: we connect to it, or somebody else does.
  [[nodiscard]] Task<Result<std::vector<Endpoint>>> ask_where(bool striped);
  /// What of a file that did not come whole it still has; none: it is not a server of ours, and does not say.
  /// source   names the local file, for the next STOR too: what it has of another one does not count
  [[nodiscard]] Task<Result<std::optional<ByteRanges>>> has_of(std::string path, std::string source);
  /// REST, where there is something to leave out.
  [[nodiscard]] Task<Status> leave_out(const ByteRanges& have);
  /// Sends a command that begins a transfer. The last reply to it goes to `done`; where that is no success, what path() is
  /// doing ends with it.
  [[nodiscard]] Task<Status> begin(std::string command, ControlConnection::Moved moved, MarkerHandler markers,
                                   std::shared_ptr<Promise<Status>> done);
  /// A server that has not said how the transfer ended has a few seconds more.
  void hear_last_word();
  /// Ends the control connection as soon as `other` has failed, which this one cannot know.
  void end_with(std::shared_ptr<Promise<Status>> other);
  /// Says goodbye. Nothing comes of it if that fails.
  [[nodiscard]] Task<void> quit();

 private:
  RemoteServer(boost::asio::io_context& io, std::unique_ptr<ControlClient> control, FtpUrl url,
               const TransferOptions& options)
      : io_(io),
        control_(std::move(control)),
        url_(std::move(url)),
        patience_(options.patience),
        last_word_(io),
        path_(io, make_stack(io, options.data)) {}
  void watch_the_rest(ControlConnection::Moved moved);
  [[nodiscard]] Task<Status> agree(const TransferOptions& options);
  [[nodiscard]] Task<Status> agree_on_data(const DataOptions& data);

  boost::asio::io_context& io_;
  std::shared_ptr<DataStack> control_stack_;      // of udtcat://: has to live as long as the control connection
  const std::shared_ptr<ControlClient> control_;  // shared with begin()'s coroutine
  const FtpUrl url_;
  const std::chrono::milliseconds patience_;
  bool keeps_journals_ = true;  // until it says that it does not
  bool has_blocks_ = true;
  boost::asio::steady_timer last_word_;  // of a transfer whose end one side has not seen yet
  DataPath path_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::gridftp
