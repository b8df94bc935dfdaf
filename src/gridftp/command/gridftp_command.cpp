/// udtcat gridftp: a peer of Globus' servers and clients.
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include <udtcat/bridges.hpp>

#include "gridftp/client/transfer.hpp"
#include "gridftp/server/ftp_server.hpp"
#include "lib/core/log.hpp"
#include "tool/commands.hpp"
#include "tool/process_hardening.hpp"
#include "tool/requests.hpp"
#include "tool/session_run.hpp"

namespace udtcat::tool {

namespace {

/// "-" is stdout for get, stdin for put.
Result<gridftp::TransferJob> job_for(boost::asio::io_context& io, const GridftpFile& file, bool get) {
  gridftp::TransferJob job;
  job.remote = file.remote;
  job.path = file.local;
  if (file.local != kStdio) return job;
  auto stdio = make_stdio_stream(io, STDIN_FILENO, STDOUT_FILENO, {.read = !get, .write = get});
  if (!stdio) return tl::unexpected(std::move(stdio.error()));
  job.pipe = std::move(*stdio);
  return job;
}

ConnectionStats figures_of(const gridftp::TransferProgress& progress, GridftpVerb verb) {
  ConnectionStats stats;
  (verb == GridftpVerb::get ? stats.bytes_received : stats.bytes_sent) = progress.bytes;
  return stats;
}

/// The warning that a control connection in the clear is proved by no key.
std::string unproved(const GridftpOptions& options) {
  const std::string what = "udtcat: names, ranges, sizes and replies go in the clear and unproved";
  if (options.verb == GridftpVerb::copy || options.common.session.protection < Protection::safe) return what;
  return what + ", unless the server is udtcat, which proves in the data session what it did";
}

ExitStatus transfer_command(const GridftpOptions& options, FoundKey found, Console& console) {
  SessionRun run(options.common, console);
  auto transfer = options.transfer;
  if (found.key) transfer.data.key = std::make_shared<const Key>(std::move(*found.key));
  if (transfer.data.kind != gridftp::DataKind::session || transfer.data.session.protection == Protection::clear)
    core::log().info("nothing is protected: neither the login nor the data");
  if (options.clear_control) console.line(unproved(options));
  const auto progress = std::make_shared<gridftp::TransferProgress>();
  run.on_interrupt([&run](const Error& why) { run.finish(why); });
  run.watch("", [progress, verb = options.verb] { return figures_of(*progress, verb); });
  const auto conclude = [&run, progress](const Status& outcome) {
    if (!outcome) return run.finish(outcome.error());
    core::log().info("{} bytes moved, {} were there already", progress->bytes, progress->resumed_bytes);
    run.finish(std::nullopt);
  };
  if (options.verb == GridftpVerb::copy) {
    gridftp::async_copy(run.io(), options.from, options.to, transfer, progress, conclude);
    return run.run();
  }
  const bool get = options.verb == GridftpVerb::get;
  std::vector<gridftp::TransferJob> jobs;
  for (const GridftpFile& file : options.files) {
    auto job = job_for(run.io(), file, get);
    if (!job) return run.fail_to_start(std::move(job.error()));
    jobs.push_back(std::move(*job));
  }
  if (get)
    gridftp::async_download(run.io(), std::move(jobs), transfer, progress, conclude);
  else
    gridftp::async_upload(run.io(), std::move(jobs), transfer, progress, conclude);
  return run.run();
}

gridftp::ServeOptions serve_options(const GridftpOptions& options, FoundKey found) {
  gridftp::ServeOptions serve;
  serve.read_only = options.read_only;
  serve.third_party = options.third_party;
  serve.data = options.transfer.data;
  if (found.key) serve.data.key = std::make_shared<const Key>(std::move(*found.key));
  serve.least = options.least;
  return serve;
}

/// To whom, and how to change that.
std::string audience_of(const GridftpOptions& options) {
  if (options.auth == ServeAuth::key)
    return fmt::format("to who has the key{}", options.read_only ? ", read-only" : "");
  std::string text = "to everybody who reaches it, without proof, ";
  text += options.read_only ? "read-only" : "who may also change and delete files";
  if (options.least > Protection::clear)
    text += fmt::format("; names, sizes and times are everybody's, data are {}", to_string(options.least));
  if (!options.listen_written) text += "; -l [ADDR:]PORT lets other hosts in";
  if (options.read_only) text += "; --anonymous-writable lets them write";
  if (options.least == Protection::clear) text += "; -k FILE lets in only who has the key";
  return text;
}

ExitStatus serve_command(const GridftpOptions& options, FoundKey found, Console& console) {
  constexpr std::uint64_t kDescriptors = 4096;  // guess: all its clients and data connections, and their files
  allow_descriptors(kDescriptors);
  SessionRun run(options.common, console);
  auto root = gridftp::ServedRoot::open(options.root);
  if (!root) return run.fail_to_start(std::move(root.error()));
  auto locals = resolve(options.common.local, options.common.family);
  if (!locals) return run.fail_to_start(std::move(locals.error()));
  gridftp::FtpServer server(run.io(), std::move(*root), serve_options(options, std::move(found)));
  const bool sealed = options.auth == ServeAuth::key;
  const auto fronts = one_per_family(*locals);
  if (auto listening = sealed ? server.listen_sealed(fronts) : server.listen(fronts); !listening)
    return run.fail_to_start(std::move(listening.error()));
  for (const Endpoint& local : server.local_endpoints())
    console.line(fmt::format("udtcat: serving {} at {}://{}/ {}", options.root, sealed ? "udtcat" : "ftp",
                             local.to_string(), audience_of(options)));
  run.watch("", [&server] {
    ConnectionStats stats;
    stats.bytes_sent = server.moved_bytes();
    return stats;
  });
  run.on_interrupt([&](const Error& why) {
    server.stop();
    run.finish(why);
  });
  return run.run();
}

}  // namespace

ExitStatus gridftp_command(const GridftpOptions& options, FoundKey key, Console& console) {
  if (options.verb == GridftpVerb::serve) return serve_command(options, std::move(key), console);
  return transfer_command(options, std::move(key), console);
}

}  // namespace udtcat::tool
