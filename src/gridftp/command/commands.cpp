// SPDX-License-Identifier: Apache-2.0
#include "gridftp/command/commands.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include <udtcat/bridges.hpp>

#include "forward/forward.hpp"
#include "forward/forward_command.hpp"
#include "gridftp/client/outcome.hpp"
#include "gridftp/client/transfer.hpp"
#include "gridftp/command/gridftp_options.hpp"
#include "gridftp/gateway/gateway_session.hpp"
#include "gridftp/server/ftp_server.hpp"
#include "lib/core/log.hpp"
#include "lib/core/printable.hpp"
#include "lib/core/try.hpp"
#include "pipe/pipe_options.hpp"
#include "tool/cli/applications.hpp"
#include "tool/cli/process_setup.hpp"
#include "tool/program/check_summary.hpp"
#include "tool/run/endpoint_setup.hpp"
#include "tool/run/session_run.hpp"
#include "tool/run/warnings.hpp"

namespace udtcat::gridftp {

namespace {

using tool::Console;
using tool::ExitStatus;
using tool::FoundCredentials;
using tool::RunContext;

/// "-" is stdout for get, stdin for put.
Result<TransferRequest> request_for(boost::asio::io_context& io, const GridftpFile& file, bool get) {
  TransferRequest request;
  request.remote = file.remote;
  request.path = file.local;
  if (file.local != kStdio) return request;
  UDTCAT_TRY(request.pipe, make_stdio_stream(io, STDIN_FILENO, STDOUT_FILENO, {.read = !get, .write = get}));
  return request;
}

/// Counts payload of files, not bytes of data connections.
ConnectionStats stats_of(const TransferProgress& progress, const DataStats& data, Verb verb) {
  ConnectionStats stats = data.stats();
  stats.bytes_received = verb == Verb::get ? progress.bytes : 0;
  stats.bytes_sent = verb == Verb::get ? 0 : progress.bytes;
  return stats;
}

/// The warning that a clear control connection is not authenticated.
std::string unproved(const ClientOptions& options) {
  const std::string what = "udtcat: names, ranges, sizes and replies go in the clear and unproved";
  if (options.verb == Verb::copy || options.session.protection < Protection::safe) return what;
  if (options.recursive) return what + ": what a directory has, too, but not each file of a server that is udtcat";
  return what + ", unless the server is udtcat, which proves in the data session what it did";
}

/// Adds a hint about -r: servers have various replies where a directory is taken for a file, or a file for a directory.
/// Names in it may be a server's.
Error with_hint(Error error, const ClientOptions& options) {
  error.what = core::printable(error.what, kMaxMessageBytes);
  error.cause = core::printable(error.cause, kMaxMessageBytes);
  const auto says = [&error](const char* words) { return error.cause.find(words) != std::string::npos; };
  const bool gets = options.verb == Verb::get;
  if (options.verb == Verb::put && error.code == Errc::local_read_failed && says("it is a pipe"))
    error.cause += "; put - sends standard input";
  // -r is about the source.
  if (options.verb == Verb::copy || error.code == (gets ? Errc::local_write_failed : Errc::stream_refused))
    return error;
  if (options.recursive && says("ot a dir")) error.cause += "; for a file leave -r out";
  if (!options.recursive && (says("s a directory") || says("egular file") || says("plain file")))
    error.cause += "; -r is for directories";
  return error;
}

void warn_of_transfer(const ClientOptions& options, const DataOptions& data, Console& console) {
  if (data.kind != DataKind::session || data.session.protection == Protection::clear)
    core::log().info("nothing is protected: neither the login nor the data");
  if (options.clear_control) console.line(unproved(options));
  if (options.why && data.kind == DataKind::tcp)
    core::log().warn(
        "--why: nobody measures a path over tcp; --over udt, or a key, with a server that has it, is measured");
}

/// errors: those of make_stdio_stream()
Result<Task<Status>> transfer_of(boost::asio::io_context& io, const ClientOptions& options,
                                 const TransferOptions& transfer, const SharedProgress& progress) {
  const bool get = options.verb == Verb::get;
  if (options.verb == Verb::copy) return copy(io, options.from, options.to, transfer, progress);
  if (options.recursive) {
    const auto& [remote, local] = options.files.front();
    return get ? download_tree(io, remote, local, transfer, progress)
               : upload_tree(io, local, remote, transfer, progress);
  }
  std::vector<TransferRequest> requests;
  for (const GridftpFile& file : options.files) {
    UDTCAT_TRY(auto request, request_for(io, file, get));
    requests.push_back(std::move(request));
  }
  return (get ? download_all : upload_all)(io, std::move(requests), transfer, progress, nullptr);
}

ExitStatus transfer_command(const ClientOptions& options, FoundCredentials found, Console& console) {
  tool::SessionRun run(options, console, {.says_moved_when_cut = true, .how_to_go_on = tool::kSameCommand});
  auto transfer = options.transfer;
  if (found.credentials) transfer.data.credentials = std::make_shared<const Credentials>(std::move(*found.credentials));
  warn_of_transfer(options, transfer.data, console);
  const auto progress = std::make_shared<TransferProgress>();
  const auto data = transfer.data.stats = std::make_shared<DataStats>();
  run.on_interrupt([&run](const Error& why) { run.finish(why); });
  run.watch([progress, data, verb = options.verb] { return stats_of(*progress, *data, verb); });
  run.progress().measure([progress](const ConnectionStats& /*of all files*/) -> std::optional<tool::Amount> {
    if (!progress->file_bytes) return std::nullopt;
    return tool::Amount{progress->done_bytes(), *progress->file_bytes};
  });
  auto task = transfer_of(run.io(), options, transfer, progress);
  if (!task) return run.fail_to_start(std::move(task.error()));
  auto transferred = [&, task = std::move(*task)]() mutable -> Task<void> {
    const Status outcome = co_await std::move(task);
    if (!outcome) co_return run.finish(with_hint(outcome.error(), options));
    core::log().info("{} bytes moved, {} were there already", progress->bytes, progress->resumed_bytes);
    run.finish(std::nullopt);
  };
  boost::asio::co_spawn(run.io(), std::move(transferred), rethrow);
  return run.run();
}

ServeOptions serve_options(const ServerOptions& options, FoundCredentials found, std::shared_ptr<DataStats> data) {
  ServeOptions serve;
  serve.read_only = options.read_only;
  serve.third_party = options.third_party;
  serve.data = options.data;
  serve.data.stats = std::move(data);
  serve.data_address = options.data_endpoint.address;
  if (options.data_endpoint.idle_timeout_written) {
    const auto timeout = options.session.idle_timeout;
    serve.anonymous_quota.stall_timeout = serve.keyed_quota.stall_timeout = timeout;
    serve.idle_timeout = std::max(serve.idle_timeout, timeout);
  }
  if (found.credentials) serve.data.credentials = std::make_shared<const Credentials>(std::move(*found.credentials));
  serve.peers = found.peers;
  serve.least = options.least;
  return serve;
}

/// The clients that are served, and the options that would let others in.
std::string audience_of(const ServerOptions& options) {
  if (options.auth == ServeAuth::key) return fmt::format("to key holders{}", options.read_only ? ", read-only" : "");
  std::string text = "to everybody who reaches it, without proof, ";
  text += options.read_only ? "read-only" : "who may also change and delete files";
  if (options.least > Protection::clear)
    text += fmt::format("; names, sizes and times are everybody's, data are {}", to_string(options.least));
  if (!options.address_written) text += "; -l ADDR:PORT, or '*:PORT', lets other hosts in";
  if (options.read_only) text += "; --anonymous-writable lets them write";
  if (options.least == Protection::clear) text += "; -k FILE lets in key holders only";
  return text;
}

void count(const ByteCounts& moved, ConnectionStats& stats) {
  stats.bytes_sent = moved.sent;
  stats.bytes_received = moved.received;
}

/// Counts payload of files, and the packets over UDP of control and data connections.
ConnectionStats stats_of(const FtpServer& server, const DataStats& data) {
  ConnectionStats stats = data.stats();
  count(server.moved(), stats);
  stats.streams_open = server.clients().size();
  stats.ends = {};  // it would be that of one connection
  return stats;
}

/// Packets are counted for all data connections together: none of them is known to be of one peer.
void add_packets(tool::ProcessSnapshot& snapshot) {
  auto nameless = std::ranges::find(snapshot.peer_totals, std::string(), &tool::PeerTotal::name);
  if (nameless == snapshot.peer_totals.end()) nameless = snapshot.peer_totals.insert(nameless, tool::PeerTotal{});
  nameless->packets_sent = snapshot.all.packets_sent;
  nameless->packets_lost = snapshot.all.packets_lost;
}

ExitStatus serve_command(const ServerOptions& options, FoundCredentials found, Console& console) {
  tool::allow_descriptors(tool::kAllDescriptors);
  tool::SessionRun run(options, console);
  console.date_lines();
  auto root = ServedRoot::open(options.root);
  if (!root) return run.fail_to_start(std::move(root.error()));
  auto locals = resolve(options.local, options.family);
  if (!locals) return run.fail_to_start(std::move(locals.error()));
  run.keep_current(found.peers);
  const auto data = std::make_shared<DataStats>();
  FtpServer server(run.io(), std::move(*root), serve_options(options, std::move(found), data));
  const bool sealed = options.auth == ServeAuth::key;
  const auto endpoints = tool::one_per_family(*locals);
  if (auto listening = sealed ? server.listen_sealed(endpoints) : server.listen(endpoints); !listening)
    return run.fail_to_start(std::move(listening.error()));
  for (const Endpoint& local : server.local_endpoints())
    tool::log_event({.kind = tool::EventKind::listening,
                     .message = fmt::format("serving {} at {}://{}/{} {}", options.root, sealed ? "udtcat" : "ftp",
                                            tool::advertised_address(local),
                                            local.is_wildcard() ? ", and all other addresses of this host," : "",
                                            audience_of(options)),
                     .address = local.to_string(),
                     .object = options.root});
  run.watch([&server, data] { return stats_of(server, *data); });
  run.publish([&server, data, sealed](tool::ProcessSnapshot& snapshot) {
    snapshot.all = stats_of(server, *data);
    for (const Endpoint& local : server.local_endpoints())
      snapshot.listening.push_back((sealed ? "udp " : "tcp ") + local.to_string());
    for (const FtpServer::ClientStats& client : server.clients()) {
      ConnectionStats stats;
      count(client.moved, stats);
      stats.streams_open = 1;
      stats.made_at = client.came_at;
      snapshot.peers.push_back(tool::snapshot_of(client.number, client.address, stats));
      snapshot.peers.back().name = client.name;
    }
    server.totals().add_to(snapshot);
    add_packets(snapshot);
  });
  run.on_interrupt([&](const Error& why) {
    server.stop();
    run.finish(why);
  });
  return run.run();
}

/// A command whose options are decided once it is known whether the environment has a key.
template <typename CommandOptions, ExitStatus (*carry_out)(const CommandOptions&, FoundCredentials, Console&)>
class GridftpInvocation : public tool::OptionsInvocation<CommandOptions> {
 public:
  using tool::OptionsInvocation<CommandOptions>::OptionsInvocation;

