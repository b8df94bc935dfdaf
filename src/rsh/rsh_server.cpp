// SPDX-License-Identifier: Apache-2.0
#include "rsh/rsh_server.hpp"

#include <utility>

#include "lib/core/log.hpp"
#include "rsh/user_shell.hpp"

namespace udtcat::rsh {

RshServer::RshServer(tool::SessionRun& run, const ssh::FarOptions& options, std::uint64_t core_limit_bytes)
    : run_(run),
      core_limit_bytes_(core_limit_bytes),
      ends_(run.io()),
      far_(run, options,
           {.on_connection = [this](std::unique_ptr<Connection> connection) { take(std::move(connection)); },
            .on_request =
                [this](const ssh::ControlMessage& request) {
                  fallback_ = request;
                  run_.finish(std::nullopt);
                },
            .abort_all =
                [this](const Error& why) {
                  ends_.abort_all(why);
                  return ends_.size() > 0;
                }}) {}

void RshServer::take(std::unique_ptr<Connection> connection) {
  ends_.add(
      std::move(connection),
      [this](const ssh::ControlMessage& request) { return launch_for_user(request, core_limit_bytes_); },
      [this](FarEnd& end) {
        if (!far_.choose(end.connection())) return false;
        run_.watch_connection(end.connection());
        return true;
      },
      [this](FarEnd& end, const Status& status) { on_over(end, status); });
}

void RshServer::on_over(const FarEnd& end, const Status& status) {
  if (far_.is_chosen(end.connection())) {
    // The near end has learnt the command's status, or is lost.
    if (!status) core::log().info("{}", status.error().message());
    return run_.finish_as(status ? tool::ExitStatus::success : tool::ExitStatus::own_failure);
  }
  far_.forget(end.connection());
  ends_.remove(end, [] {});
}

}  // namespace udtcat::rsh
