// SPDX-License-Identifier: Apache-2.0
/// upload_all().
#include <utility>

#include <fmt/format.h>
#include <boost/asio/co_spawn.hpp>

#include "gridftp/client/outcome.hpp"
#include "gridftp/client/remote_server.hpp"
#include "gridftp/client/stored_file.hpp"
#include "gridftp/client/transfer.hpp"
#include "gridftp/disk/disk_threads.hpp"
#include "gridftp/disk/restart_journal.hpp"
#include "gridftp/mode_e/block_source.hpp"
#include "gridftp/mode_e/stream_mode.hpp"
#include "lib/core/log.hpp"
#include "lib/core/try.hpp"

namespace udtcat::gridftp {

namespace {

constexpr int kMostSentNames = 9;  // guess: a user who has more of them means it

/// The journal of an upload to a server that keeps none: the restart markers it sent, written on the disk threads, one
/// by one.
/// Threads: confined to the io_context thread.
class SentJournal {
 public:
  SentJournal(boost::asio::io_context& io, RestartJournal journal) : io_(io), journal_(std::move(journal)), free_(io) {}

  [[nodiscard]] Task<files::ByteRanges> load() {
    co_return co_await on_disk(io_, [this] { return journal_.load().value_or(files::ByteRanges()); });
  }
  /// A directory that we may not write to is no error: without a journal the next call starts from the beginning.
  [[nodiscard]] Task<void> save(files::ByteRanges have) {
    next_ = std::move(have);
    if (std::exchange(busy_, true)) co_return;  // the call that writes takes this one too
    while (next_) {
      const files::ByteRanges now = *std::exchange(next_, std::nullopt);
      std::ignore = co_await on_disk(io_, [&] { return journal_.save(now); });
    }
    busy_ = false;
    free_.notify();
  }
  [[nodiscard]] Task<void> remove() {
    next_.reset();
    while (busy_) co_await free_.wait();
    co_await on_disk(io_, [this] { return journal_.remove(), true; });
  }

 private:
  boost::asio::io_context& io_;
  const RestartJournal journal_;
  std::optional<files::ByteRanges> next_;  // to be saved
  bool busy_ = false;
  AsyncCondition free_;
};

/// One file on its way, over as many attempts as it takes; a pipe can be read only once, and has one attempt.
/// Threads: confined to the io_context thread.
class Upload {
 public:
  Upload(boost::asio::io_context& io, TransferRequest request, const TransferOptions& options, SharedProgress progress)
      : io_(io),
        request_(std::move(request)),
        options_(options),
        progress_(std::move(progress)),
        from_pipe_(request_.pipe != nullptr) {}

  [[nodiscard]] Task<Status> attempt(RemoteServer& server);
  [[nodiscard]] static Task<Status> conclude(Status outcome) { co_return outcome; }

 private:
  struct Content {
    std::shared_ptr<BlockSource> source;
    std::optional<files::ByteRange> range;  // none: of unknown length
  };
  [[nodiscard]] Task<Result<Content>> open(RemoteServer& server);
  struct Opened {
    BlockStore file;
    std::optional<std::uint64_t> size;
    std::string source;  // its name as it is now
  };
  [[nodiscard]] Task<Result<Opened>> open_file();
  [[nodiscard]] Task<Status> try_once(RemoteServer& server);
  [[nodiscard]] bool has_read_pipe() const { return from_pipe_ && !request_.pipe; }
  [[nodiscard]] Task<Result<std::optional<RestartJournal>>> find_journal();
  [[nodiscard]] Task<Status> find_received(RemoteServer& server, files::ByteRange range);
  [[nodiscard]] Task<Status> send(RemoteServer& server, Content content);
  [[nodiscard]] Task<Status> check(RemoteServer& server, std::optional<files::ByteRange> range);
  [[nodiscard]] MarkerHandler markers();
  [[nodiscard]] SendRequest request_for(const Content& content) const;

