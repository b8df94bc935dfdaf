// SPDX-License-Identifier: Apache-2.0
#include "rsh/rsh_server.hpp"

#include <functional>
#include <utility>

#include <boost/asio/post.hpp>

#include <udtcat/bridges.hpp>

#include "lib/bridge/child_stream.hpp"
#include "lib/bridge/child_termination.hpp"
#include "lib/core/log.hpp"
#include "rsh/control_channel.hpp"
#include "rsh/user_shell.hpp"

namespace udtcat::rsh {

namespace {

bool is_request(const ssh::ControlMessage& message) {
  return std::holds_alternative<ssh::RunCommand>(message) || std::holds_alternative<ssh::RunSubsystem>(message);
}

ssh::ControlMessage message_of(const bridge::ChildExit& end) {
  if (end.signal == 0) return ssh::Exited{static_cast<std::uint8_t>(end.status)};
  return ssh::Killed{ssh::signal_name(end.signal).value_or(std::to_string(end.signal)), end.dumped_core};
}

}  // namespace

/// Serves one connection: the first request of its peer is run, its standard descriptors are bridged, its end is
/// reported.
///
///   awaiting ── request ──► running ── child ended ──► told ── output taken, peer closes ──► over
///       └── cannot be run ───────────────────────────────────────────►┘
///
/// A peer that is lost, or leaves while the child runs, ends the child by signals, until it and its group have gone;
/// its stdin stays open until then.
///
/// Threads: confined to the io_context thread. Handlers are called there, not after destruction.
class RshServer::FarEnd {
 public:
  /// The peer's first request has come on this connection.  returns  whether it is carried out
  using RequestedHandler = std::function<bool(FarEnd&)>;
  /// The connection has ended and no child is left.
  using EndHandler = std::function<void(FarEnd&, const Status&)>;

  /// core_limit_bytes   what the command may dump
  FarEnd(boost::asio::io_context& io, std::unique_ptr<Connection> connection, std::uint64_t core_limit_bytes,
         RequestedHandler on_requested, EndHandler on_over);

  [[nodiscard]] Connection& connection() const { return *connection_; }
  [[nodiscard]] bool requested() const { return request_.has_value(); }
  /// Aborts the connection, which tells the peer why, and ends the child as for a peer that is lost.
  void abort(const Error& why) { connection_->abort(why); }

 private:
  void on_stream(StreamId id);
  void on_message(const ssh::ControlMessage& message);
  void run_when_complete();
  [[nodiscard]] Status bridge(bridge::ChildPipes pipes);
  void on_input_over(const StreamOutcome& outcome);
  void answer(const ssh::ControlMessage& message);
  void refuse(std::string reason);
  void on_closed(const Status& status);
  void finish_if_over();