  [[nodiscard]] Status prepare(bool has_key_candidate, Console& /*console*/) override {
    return decide_protection(this->options_, has_key_candidate);
  }
  [[nodiscard]] ExitStatus run(FoundCredentials found, const RunContext& context) override {
    return carry_out(this->options_, std::move(found), context.console);
  }
};
using ClientInvocation = GridftpInvocation<ClientOptions, transfer_command>;

class ServeInvocation final : public GridftpInvocation<ServerOptions, serve_command> {
 public:
  using GridftpInvocation::GridftpInvocation;
  [[nodiscard]] Result<tool::Words> check_summary() const override {
    const char* protocol = options_.auth == ServeAuth::key ? "udp" : "tcp";
    return tool::Words{fmt::format("serves {} at {}", options_.root,
                                   tool::local_address_text(protocol, options_.local, options_.family)),
                       audience_of(options_)};
  }
};

template <Verb verb>
Result<ClientOptions> parse_options_of(const tool::Words& arguments) {
  return parse_client_options(verb, arguments);
}

template <Verb verb>
tool::Command client_row(const char* word, const char* operands) {
  return {.words = {"gridftp", word},
          .help = help_text,
          .parse = tool::parse_as<ClientInvocation, parse_options_of<verb>>,
          .options = [] { return client_options_declared(verb); },
          .operands = operands};
}

/// A session between gateways, as the session of a forward.
/// Threads: confined to the io_context thread.
class GatewayForward final : public forward::ForwardSession {
 public:
  GatewayForward(Connection& connection, std::optional<UpstreamServer> server, forward::ErrorHandler on_error)
      : session_(
            std::make_shared<GatewaySession>(connection.io(), connection, std::move(server), std::move(on_error))) {
    connection.on_stream([session = session_](StreamId id) { session->take_stream(id); });
  }

