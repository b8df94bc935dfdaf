// SPDX-License-Identifier: Apache-2.0
#include "rsh/near_end.hpp"

#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include <udtcat/bridges.hpp>

#include "lib/bridge/rate_limited_log.hpp"
#include "lib/core/invariant.hpp"
#include "lib/core/log.hpp"

namespace udtcat::rsh {

namespace {

/// Whether stdout's reader has closed it, also a socket with bytes unread: the command's status counts all the same.
bool has_lost_reader(const Error& error) {
  return error.code == Errc::local_write_failed && !bridge::is_trouble(error);
}

/// Whether this process was started with a stdin that can be read.
bool has_input() {
  const int flags = ::fcntl(STDIN_FILENO, F_GETFL);
  return flags >= 0 && (flags & O_ACCMODE) != O_WRONLY;
}

}  // namespace

NearEnd::NearEnd(boost::asio::io_context& io, std::unique_ptr<Connection> connection, EndHandler on_end)
    : io_(io),
      on_end_(std::move(on_end)),
      control_(
          io, [this](const ssh::ControlMessage& message) { on_message(message); },
          [this](const Error& violation) { connection_->abort(violation); }),
      connection_(std::move(connection)) {
  connection_->on_closed([this](const Status& status) {
    if (!status) return end(tl::unexpected(status.error()));
    end(fail(Errc::peer_interrupted, "wait for the remote command",
             "the other end closed the connection without saying how the command ended"));
  });
}

Status NearEnd::start(const ssh::ControlMessage& request, bool reads_input) {
  auto input = make_stdio_stream(io_, STDIN_FILENO, -1, {.read = reads_input && has_input(), .write = false});
  // until_read is false: the program that started us may read our output only after we have exited.
  const StdioHalves writing{.read = false, .write = true, .until_read = false};
  auto output = make_stdio_stream(io_, -1, STDOUT_FILENO, writing);
  // A duplicate: our own last lines go to stderr after the stream has closed its descriptor.
  auto errors = make_stdio_stream(io_, -1, ::dup(STDERR_FILENO), writing);
  for (auto* stream : {&input, &output, &errors})
    if (!*stream) return tl::unexpected(std::move(stream->error()));
  control_.send(request);
  const auto open = [this](StreamId expected, std::unique_ptr<LocalStream> local, Connection::OutcomeHandler done) {
    const StreamId id = connection_->open_stream(std::move(local), std::move(done));
    UDTCAT_INVARIANT(id == expected, "a new connection numbers its streams 0, 2, 4, 6");
  };
  // A command may leave input unread; but a failed read here must not look like the end of input there.
  const auto input_over = lifetime_.guard([this](const StreamOutcome& outcome) {
    if (outcome.error && outcome.error->code == Errc::local_read_failed) connection_->abort(*outcome.error);
  });
  // Control messages need no receipt.
  const auto ignore = [](const StreamOutcome&) {};
  const auto over = lifetime_.guard([this](const StreamOutcome& outcome) { on_output_over(outcome.error); });
  // A failed write to stderr cannot be reported.
  const auto errors_over = lifetime_.guard([this](const StreamOutcome&) { on_output_over({}); });
  open(ssh::kControlStream, control_.stream(), ignore);
  open(ssh::kInputStream, std::move(*input), input_over);
  open(ssh::kOutputStream, std::move(*output), over);
  open(ssh::kErrorStream, std::move(*errors), errors_over);
  return {};
}

void NearEnd::on_message(const ssh::ControlMessage& message) {
  if (std::holds_alternative<ssh::Started>(message)) return core::log().debug("the remote command runs");
  if (reported_) return;
  if (const auto* exited = std::get_if<ssh::Exited>(&message))
    reported_ = CommandExit{.status = exited->status, .signal_name = {}};
  else if (const auto* killed = std::get_if<ssh::Killed>(&message))
    reported_ = CommandExit{.status = std::nullopt, .signal_name = killed->signal_name};
  else if (const auto* not_run = std::get_if<ssh::NotRun>(&message))
    reported_ = fail(Errc::remote_connect_failed, "run the command there", not_run->reason);
  else
    return connection_->abort({Errc::protocol_violated, "read a control message", "it is not expected at this point"});
  control_.finish_sending();
  end_when_complete();
}

void NearEnd::on_output_over(const std::optional<Error>& error) {
  if (error && !has_lost_reader(*error)) output_error_ = error;
  --open_outputs_;
  end_when_complete();
}

void NearEnd::end_when_complete() {
  if (!reported_ || open_outputs_ > 0) return;
  // A command that did not run has no output; of one that ran, all of it must have arrived.
  if (*reported_ && output_error_) return end(tl::unexpected(*output_error_));
  end(std::move(*reported_));
}

void NearEnd::end(Result<CommandExit> result) {
  if (!on_end_) return;
  connection_->close();
  std::exchange(on_end_, nullptr)(std::move(result));
}

}  // namespace udtcat::rsh
