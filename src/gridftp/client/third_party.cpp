// SPDX-License-Identifier: Apache-2.0
/// copy(): two servers, whose data connections do not touch us.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "gridftp/client/outcome.hpp"
#include "gridftp/client/remote_server.hpp"
#include "gridftp/client/stored_file.hpp"
#include "gridftp/client/transfer.hpp"
#include "gridftp/dialogue/data_port.hpp"
#include "lib/core/try.hpp"

namespace udtcat::gridftp {

namespace {

/// Threads: confined to the io_context thread.
class ThirdPartyCopy {
 public:
  ThirdPartyCopy(boost::asio::io_context& io, FtpUrl from, FtpUrl to, const TransferOptions& options,
                 SharedProgress progress)
      : io_(io), from_(std::move(from)), to_(std::move(to)), options_(options), progress_(std::move(progress)) {}

  [[nodiscard]] Task<Status> attempt();

 private:
  [[nodiscard]] Task<Status> check_version(RemoteServer& source);
  [[nodiscard]] std::optional<std::uint64_t> wanted_bytes() const;
  [[nodiscard]] Task<Status> introduce(RemoteServer& source, RemoteServer& target);
  [[nodiscard]] Task<Status> move(RemoteServer& source, RemoteServer& target);
  [[nodiscard]] Task<Status> check(RemoteServer& target);

  boost::asio::io_context& io_;
  const FtpUrl from_;
  const FtpUrl to_;
  const TransferOptions options_;
  const SharedProgress progress_;
  std::optional<RemoteServer::FileVersion> version_;  // of the source, at the first attempt
  std::shared_ptr<files::ByteRanges> have_ = std::make_shared<files::ByteRanges>();  // at the target, by its markers
};

/// Asks for the version of the source, which has to be that of the first attempt.
Task<Status> ThirdPartyCopy::check_version(RemoteServer& source) {
  if (!version_)
    UDTCAT_CO_CHECK(co_await check_name(source, from_.path, Errc::remote_read_failed, "copy " + from_.to_string()));
  UDTCAT_CO_TRY(auto version, co_await source.version_of(from_.path));
  if (version_ && version != *version_)
    co_return fail(Errc::remote_read_failed, "copy " + from_.to_string(), "it has changed meanwhile");
  version_ = std::move(version);
  co_return Status{};
}

std::optional<std::uint64_t> ThirdPartyCopy::wanted_bytes() const {
  if (!version_->size || !options_.range) return version_->size;
  const std::uint64_t end = std::min(options_.range->end, *version_->size);
  return end - std::min(options_.range->begin, end);
}

/// The target listens, the source connects.
Task<Status> ThirdPartyCopy::introduce(RemoteServer& source, RemoteServer& target) {
  for (const RemoteServer* server : {&source, &target}) UDTCAT_CO_CHECK(server->mode_e_refusal());
  if (!source.has_mode_e() || !target.has_mode_e())
    co_return fail(Errc::stream_refused, "copy " + from_.to_string() + " to " + to_.to_string(),
                   "both servers have to speak MODE E");
  const bool striped = options_.stripes > 0;
  UDTCAT_CO_TRY(const auto where, co_await target.ask_ports(striped));
  UDTCAT_CO_TRY(const std::string command, port_command(where, striped));
  UDTCAT_CO_CHECK(co_await source.control().demand(command));
  co_return Status{};
}

Task<Status> ThirdPartyCopy::move(RemoteServer& source, RemoteServer& target) {
  if (options_.range) *have_ = {};  // markers count from the beginning of the part, which is not gone on with
  progress_->begin_attempt(wanted_bytes(), have_->bytes());
  if (version_->size && !options_.range) {
    UDTCAT_CO_CHECK(co_await target.control().ask(fmt::format("ALLO {}", *version_->size)));
  }
  for (RemoteServer* server : {&target, &source}) UDTCAT_CO_CHECK(co_await server->send_restart(*have_));
  const auto stored = std::make_shared<Promise<Status>>(io_);
  const auto retrieved = std::make_shared<Promise<Status>>(io_);
  const ControlConnection::Moved moved = counter_of(progress_);
  const MarkerHandler markers = [have = have_, progress = progress_](const files::ByteRanges& more) {
    const std::uint64_t before = have->bytes();
    for (const files::ByteRange& range : more.ranges())
      if (!have->add(range)) return;
    progress->bytes += have->bytes() - before;
    progress->kept_bytes = have->bytes();
  };
  UDTCAT_CO_CHECK(co_await target.begin(store_command(to_.path, options_.range), moved, markers, stored));
  UDTCAT_CO_CHECK(
      co_await source.begin(retrieve_command(from_.path, options_.range), moved, ignore_markers(), retrieved));
  // When one transfer fails the other's control connection is closed: that server would wait for ever.
  source.close_if_fails(stored);
  target.close_if_fails(retrieved);
  auto took = co_await stored->get();
  auto gave = co_await retrieved->get();
  // One of two errors is the consequence of the other: a broken connection, or a control connection that we closed.
  if (!took && is_final(took.error())) co_return took;
  if (!gave && (is_final(gave.error()) || took || took.error().code != Errc::stream_refused)) co_return gave;
  co_return took;
}

Task<Status> ThirdPartyCopy::check(RemoteServer& target) {
  const auto wanted = wanted_bytes();
  if (wanted) {
    StoredFile stored{to_.path, options_.range ? options_.range->begin + *wanted : *wanted, !options_.range};
    UDTCAT_CO_CHECK(co_await prove_stored(target, std::move(stored), "copy to " + to_.to_string()));
    progress_->bytes = std::max(progress_->bytes, *wanted);
  }
  ++progress_->files;
  co_return Status{};
}

Task<Status> ThirdPartyCopy::attempt() {
  UDTCAT_CO_TRY(auto source, co_await RemoteServer::log_in(io_, from_, options_));
  UDTCAT_CO_TRY(auto target, co_await RemoteServer::log_in(io_, to_, options_));
  UDTCAT_CO_CHECK(co_await check_version(*source));
  UDTCAT_CO_CHECK(co_await introduce(*source, *target));
  UDTCAT_CO_CHECK(co_await move(*source, *target));
  UDTCAT_CO_CHECK(co_await check_version(*source));
  UDTCAT_CO_CHECK(co_await check(*target));
  co_await source->quit();
  co_await target->quit();
  co_return Status{};
}

}  // namespace

Task<Status> copy(boost::asio::io_context& io, FtpUrl from, FtpUrl to, TransferOptions options,
                  SharedProgress progress) {
  ThirdPartyCopy copy(io, std::move(from), std::move(to), options, progress);
  const auto attempt = [&copy] { return copy.attempt(); };
  co_return co_await with_retries(io, options, progress, attempt);
}

}  // namespace udtcat::gridftp
