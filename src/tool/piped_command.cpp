#include "tool/piped_command.hpp"

#include <utility>

#include "lib/bridge/child_stream.hpp"
#include "lib/core/log.hpp"

namespace udtcat::tool {

Result<std::unique_ptr<LocalStream>> PipedCommand::start(const Options& options, const StdioHalves& halves) {
  const bridge::ChildRequest request{.program = "/bin/sh",
                                     .words = {"sh", "-c", *options.exec},
                                     .pipe_stdout = halves.read,
                                     .pipe_stderr = false,
                                     .core_limit_bytes = options.core_limit_bytes};
  auto child = bridge::ChildProcess::start(io_, request, [this](const bridge::ChildEnd& end) {
    const std::error_code error = bridge::error_of(end);
    core::log().debug("the command {}", error ? error.message() : "ended well");
    on_gone_();
  });
  if (!child) return tl::unexpected(std::move(child.error()));
  child_ = std::move(*child);
  auto pipes = child_->take_pipes();
  // Where nothing will come the command is told at once.
  if (!halves.write) {
    pipes.input = {};
    child_->end_input();
  }
  return bridge::ChildStream::make(io_, *child_, std::move(pipes.input), std::move(pipes.output),
                                   bridge::ChildProof::success);
}

void PipedCommand::end_it(bool interrupted) {
  if (!child_ || ending_ || (child_->end() && !child_->input_is_cut_for_somebody())) return;
  ending_.emplace(io_, *child_, interrupted ? bridge::kInterruptedSteps : bridge::kLostSteps, on_gone_);
}

}  // namespace udtcat::tool
