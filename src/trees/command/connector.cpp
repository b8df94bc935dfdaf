// SPDX-License-Identifier: Apache-2.0
#include "trees/command/connector.hpp"

#include <utility>

#include "lib/core/log.hpp"
#include "lib/core/try.hpp"
#include "tool/requests.hpp"
#include "trees/command/tree_run.hpp"

namespace udtcat::trees {

Status Connector::dial(std::optional<Credentials> credentials) {
  UDTCAT_TRY(DialRequest request, tool::make_dial_request(options_, std::move(credentials)));
  run_.wait_for("dialling " + tool::to_string(options_.peer));
  dialer_ = udtcat::dial(run_.io(), std::move(request), [this](Result<std::unique_ptr<Connection>> connection) {
    if (!connection) return run_.finish(std::move(connection.error()));
    begin_session(std::move(*connection));
  });
  return {};
}

void Connector::begin_session(std::unique_ptr<Connection> connection) {
  core::log().info("connected to {}", connection->peer().to_string());
  const auto work = [&options = options_](Wire& wire, Tally& tally, const OtherEnd& other) {
    return work_as_connector(options, wire, tally, other);
  };
  session_.emplace(run_.io(), std::move(connection), make_tally(run_.console()), work,
                   [this] { finish_run(run_, options_, session_->result(), session_->tally()); });
  run_.follow(session_->connection());
  run_.measure([this](const ConnectionStats& /*of the stream*/) { return amount_of(session_->tally()); });
  session_->open();
}

}  // namespace udtcat::trees
