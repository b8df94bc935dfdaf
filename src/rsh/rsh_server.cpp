// SPDX-License-Identifier: Apache-2.0
#include "rsh/rsh_server.hpp"

#include <utility>

#include <boost/asio/post.hpp>

#include "lib/core/log.hpp"

namespace udtcat::rsh {

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