  void take(bridge::StreamSocket client, const Endpoint& /*address*/, const std::string& /*service*/,
            EndHandler ended) override {
    boost::system::error_code gone;
    const auto socket = client.release(gone);
    if (!gone) session_->take_client({client.get_executor(), boost::asio::ip::tcp::v4(), socket}, std::move(ended));
  }

 private:
  const std::shared_ptr<GatewaySession> session_;
};

/// A forward that knows what FTP says about data connections.
class GatewayInvocation final : public tool::OptionsInvocation<pipe::PipeOptions> {
 public:
  using OptionsInvocation::OptionsInvocation;

  [[nodiscard]] Result<tool::Words> check_summary() const override { return pipe::mode_summary(options_); }
  [[nodiscard]] Status prepare(bool /*has_key_candidate*/, Console& console) override {
    tool::warn_of_protection(options_.session.protection, console);
    return {};
  }
  [[nodiscard]] ExitStatus run(FoundCredentials found, const RunContext& context) override {
    if (options_.listens && server().host.find(':') != std::string::npos)
      return tool::SessionRun(options_, context.console)
          .fail_to_start({Errc::cannot_resolve, "reach " + to_string(server()), kNeedsIpv4});
    const auto builder = [this](boost::asio::io_context& io) -> forward::ForwardSessionFactory {
      std::optional<UpstreamServer> upstream;
      if (options_.listens)
        upstream = UpstreamServer{server(), std::make_shared<net::Resolver>(io, options_.socket_family)};
      return [upstream](Connection& connection, forward::ErrorHandler on_error) {
        return std::make_unique<GatewayForward>(connection, upstream, std::move(on_error));
      };
    };
    return forward::forward_command(options_, std::move(found), context.console, builder);
  }

