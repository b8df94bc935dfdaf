// SPDX-License-Identifier: Apache-2.0
#include "rsh/command_over_ssh.hpp"

#include <chrono>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include <udtcat/bridges.hpp>

#include "lib/core/log.hpp"
#include "lib/core/text.hpp"
#include "lib/core/try.hpp"
#include "rsh/user_shell.hpp"
#include "ssh/bootstrap_script.hpp"

namespace udtcat::rsh {

namespace {

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

Status CommandOverSsh::start(const ssh::ControlMessage& request, bool reads_input) {
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
void CommandOverSsh::relay() {
  input_ = std::make_unique<bridge::Relay>(*stdio_, ssh_.pipes(), [this](const bridge::Relay::Outcome& outcome) {
    if (!outcome.read_error) return;
    core::log().error("local read from stdin failed: {}", outcome.read_error.message());
    cut();
  });
  output_ = std::make_unique<bridge::Relay>(ssh_.pipes(), *stdio_,
                                            [this](const bridge::Relay::Outcome& outcome) { on_output_over(outcome); });
}

void CommandOverSsh::on_output_over(const bridge::Relay::Outcome& outcome) {
  if (outcome.write_error && outcome.write_error != std::errc::broken_pipe)
    core::log().error("write stdout: {}", outcome.write_error.message());
  if (outcome.write_error || outcome.read_error) return cut();
  is_output_over_ = true;
  end_if_over();
}

void CommandOverSsh::cut() {
  ssh_.end(std::chrono::milliseconds(0), [this] {
    if (on_end_) std::exchange(on_end_, nullptr)(kBytesLost);
  });
}

void CommandOverSsh::end_if_over() {
  if (!status_ || (output_ && !is_output_over_) || !on_end_) return;
  // A command that was not begun must not have status 0.
  std::exchange(on_end_, nullptr)(output_ || *status_ != 0 ? *status_ : kBytesLost);
}

}  // namespace udtcat::rsh
