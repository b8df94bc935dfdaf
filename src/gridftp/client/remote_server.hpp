// SPDX-License-Identifier: Apache-2.0
/// A server that we are logged in at, and the data connections between it and us.  spec: docs/spec/gridftp.md §4
#pragma once

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
[[nodiscard]] Task<Status> ensure_logged_in(boost::asio::io_context& io, std::unique_ptr<RemoteServer>& server,
                                            FtpUrl url, TransferOptions options);

using MarkerHandler = std::function<void(const files::ByteRanges&)>;

/// RETR, or ERET where `range` says which part.
[[nodiscard]] std::string retrieve_command(const std::string& path, const std::optional<files::ByteRange>& range);
/// STOR, or ESTO where `range` says which part.
[[nodiscard]] std::string store_command(const std::string& path, const std::optional<files::ByteRange>& range);

/// Threads: confined to the io_context thread; one call at a time.
class RemoteServer {
 public:
  /// Connects, logs in, and agrees on bytes, blocks and what the data run over.
  /// errors: those of ControlClient, Errc::authentication_failed, Errc::stream_refused
  [[nodiscard]] static Task<Result<std::unique_ptr<RemoteServer>>> log_in(boost::asio::io_context& io, FtpUrl url,
                                                                          TransferOptions options);

  [[nodiscard]] ControlClient& control() { return *control_; }
  [[nodiscard]] DataPath& path() { return path_; }
  [[nodiscard]] boost::asio::io_context& io() { return io_; }
  /// The server has MODE E. Otherwise it is a plain FTP server, in stream mode.
  [[nodiscard]] bool has_mode_e() const { return mode_e_ != ModeE::absent; }
  /// The server is in MODE E. Otherwise we connect for downloads, too.
  [[nodiscard]] bool in_mode_e() const { return mode_e_ == ModeE::on; }
  /// MODE E for the next file, where the server speaks it and it has not failed too often.
  /// errors: those of ControlClient, Errc::stream_refused where the data are not to run over TCP
  [[nodiscard]] Task<Status> use_mode_e();
  /// errors: those of ControlClient
  [[nodiscard]] Task<Status> use_mode_s();
  /// A transfer in MODE E failed; the server is in stream mode now.
  /// for_good   MODE E is not tried again; otherwise it is, up to kMaxModeEFailures in a row
  void mode_e_failed(const Error& why, bool for_good);
  void mode_e_worked() { mode_e_failures_ = 0; }
  /// errors: Errc::stream_refused where the server has MODE E, and refused it this time
  [[nodiscard]] Status mode_e_refusal() const;
  [[nodiscard]] bool serves(const FtpUrl& url) const;

