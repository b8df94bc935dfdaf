#include "tool/pipe_session.hpp"

#include <utility>

#include <sys/stat.h>
#include <unistd.h>

#include "lib/core/log.hpp"
#include "tool/waiting_notice.hpp"

namespace udtcat::tool {

namespace {

/// Somebody's pipe or file, as opposed to a terminal or the null device.
bool input_has_something_to_say() {
  struct stat status {};
  if (::fstat(STDIN_FILENO, &status) != 0) return false;
  return S_ISFIFO(status.st_mode) || (S_ISREG(status.st_mode) && status.st_size > 0);
}

}  // namespace

PipeSession::PipeSession(SessionRun& run, const Options& options, std::unique_ptr<Connection> connection)
    : run_(run),
      options_(options),
      command_(run.io(), [this] { finish_if_all_ended(); }),
      connection_(std::move(connection)) {
  core::log().info("connected to {}", connection_->peer().to_string());
  connection_->on_closed([this](const Status& status) { on_closed(status); });
  run_.watch(connection_->peer().to_string(), [this] { return connection_->stats(); });
  run_.on_interrupt([this](const Error& why) { connection_->abort(why); });
}

Result<std::unique_ptr<LocalStream>> PipeSession::make_local() {
  const SessionOptions& wishes = options_.session;
  // A peer that does not want to hear must not cost the user a byte of stdin.
  const StdioHalves halves{.read = wishes.sends && connection_->peer_receives(),
                           .write = wishes.receives && connection_->peer_sends()};
  if (options_.exec) return command_.start(options_, halves);
  if (wishes.sends && !halves.read && input_has_something_to_say())
    core::log().warn("the other end only sends: standard input is not read");
  auto stdio = make_stdio_stream(run_.io(), STDIN_FILENO, STDOUT_FILENO, halves);
  if (!stdio || !halves.read || !halves.write) return stdio;
  return std::make_unique<WaitingNotice>(run_.io(), std::move(*stdio), [] {
    core::log().warn(
        "all of the peer's data has come; waiting for the end of our own standard input (--recv-only does not)");
  });
}

void PipeSession::open() {
  auto local = make_local();
  if (!local) return run_.finish(std::move(local.error()));
  has_stream_ = true;
  connection_->open_stream(std::move(*local), [this](const StreamOutcome& outcome) { on_outcome(outcome); });
}

void PipeSession::await() {
  connection_->on_stream([this](StreamId id) { accept(id); });
}

void PipeSession::accept(StreamId id) {
  if (has_stream_)
    return connection_->refuse_stream(id, {Errc::stream_refused, "open a stream", "the pipe has one already"});
  auto local = make_local();
  if (!local) return run_.finish(std::move(local.error()));
  has_stream_ = true;
  connection_->accept_stream(id, std::move(*local), [this](const StreamOutcome& outcome) { on_outcome(outcome); });
}

void PipeSession::on_outcome(const StreamOutcome& outcome) {
  outcome_ = outcome;
  core::log().info("{} bytes sent, {} received", outcome.bytes_sent, outcome.bytes_received);
  if (!closed_) connection_->close();
  if (outcome.error)
    command_.end_it(outcome.error->code == Errc::interrupted || outcome.error->code == Errc::peer_interrupted);
  finish_if_all_ended();
}

void PipeSession::on_closed(const Status& status) {
  closed_ = status;
  finish_if_all_ended();
}

void PipeSession::finish_if_all_ended() {
  if (!closed_ || (has_stream_ && !outcome_) || !command_.is_gone()) return;
  // The stream's own end says whether every byte arrived; how the farewell went changes nothing about that.
  if (outcome_) return run_.finish(outcome_->error);
  if (!*closed_) return run_.finish(closed_->error());
  run_.finish(Error{Errc::peer_interrupted, "wait for the stream", "the other end left without opening it"});
}

}  // namespace udtcat::tool
