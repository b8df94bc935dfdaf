// SPDX-License-Identifier: Apache-2.0
#include "rsh/remote_command.hpp"

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include <udtcat/bridges.hpp>

#include "lib/bridge/rate_limited_log.hpp"
#include "lib/bridge/relay.hpp"
#include "lib/core/invariant.hpp"
#include "lib/core/lifetime.hpp"
#include "lib/core/log.hpp"
#include "lib/core/try.hpp"
#include "rsh/control_channel.hpp"
#include "rsh/user_shell.hpp"
#include "ssh/bootstrap_script.hpp"

namespace udtcat::rsh {

namespace {

// spec: docs/spec/rsh.md §5: before the session is broken off
constexpr auto kFarEndGrace = std::chrono::milliseconds(500);

tool::ExitStatus status_of(int number) { return static_cast<tool::ExitStatus>(number); }

/// Whether stdout's reader has closed it, also a socket with bytes unread: the command's status counts all the same.
bool has_lost_reader(const Error& error) {
  return error.code == Errc::local_write_failed && !bridge::is_loggable(error);
}

constexpr int kBytesLost = 255;  // spec: docs/spec/rsh.md §5

/// The request, for a far end; or the command as an answer, for a script that has found no udtcat.
Result<std::vector<std::byte>> words_for(const ssh::Bootstrap& ssh, const ssh::ControlMessage& request) {
  if (ssh.has_far_end()) return encode(request);
  UDTCAT_TRY(const std::string command, command_line_of(request));
  const std::string answer = ssh::run_answer(command);
  const auto bytes = std::as_bytes(std::span(answer));
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

}  // namespace

/// Asks for a command on a connection and bridges our standard descriptors to its.
/// Threads: confined to the io_context thread. The handler is called there, once, not after destruction.
class RemoteCommand::NearEnd {
 public:
  /// errors: what kept the command from running (Errc::remote_connect_failed), what cut it off, or what kept its output
  /// from being written here (Errc::local_write_failed)
  using EndHandler = std::function<void(Result<CommandExit>)>;

  NearEnd(boost::asio::io_context& io, std::unique_ptr<Connection> connection, EndHandler on_end);

  /// Once. `request` is a RunCommand or RunSubsystem.  errors: Errc::out_of_resources
  [[nodiscard]] Status start(const ssh::ControlMessage& request, bool reads_input);
  void deliver(const std::string& signal_name) { control_.send(ssh::DeliverSignal{signal_name}); }
  /// Ends the connection, telling the peer.
  void abort(const Error& why) { connection_->abort(why); }

  [[nodiscard]] Connection& connection() { return *connection_; }

 private:
  void on_message(const ssh::ControlMessage& message);
  void on_output_over(const std::optional<Error>& error);
  void end_when_complete();
  void end(Result<CommandExit> result);

