/// udtcat gridftp: a peer of Globus' servers.
#include "cli/commands.hpp"
#include "cli/session_run.hpp"
#include "core/log.hpp"
#include "gridftp/transfer.hpp"

namespace udtcat::cli {

ExitStatus gridftp_command(const GridftpOptions& options, Console& console) {
  SessionRun run(options.common, console);
  run.on_interrupt([&run](const Error& why) { run.finish(why); });
  const auto conclude = [&run](const Result<gridftp::TransferOutcome>& outcome) {
    if (!outcome) return run.finish(outcome.error());
    core::log().info("{} bytes", outcome->bytes);
    run.finish(std::nullopt);
  };
  if (options.verb == GridftpVerb::get) {
    gridftp::async_download(run.io(), options.remote, options.file, options.transfer, conclude);
    return run.run();
  }
  const auto source = gridftp::BlockStore::open_to_read(options.file);
  if (!source) return run.fail_to_start(source.error());
  gridftp::async_upload(run.io(), *source, options.remote, options.transfer, conclude);
  return run.run();
}

}  // namespace udtcat::cli
