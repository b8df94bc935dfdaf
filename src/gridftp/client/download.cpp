// SPDX-License-Identifier: Apache-2.0
/// download_all().
#include <utility>

#include <fmt/format.h>
#include <boost/asio/co_spawn.hpp>

#include "gridftp/client/outcome.hpp"
#include "gridftp/client/remote_server.hpp"
#include "gridftp/client/stored_file.hpp"
#include "gridftp/client/transfer.hpp"
#include "gridftp/disk/disk_threads.hpp"
#include "gridftp/mode_e/block_sink.hpp"
#include "gridftp/mode_e/stream_mode.hpp"
#include "lib/core/log.hpp"
#include "lib/core/printable.hpp"
#include "lib/core/try.hpp"

namespace udtcat::gridftp {

namespace {

/// One file on its way, over as many attempts as it takes.
/// Threads: confined to the io_context thread.
class Download {
 public:
  Download(boost::asio::io_context& io, TransferRequest request, const TransferOptions& options,
           SharedProgress progress)
      : io_(io), request_(std::move(request)), options_(options), progress_(std::move(progress)) {
    if (request_.pipe) pipe_ = std::make_shared<PipeSink>(io_, std::move(request_.pipe), 0);
  }

  [[nodiscard]] Task<Status> attempt(RemoteServer& server);
  [[nodiscard]] Task<Status> conclude(Status outcome);

 private:
  [[nodiscard]] Task<Status> publish();
  [[nodiscard]] Task<Status> forget(Error why);
  [[nodiscard]] Task<Status> check_version(RemoteServer& server);
  [[nodiscard]] Status open_file(bool has_time);
  [[nodiscard]] Task<Status> receive(RemoteServer& server);
  [[nodiscard]] Task<Status> receive_blocks(RemoteServer& server);
  [[nodiscard]] Task<Status> receive_stream(RemoteServer& server);
  [[nodiscard]] std::shared_ptr<BlockSink> sink() const;

