// SPDX-License-Identifier: Apache-2.0
#include "rsh/daemon.hpp"

#include <utility>

#include <fmt/format.h>

#include "lib/core/log.hpp"
#include "lib/core/try.hpp"
#include "tool/run/warnings.hpp"

namespace udtcat::rsh {

namespace {

constexpr std::size_t kMaxCommands = 256;  // guess: each is a process and a session

}  // namespace

Status Daemon::start(const tool::Options& options, tool::FoundCredentials found) {
  UDTCAT_TRY(listener_,
             tool::PeerListener::start(run_, options, std::move(found), [this](std::unique_ptr<Connection> connection) {
               take(std::move(connection));
             }));
  run_.watch([this] { return total(); });
  run_.publish([this](tool::ProcessSnapshot& snapshot) { add_to(snapshot); });
  run_.on_interrupt([this](const Error& why) { stop(why); });
  return {};
}

void Daemon::take(std::unique_ptr<Connection> connection) {
  if (ends_.size() >= kMaxCommands)
    return rejected_.reject(std::move(connection),
                            {Errc::stream_refused, "run another command", fmt::format("{} run already", kMaxCommands)});
  const std::string peer = tool::peer_text(*connection);
  const auto variable = tool::peer_variable(connection->peer_identity());
  peer_log_.on_come(*connection);
  ends_.add(
      std::move(connection),
      [this, peer, variable](const ssh::ControlMessage& request) {
        auto program = list_.program_for(request);
        if (program)
          program->variables = {variable};
        else
          core::log().warn("{}: {}", peer, program.error().message());
        return program;
      },
      nullptr, [this](FarEnd& end, const Status& status) { on_over(end, status); });
}

void Daemon::on_over(FarEnd& end, const Status& status) {
  peer_log_.on_gone(end.connection(), status);
  past_ = sum(past_, end.connection().stats());
  ends_.remove(end, [this] {
    if (stopping_ && ends_.size() == 0) run_.finish(std::nullopt);
  });
}

ConnectionStats Daemon::total() const {
  ConnectionStats all = past_;
  ends_.for_each([&](std::uint64_t, FarEnd& end) { all = sum(all, end.connection().stats()); });
  return all;
}

void Daemon::add_to(tool::ProcessSnapshot& snapshot) const {
  snapshot.all = total();
  listener_->add_to(snapshot);
  ends_.for_each([&](std::uint64_t number, FarEnd& end) {
    snapshot.peers.push_back(tool::snapshot_of(number, end.connection()));
  });
}

void Daemon::stop(const Error& why) {
  stopping_ = true;
  listener_->stop();
  if (ends_.size() == 0) return run_.finish(why);
  ends_.abort_all(why);
}

}  // namespace udtcat::rsh