  boost::asio::io_context& io_;
  TransferRequest request_;
  const TransferOptions options_;
  const SharedProgress progress_;
  const bool from_pipe_;
  bool begins_anew_ = false;  // the server refused to go on, or its part is unproved
  std::string source_;        // as it was at the first attempt
  std::shared_ptr<SentJournal> journal_;
  std::shared_ptr<files::ByteRanges> have_ = std::make_shared<files::ByteRanges>();
};

/// Opens the local file, which has to be the one of the first attempt.
Task<Result<Upload::Opened>> Upload::open_file() {
  auto opened = co_await on_disk(io_, [this]() -> Result<Opened> {
    UDTCAT_TRY(const auto location, location_of_request(request_, Errc::local_read_failed));
    UDTCAT_TRY(auto file, BlockStore::open_to_read(location));
    UDTCAT_CHECK(file.has_its_size(std::nullopt));
    const auto size = file.size();
    std::string now = fmt::format("{}-{}", size.value_or(0), file.changed());
    return Opened{std::move(file), size, std::move(now)};
  });
  if (!opened) co_return tl::unexpected(std::move(opened.error()));
  if (!source_.empty() && source_ != opened->source)
    co_return fail(Errc::local_read_failed, "put " + request_.path,
                   "it has changed meanwhile; the next call begins anew");
  co_return opened;
}

/// The journal beside the local file; none: all names for it are the user's files.
Task<Result<std::optional<RestartJournal>>> Upload::find_journal() {
  auto found = co_await on_disk(io_, [this]() -> Result<std::optional<RestartJournal>> {
    UDTCAT_TRY(const auto location, location_of_request(request_, Errc::local_read_failed));
    for (int number = 1; number <= kMostSentNames; ++number) {
      auto at = location.with_suffix(number == 1 ? kSentSuffix : fmt::format("{}~{}", kSentSuffix, number));
      if (RestartJournal::may_be_at(at))
        return RestartJournal(std::move(at), fmt::format("{} {}", request_.remote.to_string(), source_));
    }
    return std::nullopt;
  });
  co_return found;
}

/// Finds the ranges of this file that the server has from an earlier attempt or call: by SITE HAVE, or for other
/// servers from the restart markers in our journal.
Task<Status> Upload::find_received(RemoteServer& server, files::ByteRange range) {
  if (options_.range || !server.in_mode_e()) {
    *have_ = {};
    co_return Status{};
  }
  UDTCAT_CO_TRY(auto there, co_await server.received_ranges(request_.remote.path, source_));
  if (there) {
    // A statement proves one transfer, which then has to be the whole file.
    *have_ = options_.data.statements == Statements::wanted ? files::ByteRanges() : std::move(*there);
  } else if (!journal_) {
    UDTCAT_CO_TRY(auto journal, co_await find_journal());
    if (journal) {
      journal_ = std::make_shared<SentJournal>(io_, std::move(*journal));
      *have_ = co_await journal_->load();
    }
  }
  if (begins_anew_) *have_ = {};
  if (have_->empty()) co_return Status{};
  const std::uint64_t end = have_->end();
  if (end > range.end) *have_ = {};
  if (!there) {
    UDTCAT_CO_TRY(const auto size, co_await server.size_of(request_.remote.path));
    if (size.value_or(0) < end) *have_ = {};
  }
  if (have_->empty()) co_return Status{};
  progress_->resumed_bytes += have_->bytes();
  core::log().info("going on with {}: the server has {} of {} bytes", request_.path, have_->bytes(), range.end);
  co_return Status{};
}

Task<Result<Upload::Content>> Upload::open(RemoteServer& server) {
  if (request_.pipe) {
    if (options_.range)
      co_return fail(Errc::bad_argument, "put a range of a pipe",
                     "a range is of a file, which can be read at any place");
    co_return Content{std::make_shared<PipeSource>(io_, std::move(request_.pipe)), std::nullopt};
  }
  if (has_read_pipe())
    co_return fail(Errc::bad_argument, "put what came out of a pipe again", "it cannot be read twice");
  UDTCAT_CO_TRY(auto opened, co_await open_file());
  const auto size = opened.size;
  if (!size && !options_.range)
    co_return fail(Errc::bad_argument, "put " + request_.path,
                   "it has no size: say which --range of it, or pipe it in");
  const files::ByteRange range = options_.range.value_or(files::ByteRange{0, size.value_or(0)});
  if (size && range.end > *size)
    co_return fail(Errc::bad_argument, fmt::format("put bytes {} to {} of {}", range.begin, range.end, request_.path),
                   fmt::format("it has {}", *size));
  source_ = opened.source;
  UDTCAT_CO_CHECK(co_await find_received(server, range));
  co_return Content{std::make_shared<FileSource>(io_, std::move(opened.file), have_->missing_from(range)), range};
}

MarkerHandler Upload::markers() {
  if (options_.range) return ignore_markers();  // they count from its beginning, and it is not gone on with
  return [&io = io_, have = have_, journal = journal_, progress = progress_](const files::ByteRanges& more) {
    for (const files::ByteRange& range : more.ranges())
      if (!have->add(range)) return;
    progress->kept_bytes = have->bytes();
    if (!journal) return;
    boost::asio::co_spawn(
        io, [journal, now = *have]() -> Task<void> { co_await journal->save(now); }, rethrow);
  };
}

SendRequest Upload::request_for(const Content& content) const {
  SendRequest request;
  request.source = content.source;
  request.offset_on_wire = options_.range ? options_.range->begin : 0;
  request.block_bytes = options_.block_bytes;
  request.sent = [progress = progress_](std::size_t bytes) { progress->bytes += bytes; };
  return request;
}

Task<Status> Upload::attempt(RemoteServer& server) {
  auto status = co_await try_once(server);
  if (!status && has_read_pipe() && is_cut(status.error(), true))
    co_return fail(Errc::remote_write_failed, status.error().what,
                   status.error().cause + "; what came out of a pipe cannot be sent again");
  co_return status;
}

Task<Status> Upload::try_once(RemoteServer& server) {
  UDTCAT_CO_CHECK(co_await server.use_mode_e());
  if (options_.range) UDTCAT_CO_CHECK(server.mode_e_refusal());
  UDTCAT_CO_TRY(auto content, co_await open(server));
  const auto range = content.range;
  const std::uint64_t had_bytes = have_->bytes();
  progress_->begin_attempt(range ? std::optional(range->bytes()) : std::nullopt, had_bytes);
  if (auto sent = co_await send(server, std::move(content)); !sent) {
    // A server that refuses to resume gets the whole file next time.
    const bool is_refused_part = had_bytes > 0 && have_->bytes() == had_bytes;
    if (is_final(sent.error()) && !begins_anew_ && is_refused_part) {
      core::log().info("{}: from the beginning, then", sent.error().message());
      begins_anew_ = true;
      *have_ = {};
      if (journal_) co_await journal_->remove();
      co_return fail(Errc::connection_broken, sent.error().what, sent.error().cause);  // once more
    }
    co_return sent;
  }
  auto checked = co_await check(server, range);
  if (checked && journal_) co_await journal_->remove();
  co_return checked;
}

Task<Status> Upload::send(RemoteServer& server, Content content) {
  DataPath& path = server.path();
  if (path.role() != DataPath::Role::active || !path.has_kept())
    UDTCAT_CO_CHECK(co_await server.aim_at_ports(options_.stripes > 0));
  if (content.range && server.in_mode_e())
    UDTCAT_CO_CHECK(co_await server.control().ask(fmt::format("ALLO {}", content.range->bytes())));
  if (!server.has_mode_e() && options_.range)
    co_return fail(Errc::bad_argument, "put a range to " + request_.remote.to_string(),
                   "its server does not speak MODE E");
  UDTCAT_CO_CHECK(co_await server.send_restart(*have_));
  const bool anew = have_->empty();
  const std::uint64_t sent_before = progress_->bytes;
  const auto done = std::make_shared<Promise<Status>>(io_);
  UDTCAT_CO_CHECK(co_await server.begin(store_command(request_.remote.path, options_.range), counter_of(progress_),
                                        markers(), done));
  Status moved;
  if (server.in_mode_e()) {
    moved = co_await path.send(options_.parallelism, request_for(content));
  } else {
    const auto connection = co_await path.single();
    const SendRequest request = request_for(content);
    if (connection)
      moved = co_await path.alone(*connection, send_stream_mode(**connection, request));
    else
      moved = tl::unexpected(connection.error());
  }
  auto status = co_await outcome_of(server, moved, done);
  if (!server.has_to_prove()) co_return status;
  const StatementRequest asked{options_.range ? Statement::Action::stored : Statement::Action::published,
                               request_.remote.path, options_.range, progress_->bytes - sent_before};
  if (status) status = co_await server.prove(asked, "put " + request_.remote.to_string(), anew);
  if (!status) begins_anew_ = true;
  co_return status;
}

/// Checks size and name at the server, unless a statement has proved them: a server that counted too few EODs reports
/// success with a part missing, and some change names.
Task<Status> Upload::check(RemoteServer& server, std::optional<files::ByteRange> range) {
  if (range) UDTCAT_CO_CHECK(co_await open_file());
  if (!server.has_to_prove()) {
    StoredFile stored{request_.remote.path, range ? range->end : progress_->done_bytes(), !options_.range};
    UDTCAT_CO_CHECK(co_await prove_stored(server, std::move(stored), "put " + request_.remote.to_string()));
  }
  ++progress_->files;
  co_return Status{};
}

}  // namespace

Task<Status> upload_all(boost::asio::io_context& io, std::vector<TransferRequest> requests, TransferOptions options,
                        SharedProgress progress, std::unique_ptr<RemoteServer> server) {
  return transfer_all<Upload>(io, std::move(requests), std::move(options), std::move(progress), std::move(server));
}

}  // namespace udtcat::gridftp