 private:
  [[nodiscard]] const HostPort& server() const { return options_.services.front().address.tcp; }
};

Result<pipe::PipeOptions> parse_gateway_options(const tool::Words& arguments) {
  UDTCAT_TRY(pipe::PipeOptions options, pipe::parse_forward_options("udtcat gridftp gateway", arguments));
  options.session.application = tool::kGateway;
  options.session.services.clear();             // each stream begins with a line that names its target
  options.socket_family = AddressFamily::ipv4;  // PORT and PASV have no room for others
  return options;
}

Result<std::unique_ptr<tool::Invocation>> parse_no_verb(const tool::Words& arguments) {
  const std::string first = arguments.empty() ? "" : arguments.front();
  if (first == "-h" || first == "--help") return nullptr;
  constexpr const char* kVerbs = "; they are get, put, copy, serve and gateway";
  if (first.empty() || first.front() == '-')
    return tool::misplaced("gridftp",
                           (first.empty() ? "a verb is missing" : "a verb comes first") + std::string(kVerbs));
  return tool::misplaced("gridftp \"" + first + "\"", std::string("there is no such verb") + kVerbs);
}

}  // namespace

tool::Commands commands() {
  return {{.words = {"gridftp"}, .help = help_text, .parse = parse_no_verb},
          client_row<Verb::get>("get", "- :file"),
          client_row<Verb::put>("put", ":file..."),
          client_row<Verb::copy>("copy", ""),
          {.words = {"gridftp", "serve"},
           .help = help_text,
           .parse = tool::parse_as<ServeInvocation, parse_server_options>,
           .options = server_options_declared},
          {.words = {"gridftp", "gateway"},
           .help = gateway_help_text,
           .parse = tool::parse_as<GatewayInvocation, parse_gateway_options>,
           .options = pipe::forward_options_declared,
           .operands = ":host"}};
}

}  // namespace udtcat::gridftp