  boost::asio::io_context& io_;
  TransferRequest request_;
  const TransferOptions options_;
  const SharedProgress progress_;
  std::optional<files::ByteRange> expected_;  // as offsets go on the wire
  files::ByteRanges have_;
  std::string identity_;  // of the remote file at the first attempt
  std::shared_ptr<PipeSink> pipe_;
  std::shared_ptr<FileSink> file_;
  std::optional<Error> unreachable_;  // why the server could not connect to us
};

/// Asks for the remote file's version, which has to be that of the first attempt; opens the local file then.
Task<Status> Download::check_version(RemoteServer& server) {
  const std::string doing = "get " + request_.remote.to_string();
  if (identity_.empty())
    UDTCAT_CO_CHECK(co_await check_name(server, request_.remote.path, Errc::remote_read_failed, doing));
  UDTCAT_CO_TRY(const auto version, co_await server.version_of(request_.remote.path));
  const auto& size = version.size;
  if (options_.range && size && options_.range->end > *size)
    co_return fail(
        Errc::bad_argument,
        fmt::format("get bytes {} to {} of {}", options_.range->begin, options_.range->end, request_.remote.path),
        fmt::format("it has {}", *size));
  if (options_.range)
    expected_ = files::ByteRange{0, options_.range->bytes()};
  else if (size)
    expected_ = files::ByteRange{0, *size};
  const std::string identity =
      fmt::format("{} {} {}", request_.remote.to_string(), size ? std::to_string(*size) : "-", version.changed);
  const bool first = identity_.empty();
  if (!first && identity != identity_)
    co_return fail(Errc::remote_read_failed, doing, "it has changed meanwhile; the next call begins anew");
  identity_ = identity;
  if (!first || pipe_) co_return Status{};
  auto opened = co_await on_disk(io_, [this, has_time = !version.changed.empty()] { return open_file(has_time); });
  if (!have_.empty()) {
    progress_->resumed_bytes += have_.bytes();
    core::log().info("going on with {}: {} of {} bytes are here", core::printable(request_.path, core::kShownBytes),
                     have_.bytes(), expected_->end);
  }
  co_return opened;
}

/// Runs on a disk thread. A part that an earlier call left is gone on with, if both ends can tell that it belongs to
/// the same file.
Status Download::open_file(bool has_time) {
  UDTCAT_TRY(const auto location, location_of_request(request_, Errc::local_write_failed));
  if (request_.published) UDTCAT_CHECK(request_.published->may_replace(location, request_.remote.to_string()));
  UDTCAT_TRY(auto store, BlockStore::open_to_write(location));
  if (request_.published && store.ignores_case())
    if (auto beside = request_.published->may_stand_beside(location, request_.remote.to_string()); !beside) {
      store.discard();
      return beside;
    }
  std::optional<RestartJournal> journal;
  if (store.size() && expected_ && !options_.range && has_time) {
    journal = store.journal(identity_);
    if (journal) have_ = journal->load().value_or(files::ByteRanges());
    if (store.size() < have_.end()) have_ = {};
  }
  file_ = std::make_shared<FileSink>(io_, std::move(store), have_, std::move(journal));
  return {};
}

std::shared_ptr<BlockSink> Download::sink() const {
  std::shared_ptr<BlockSink> to = file_;
  if (pipe_) to = pipe_;
  return std::make_shared<CountingSink>(std::move(to),
                                        [progress = progress_](std::size_t bytes) { progress->bytes += bytes; });
}

Task<Status> Download::receive_blocks(RemoteServer& server) {
  DataPath& path = server.path();
  if (path.role() != DataPath::Role::passive || !path.has_kept())
    UDTCAT_CO_CHECK(co_await server.announce_ports(options_.stripes));
  UDTCAT_CO_CHECK(co_await server.send_restart(have_));
  const auto done = std::make_shared<Promise<Status>>(io_);
  UDTCAT_CO_CHECK(co_await server.begin(retrieve_command(request_.remote.path, options_.range), counter_of(progress_),
                                        ignore_markers(), done));
  const bool anew = have_.empty();
  const auto moved = co_await path.receive(IncomingFile(expected_, have_, path.addresses()), sink());
  have_ = path.arrived();
  auto status = co_await outcome_of(server, moved, done);
  if (server.has_to_prove()) {
    const StatementRequest asked{Statement::Action::sent, request_.remote.path, options_.range, path.received_bytes()};
    if (status) status = co_await server.prove(asked, "get " + request_.remote.to_string(), anew);
    if (!status) status = co_await forget(status.error());
  }
  progress_->kept_bytes = have_.bytes();
  co_return status;
}

/// Drops all bytes received: they may be another version's.
Task<Status> Download::forget(Error why) {
  have_ = {};
  if (file_) co_await file_->forget();
  if (!pipe_ || !is_cut(why, true)) co_return tl::unexpected(std::move(why));
  co_return fail(Errc::remote_read_failed, why.what, why.cause + "; what a pipe has taken unproved cannot come again");
}

Task<Status> Download::receive_stream(RemoteServer& server) {
  if (options_.range && !server.has_mode_e())
    co_return fail(Errc::bad_argument, "get a range of " + request_.remote.to_string(),
                   "its server does not speak MODE E");
  UDTCAT_CO_CHECK(co_await server.aim_at_ports(false));
  UDTCAT_CO_CHECK(co_await server.send_restart(have_));
  const auto done = std::make_shared<Promise<Status>>(io_);
  UDTCAT_CO_CHECK(co_await server.begin(retrieve_command(request_.remote.path, options_.range), counter_of(progress_),
                                        ignore_markers(), done));
  const auto connection = co_await server.path().single();
  if (!connection) co_return co_await outcome_of(server, tl::unexpected(connection.error()), done);
  if (options_.data.statements == Statements::wanted && peer_statements(**connection) == Statements::made)
    co_return fail(
        Errc::parameters_refused, "get " + request_.remote.to_string(),
        "its server cannot connect to us, and what we connect for it cannot prove: udtcat:// has all sealed");
  const auto to = sink();
  const auto moved =
      co_await server.path().alone(*connection, receive_stream_mode(**connection, *to, have_, expected_));
  if (moved) std::ignore = co_await (*connection)->finish();  // which the server may wait for
  progress_->kept_bytes = have_.bytes();
  co_return co_await outcome_of(server, moved, done);
}

Task<Status> Download::attempt(RemoteServer& server) {
  UDTCAT_CO_CHECK(co_await check_version(server));
  progress_->begin_attempt(expected_ ? std::optional(expected_->bytes()) : std::nullopt, have_.bytes());
  UDTCAT_CO_CHECK(co_await receive(server));
  co_return co_await check_version(server);  // whether it still is what it was
}

/// In MODE E the server connects to us, which a NAT or a firewall on our side may prevent.
Task<Status> Download::receive(RemoteServer& server) {
  if (!unreachable_) UDTCAT_CO_CHECK(co_await server.use_mode_e());
  if (server.in_mode_e() && !unreachable_) {
    const std::uint64_t before = server.path().moved_bytes();
    auto received = co_await receive_blocks(server);
    if (received) server.mode_e_worked();
    if (received || server.path().moved_bytes() != before || !may_not_reach_us(received.error())) co_return received;
    unreachable_ = received.error();
    if (unreachable_->code != Errc::stream_refused) co_return received;  // the control connection has gone, too
  }
  if (server.in_mode_e()) {
    UDTCAT_CO_CHECK(co_await server.use_mode_s());
    server.mode_e_failed(*unreachable_, !may_reach_us_next_time(*unreachable_));
  }
  co_return co_await receive_stream(server);
}

Task<Status> Download::publish() {
  ++progress_->files;
  if (pipe_) co_return co_await pipe_->finish();
  auto published = co_await file_->publish();
  if (!published || !request_.published) co_return published;
  co_return co_await on_disk(io_, [this]() -> Status {
    UDTCAT_TRY(const auto location, location_of_request(request_, Errc::local_write_failed));
    request_.published->note(location, request_.remote.to_string());
    return {};
  });
}

Task<Status> Download::conclude(Status outcome) {
  if (outcome) outcome = co_await publish();
  if (!outcome && file_) co_await file_->set_aside();
  co_return outcome;
}

}  // namespace

Task<Status> download_all(boost::asio::io_context& io, std::vector<TransferRequest> requests, TransferOptions options,
                          SharedProgress progress, std::unique_ptr<RemoteServer> server) {
  return transfer_all<Download>(io, std::move(requests), std::move(options), std::move(progress), std::move(server));
}

}  // namespace udtcat::gridftp