  boost::asio::io_context& io_;
  EndHandler on_end_;
  ControlChannel control_;
  std::optional<Result<CommandExit>> reported_;  // by the peer
  std::optional<Error> output_error_;            // of stdout
  int open_outputs_ = 2;                         // stdout and stderr, whose last byte has not been taken
  const std::unique_ptr<Connection> connection_;
  core::Lifetime lifetime_;
};

RemoteCommand::NearEnd::NearEnd(boost::asio::io_context& io, std::unique_ptr<Connection> connection, EndHandler on_end)
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

Status RemoteCommand::NearEnd::start(const ssh::ControlMessage& request, bool reads_input) {
  control_.attach(connection_->open_stream());
  auto input =
      make_stdio_stream(io_, STDIN_FILENO, -1,
                        {.read = reads_input && bridge::is_open_for(STDIN_FILENO, bridge::Half::read), .write = false});
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
  const auto over = lifetime_.guard([this](const StreamOutcome& outcome) { on_output_over(outcome.error); });
  // A failed write to stderr cannot be reported; bytes that did not come can.
  const auto errors_over = lifetime_.guard([this](const StreamOutcome& outcome) {
    const bool is_ours = outcome.error && outcome.error->code == Errc::local_write_failed;
    on_output_over(is_ours ? std::nullopt : outcome.error);
  });
  open(ssh::kInputStream, std::move(*input), input_over);
  open(ssh::kOutputStream, std::move(*output), over);
  open(ssh::kErrorStream, std::move(*errors), errors_over);
  return {};
}

void RemoteCommand::NearEnd::on_message(const ssh::ControlMessage& message) {
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

void RemoteCommand::NearEnd::on_output_over(const std::optional<Error>& error) {
  if (error && !has_lost_reader(*error)) output_error_ = error;
  --open_outputs_;
  end_when_complete();
}

void RemoteCommand::NearEnd::end_when_complete() {
  if (!reported_ || open_outputs_ > 0) return;
  // A command that did not run has no output; of one that ran, all of it must have arrived.
  if (*reported_ && output_error_) return end(tl::unexpected(*output_error_));
  end(std::move(*reported_));
}

void RemoteCommand::NearEnd::end(Result<CommandExit> result) {
  if (!on_end_) return;
  connection_->close();
  std::exchange(on_end_, nullptr)(std::move(result));
}

/// A command that ssh itself carries, as there is no session.
///
///   our stdin ──► ssh's stdin, our stdout ◄── ssh's stdout
///
/// Threads: confined to the io_context thread. The handler is called there, once, not after destruction.
class RemoteCommand::OverSsh {
 public:
  /// on_end   gets what ssh exits with, or 255 where bytes of the command's input or output are missing
  OverSsh(boost::asio::io_context& io, ssh::Bootstrap& ssh, std::function<void(int)> on_end)
      : io_(io), ssh_(ssh), on_end_(std::move(on_end)) {}

  /// Once. `request` is a RunCommand or RunSubsystem.
  /// errors: Errc::out_of_resources; those of command_line_of() where there is no udtcat there
  [[nodiscard]] Status start(const ssh::ControlMessage& request, bool reads_input);

 private:
  void relay();
  void on_output_over(const bridge::Relay::Outcome& outcome);
  void cut();
  void end_if_over();

  boost::asio::io_context& io_;
  ssh::Bootstrap& ssh_;
  std::function<void(int)> on_end_;
  std::unique_ptr<LocalStream> stdio_;
  std::unique_ptr<bridge::Relay> input_;
  std::unique_ptr<bridge::Relay> output_;
  bool is_output_over_ = false;
  std::optional<int> status_;  // of ssh
};

Status RemoteCommand::OverSsh::start(const ssh::ControlMessage& request, bool reads_input) {
  UDTCAT_TRY(auto words, words_for(ssh_, request));
  UDTCAT_TRY(stdio_, make_stdio_stream(io_, STDIN_FILENO, STDOUT_FILENO,
                                       {.read = reads_input, .write = true, .until_read = false}));
  ssh_.hand_over(
      std::move(words), [this] { relay(); },
      [this](int status) {
        status_ = status;
        end_if_over();
      });
  return {};
}

/// A failed write shows in the command's exit status; after a failed read its input must not look complete.
void RemoteCommand::OverSsh::relay() {
  input_ = std::make_unique<bridge::Relay>(*stdio_, ssh_.pipes(), [this](const bridge::Relay::Outcome& outcome) {
    if (!outcome.read_error) return;
    core::log().error("local read from stdin failed: {}", outcome.read_error.message());
    cut();
  });
  output_ = std::make_unique<bridge::Relay>(ssh_.pipes(), *stdio_,
                                            [this](const bridge::Relay::Outcome& outcome) { on_output_over(outcome); });
}

void RemoteCommand::OverSsh::on_output_over(const bridge::Relay::Outcome& outcome) {
  if (outcome.write_error && outcome.write_error != std::errc::broken_pipe)
    core::log().error("write stdout: {}", outcome.write_error.message());
  if (outcome.write_error || outcome.read_error) return cut();
  is_output_over_ = true;
  end_if_over();
}

void RemoteCommand::OverSsh::cut() {
  ssh_.end(std::chrono::milliseconds(0), [this] {
    if (on_end_) std::exchange(on_end_, nullptr)(kBytesLost);
  });
}

void RemoteCommand::OverSsh::end_if_over() {
  if (!status_ || (output_ && !is_output_over_) || !on_end_) return;
  // A command that was not begun must not have status 0.
  std::exchange(on_end_, nullptr)(output_ || *status_ != 0 ? *status_ : kBytesLost);
}

RemoteCommand::RemoteCommand(tool::SessionRun& run, const RemoteCommandOptions& options, std::uint64_t core_limit_bytes)
    : run_(run),
      options_(options),
      timeout_(run.io()),
      dial_(run, options, core_limit_bytes,
            {.on_connection = [this](std::unique_ptr<Connection> connection) { begin(std::move(connection)); },
             .on_no_session = [this](Error why) { go_without_session(std::move(why)); },
             .on_plain = [this](Error why) { leave_to_ssh(std::move(why)); },
             .on_no_far_end =
                 [this](const Error& error, std::optional<int> status) {
                   // Nothing is said where ssh itself failed: it has said why.
                   if (status == ssh::kSshFailed) return run_.finish_as(tool::ExitStatus::own_failure);
                   run_.finish(error);
                 }}) {}

RemoteCommand::~RemoteCommand() = default;

Status RemoteCommand::start() {
  run_.on_interrupt([this](const Error& why) { interrupt(why); });
  return dial_.start();
}

void RemoteCommand::begin(std::unique_ptr<Connection> connection) {
  core::log().info("connected to {}", connection->peer().to_string());
  near_ = std::make_unique<NearEnd>(run_.io(), std::move(connection),
                                    [this](Result<CommandExit> end) { conclude(std::move(end)); });
  run_.watch_connection(near_->connection());
  if (auto started = near_->start(ssh::request_of(options_.ssh), !options_.ssh.without_input); !started)
    return run_.finish(std::move(started.error()));
  if (!options_.require_udp && near_->connection().stats().transport != TransportKind::tcp)
    ssh_path_.emplace(run_, near_->connection(), dial_, options_.host);
}

void RemoteCommand::conclude(Result<CommandExit> end) {
  if (ssh_path_) ssh_path_->conclude();
  // An ssh that has lost the path as well would not end by itself for long.
  dial_.leave([this, end = std::move(end)]() mutable { finish(std::move(end)); });
}

void RemoteCommand::finish(Result<CommandExit> end) {
  if (!end) return run_.finish(std::move(end.error()));
  // Silent as ssh where the user wanted the end: by a signal, or by `head` behind it.
  if (!end->status && run_.signal() == 0 && end->signal_name != "PIPE")
    run_.say(fmt::format("the remote command was ended by SIG{}", end->signal_name));
  // As with ssh, a command that was ended by a signal has no status.
  run_.finish_as(end->status ? status_of(*end->status) : tool::ExitStatus::own_failure);
}

/// why   its cause is advice
void RemoteCommand::go_without_session(Error why) {
  if (options_.require_udp) return run_.finish(std::move(why));
  run_.say(fmt::format("{}: going on over ssh itself; {}", why.what, why.cause));
  over_ssh_ =
      std::make_unique<OverSsh>(run_.io(), dial_.ssh(), [this](int status) { run_.finish_as(status_of(status)); });
  auto started = over_ssh_->start(ssh::request_of(options_.ssh), !options_.ssh.without_input);
  if (!started) run_.finish(std::move(started.error()));
}

/// why   its cause is advice
void RemoteCommand::leave_to_ssh(Error why) {
  if (options_.require_udp) return run_.finish(std::move(why));
  run_.say(fmt::format("{}: going on over ssh itself; {}", why.what, why.cause));
  plain_ssh_ = dial_.plain_ssh();
  run_.finish_as(tool::ExitStatus::own_failure);  // until ssh has our place
}

/// The command gets the signal; after kFarEndGrace the session is broken off, which kills it.
void RemoteCommand::interrupt(const Error& why) {
  if (near_ == nullptr) return dial_.end([this, why] { run_.finish(why); });
  if (const auto name = ssh::signal_name(run_.signal())) near_->deliver(*name);
  timeout_.expires_after(kFarEndGrace);
  timeout_.async_wait([this, why](const boost::system::error_code& cancelled) {
    if (!cancelled) near_->abort(why);
  });
}

}  // namespace udtcat::rsh