  /// SIZE and MDTM: what tells one content of a file from another.
  struct FileVersion {
    std::optional<std::uint64_t> size;  ///< none: the server does not know it, as of a device
    std::string changed;                ///< as the server writes it; empty: it does not say
    friend bool operator==(const FileVersion&, const FileVersion&) = default;
  };
  /// errors: Errc::protocol_violated, those of ControlClient
  [[nodiscard]] Task<Result<FileVersion>> version_of(std::string path);
  /// SIZE; none where the server does not know it.  errors: Errc::protocol_violated, those of ControlClient
  [[nodiscard]] Task<Result<std::optional<std::uint64_t>>> size_of(std::string path);
  /// PORT, EPRT or SPOR with ports of ours: the server connects to us, from whatever host its data are at.
  /// stripes   0: not SPOR.  errors: also Errc::bad_argument for stripes over IPv6
  [[nodiscard]] Task<Status> announce_ports(std::size_t stripes);
  /// PASV, EPSV or SPAS: ports of the server, as another server may use them.  errors: likewise
  [[nodiscard]] Task<Result<std::vector<Endpoint>>> ask_ports(bool striped);
  /// The same, for path().  errors: also those of reachable_port()
  [[nodiscard]] Task<Status> aim_at_ports(bool striped);
  /// SITE HAVE: the ranges that the server keeps of an upload that was cut; none: it is not a server of ours, and does
  /// not say.
  /// source   names the local file, for the next STOR too: ranges of another one do not count
  [[nodiscard]] Task<Result<std::optional<files::ByteRanges>>> received_ranges(std::string path, std::string source);
  [[nodiscard]] Task<Status> send_restart(const files::ByteRanges& have);
  /// Sends a command that begins a transfer. The last reply to it goes to `done`; where that is no success, what path()
  /// is doing ends with it.
  [[nodiscard]] Task<Status> begin(std::string command, ControlConnection::Moved moved, MarkerHandler markers,
                                   std::shared_ptr<Promise<Status>> done);
  /// The server's words at the end of the last transfer.
  [[nodiscard]] const std::string& last_words() const { return last_words_; }
  /// Whether a transfer on these data connections has to be proved: we want that, and the server makes statements.
  [[nodiscard]] bool has_to_prove() const { return wants_statements() && path_.peer_states(); }
  /// After such a transfer: whether the server did what was asked for, as it says itself in the session.
  /// doing   for messages.  whole   no earlier transfer has moved a part of the file, which would be unproved
  /// errors: Errc::protocol_violated, those of DataPath::receive_statement(); Errc::connection_broken where it was not
  /// whole
  [[nodiscard]] Task<Status> prove(StatementRequest asked, std::string doing, bool whole);
  /// Closes the control connection unless the final reply comes within a few seconds.
  void await_last_reply();
  /// Closes the control connection as soon as `other`, the other server's transfer, has failed.
  void close_if_fails(std::shared_ptr<Promise<Status>> other);
  /// After a refused transfer that moved nothing: ends its data connections. returns  whether another may follow: the
  /// server is still there, and no REST was sent, which could apply to that one
  [[nodiscard]] bool forget_transfer();
  /// QUIT. A failure changes nothing, and an answer is awaited for a few seconds only.
  [[nodiscard]] Task<void> quit();

 private:
  RemoteServer(boost::asio::io_context& io, std::unique_ptr<ControlClient> control, FtpUrl url, TransferOptions options)
      : io_(io),
        control_(std::move(control)),
        url_(std::move(url)),
        options_(std::move(options)),
        end_timer_(io),
        path_(io, make_stack(io, data_of(*control_, options_.data))) {}
  /// Data sessions are with the server itself.
  [[nodiscard]] static DataOptions data_of(const ControlClient& control, DataOptions data) {
    data.only_peer = control.peer_key();
    return data;
  }
  [[nodiscard]] bool wants_statements() const { return options_.data.statements == Statements::wanted; }
  void expect_data_to_move(ControlConnection::Moved moved);
  [[nodiscard]] Task<Status> agree();
  [[nodiscard]] Task<Status> agree_on_data();
  [[nodiscard]] Task<Status> agree_on_stack();

  /// untried ── accepted ──► on ◄── MODE E ── MODE S ──► off
  ///    ├── refused for good ──► absent
  ///    └── or from off: failed for good, or kMaxModeEFailures times in a row ──► given_up
  enum class ModeE { untried, on, off, given_up, absent };

  boost::asio::io_context& io_;
  std::shared_ptr<DataStack> control_stack_;      // of udtcat://: has to live as long as the control connection
  const std::shared_ptr<ControlClient> control_;  // shared with begin()'s coroutine
  const FtpUrl url_;
  const TransferOptions options_;
  bool keeps_journals_ = true;  // until it says that it does not
  ModeE mode_e_ = ModeE::untried;
  std::size_t mode_e_failures_ = 0;  // in a row
  Error mode_e_failure_;             // the last one
  std::string last_words_;
  bool may_restart_ = false;             // REST was sent for the transfer that is next, or under way
  boost::asio::steady_timer end_timer_;  // of a transfer whose end either the data or the reply have not shown yet
  DataPath path_;
  core::Lifetime lifetime_;
};

}  // namespace udtcat::gridftp