  boost::asio::io_context& io_;
  const std::uint64_t core_limit_bytes_;
  RequestedHandler on_requested_;
  EndHandler on_over_;
  ControlChannel control_;
  std::optional<ssh::ControlMessage> request_;
  std::size_t streams_opened_ = 0;  // by the peer, of the four
  bridge::SupervisedChild child_;
  bool answered_ = false;
  std::optional<Status> closed_;
  const std::unique_ptr<Connection> connection_;  // its handlers and streams lead into what stands above
};

RshServer::FarEnd::FarEnd(boost::asio::io_context& io, std::unique_ptr<Connection> connection,
                          std::uint64_t core_limit_bytes, RequestedHandler on_requested, EndHandler on_over)
    : io_(io),
      core_limit_bytes_(core_limit_bytes),
      on_requested_(std::move(on_requested)),
      on_over_(std::move(on_over)),
      control_(
          io, [this](const ssh::ControlMessage& message) { on_message(message); },
          [this](const Error& violation) { connection_->abort(violation); }),
      child_(io, [this] { finish_if_over(); }),
      connection_(std::move(connection)) {
  connection_->on_stream([this](StreamId id) { on_stream(id); });
  connection_->on_closed([this](const Status& status) { on_closed(status); });
}

void RshServer::FarEnd::on_stream(StreamId id) {
  if (id > ssh::kErrorStream)
    return connection_->refuse_stream(id, {Errc::stream_refused, "open a stream", "a remote command has four streams"});
  ++streams_opened_;
  // The other three wait for the request.
  if (id == ssh::kControlStream) control_.attach(connection_->accept_stream(id));
  run_when_complete();
}

void RshServer::FarEnd::on_message(const ssh::ControlMessage& message) {
  if (is_request(message) && !requested()) {
    request_ = message;
    return run_when_complete();
  }
  const auto* signal = std::get_if<ssh::DeliverSignal>(&message);
  if (signal == nullptr || !requested())
    return connection_->abort({Errc::protocol_violated, "read a control message", "it is not expected at this point"});
  if (const auto number = ssh::signal_number(signal->name); number && child_.started())
    child_.process().signal(*number);
}

void RshServer::FarEnd::run_when_complete() {
  constexpr std::size_t kStreams = 4;
  if (!request_ || streams_opened_ < kStreams || closed_) return;
  if (!std::exchange(on_requested_, nullptr)(*this))
    return connection_->abort({Errc::stream_refused, "run a second command", "the near end has a connection already"});
  const auto wanted = launch_for_user(*request_, core_limit_bytes_);
  if (!wanted) return refuse(wanted.error().message());
  const auto started = child_.start(*wanted, [this](const bridge::ChildExit& end) {
    // The status is sent at once: the near end waits for the output's end by itself.
    if (!closed_) answer(message_of(end));
  });
  if (!started) return refuse(started.error().message());
  control_.send(ssh::Started{});
  if (auto bridged = bridge(child_.process().take_pipes()); !bridged) connection_->abort(bridged.error());
}

Status RshServer::FarEnd::bridge(bridge::ChildPipes pipes) {
  auto input =
      bridge::ChildStream::make(io_, child_.process(), std::move(pipes.input), {}, bridge::ChildCompletion::taken);
  auto output = make_stdio_stream(io_, pipes.output.release(), -1, {.read = true, .write = false});
  auto errors = make_stdio_stream(io_, pipes.errors.release(), -1, {.read = true, .write = false});
  for (auto* stream : {&input, &output, &errors})
    if (!*stream) return tl::unexpected(std::move(stream->error()));
  // A reader that leaves before the end is no error.
  const auto ignore = [](const StreamOutcome&) {};
  connection_->accept_stream(ssh::kInputStream, std::move(*input),
                             [this](const StreamOutcome& outcome) { on_input_over(outcome); });
  connection_->accept_stream(ssh::kOutputStream, std::move(*output), ignore);
  connection_->accept_stream(ssh::kErrorStream, std::move(*errors), ignore);
  return {};
}

/// A command may leave input unread. Input that was cut ends the connection: the command would wait for the rest, or
/// treat what came as all of it.
void RshServer::FarEnd::on_input_over(const StreamOutcome& outcome) {
  const bool cut = outcome.error && outcome.error->code != Errc::local_write_failed;
  if (cut && !closed_ && !child_.process().end()) connection_->abort(*outcome.error);
}

void RshServer::FarEnd::answer(const ssh::ControlMessage& message) {
  answered_ = true;
  control_.send(message);
  control_.finish_sending();
}

void RshServer::FarEnd::refuse(std::string reason) {
  answer(ssh::NotRun{reason});
  for (const StreamId id : {ssh::kInputStream, ssh::kOutputStream, ssh::kErrorStream})
    connection_->refuse_stream(id, {Errc::stream_refused, "run a command", reason});
}

void RshServer::FarEnd::on_closed(const Status& status) {
  closed_ = status;
  core::log().debug("remote command: {}", status ? "closed" : status.error().message());
  // Background processes of the command go on, as with ssh, unless they read an input that was cut.
  child_.terminate(!status &&
                   (status.error().code == Errc::peer_interrupted || status.error().code == Errc::interrupted));
  finish_if_over();
}

void RshServer::FarEnd::finish_if_over() {
  if (!closed_ || !child_.is_gone()) return;
  // A peer that has the command's status may close the connection in any way.
  if (on_over_) std::exchange(on_over_, nullptr)(*this, answered_ ? Status{} : *closed_);
}

RshServer::RshServer(tool::SessionRun& run, const ssh::FarOptions& options, std::uint64_t core_limit_bytes)
    : run_(run),
      core_limit_bytes_(core_limit_bytes),
      far_(run, options,
           {.on_connection = [this](std::unique_ptr<Connection> connection) { take(std::move(connection)); },
            .on_request =
                [this](const ssh::ControlMessage& request) {
                  fallback_ = request;
                  run_.finish(std::nullopt);
                },
            .abort_all =
                [this](const Error& why) {
                  for (const auto& end : ends_) end->abort(why);
                  return !ends_.empty();
                }}) {}

RshServer::~RshServer() = default;

void RshServer::take(std::unique_ptr<Connection> connection) {
  ends_.push_back(std::make_unique<FarEnd>(
      run_.io(), std::move(connection), core_limit_bytes_,
      [this](FarEnd& end) {
        if (!far_.choose(end.connection())) return false;
        run_.watch_connection(end.connection());
        return true;
      },
      [this](FarEnd& end, const Status& status) { on_over(end, status); }));
}

void RshServer::on_over(const FarEnd& end, const Status& status) {
  if (far_.is_chosen(end.connection())) {
    // The near end has learnt the command's status, or is lost.
    if (!status) core::log().info("{}", status.error().message());
    return run_.finish_as(status ? tool::ExitStatus::success : tool::ExitStatus::own_failure);
  }
  far_.forget(end.connection());
  // Posted, since a handler of `end` calls.
  boost::asio::post(run_.io(),
                    [this, &end] { std::erase_if(ends_, [&end](const auto& each) { return each.get() == &end; }); });
}

}  // namespace udtcat::rsh
