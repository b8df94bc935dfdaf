// SPDX-License-Identifier: Apache-2.0
#include "rsh/ssh_path.hpp"

#include <chrono>
#include <tuple>

#include <fmt/format.h>

#include <udtcat/evidence.hpp>

#include "lib/core/log.hpp"
#include "lib/core/user_text.hpp"

namespace udtcat::rsh {

namespace {

constexpr std::chrono::milliseconds kLookInterval{250};  // guess: small beside what silence costs

}  // namespace

SshPath::SshPath(tool::SessionRun& run, Connection& connection, SshDial& dial, const std::string& host)
    : run_(run), connection_(connection), dial_(dial), host_(host), timer_(run.io()) {
  watch();
}

void SshPath::conclude() {
  timer_.cancel();
  std::ignore = choice_.next(sample());
  if (choice_.ssh_is_faster()) dial_.remember(Finding::udp_slow);
}

void SshPath::watch() {
  timer_.expires_after(kLookInterval);
  timer_.async_wait([this](const boost::system::error_code& cancelled) {
    if (cancelled) return;
    const WayChoice::Sample seen = sample();
    if (seen.on_ssh != is_on_ssh_) on_moved();
    move(choice_.next(seen));
    watch();
  });
}

WayChoice::Sample SshPath::sample() const {
  const ConnectionStats stats = connection_.stats();
  const EndEvidence& here = stats.evidence.here;
  const EndEvidence there = stats.evidence.there.value_or(EndEvidence());
  return {.at = std::chrono::steady_clock::now(),
          .on_ssh = !(connection_.path() == connection_.peer()),
          .answers = connection_.answers(),
          .reported = there.elapsed,
          .has_unreported = here.bytes_received > there.bytes_sent,
          .bytes_taken = here.bytes_received + there.bytes_received,
          .packets_sent = here.packets_sent + there.packets_sent,
          .packets_lost = here.packets_lost + there.packets_lost,
          .loses_by_chance = verdict_on(stats.evidence).limit == Limit::loss};
}

void SshPath::move(WayChoice::Move move) {
  if (move == WayChoice::Move::to_ssh) to_ssh();
  if (move == WayChoice::Move::to_udp) connection_.try_path(connection_.peer());
}

/// Each time by a new socket: our engine may have one, too.
void SshPath::to_ssh() {
  if (ssh_has_ended_ || connection_.stats().flows > 1) return;
  if (!relay_) {
    relay_ = std::make_unique<DatagramRelay>(run_.io(), dial_.ssh().pipes(), [this] { on_ssh_end(); });
    relay_->write_first(encode(CarryDatagrams{}));
  }
  const auto address = relay_->listen(connection_.peer().family());
  if (!address) return core::log().info("{}", address.error().message());
  core::log().info("trying ssh's connection in place of UDP");
  connection_.try_path(*address);
}

void SshPath::on_moved() {
  is_on_ssh_ = !is_on_ssh_;
  if (!is_on_ssh_) return run_.say(fmt::format("{}: going on over UDP", host_));
  const auto slow = choice_.slow_rate();
  const std::string why = slow ? fmt::format("carries {} only", core::format_bit_rate(*slow)) : "has become silent";
  run_.say(fmt::format("{}: UDP {}: going on over ssh's connection", host_, why));
}

void SshPath::on_ssh_end() {
  ssh_has_ended_ = true;
  core::log().debug("ssh carries no datagrams any more");
  connection_.try_path(connection_.peer());
}

}  // namespace udtcat::rsh
