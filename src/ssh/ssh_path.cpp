// SPDX-License-Identifier: Apache-2.0
#include "ssh/ssh_path.hpp"

#include <chrono>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include <udtcat/evidence.hpp>

#include "lib/core/log.hpp"
#include "lib/core/user_text.hpp"

namespace udtcat::ssh {

namespace {

constexpr std::chrono::milliseconds kLookInterval{250};  // guess: small beside what silence costs

std::chrono::microseconds held_by_path(const EndEvidence& end) {
  return end.held[static_cast<std::size_t>(Hold::path)] + end.held[static_cast<std::size_t>(Hold::sending)];
}

}  // namespace

SshPath::SshPath(tool::SessionRun& run, Connection& connection, SshDial& dial, const std::string& host)
    : run_(run), connection_(connection), dial_(dial), host_(host), timer_(run.io()) {
  watch();
}

void SshPath::conclude() {
  timer_.cancel();
  const PathSelector::Sample seen = sample();
  if (seen.on_ssh != is_on_ssh_) on_moved();
  std::ignore = selector_.next(seen);
  say_if_decided();
  if (selector_.ssh_is_faster()) dial_.remember(FallbackReason::udp_slow);
}

void SshPath::watch() {
  timer_.expires_after(kLookInterval);
  timer_.async_wait([this](const boost::system::error_code& cancelled) {
    if (cancelled) return;
    const PathSelector::Sample seen = sample();
    if (seen.on_ssh != is_on_ssh_) on_moved();
    apply(selector_.next(seen));
    say_if_decided();
    watch();
  });
}

PathSelector::Sample SshPath::sample() const {
  const ConnectionStats stats = connection_.stats();
  const EndEvidence& here = stats.evidence.here;
  const EndEvidence there = stats.evidence.there.value_or(EndEvidence());
  return {.at = std::chrono::steady_clock::now(),
          .on_ssh = connection_.path() == tunnel_address(connection_.peer().family()),
          .answers = connection_.answers(),
          .reported = there.elapsed,
          .bytes_arrived = stats.bytes_arrived,
          .bytes_carried = stats.bytes_carried,
          .packets_sent = here.packets_sent + there.packets_sent,
          .packets_lost = here.packets_lost + there.packets_lost,
          .packets_late = stats.packets_late,
          .held_by_path = held_by_path(here) + held_by_path(there),
          .loses_by_chance = verdict_on(since(at_move_, stats.evidence)).limit == Limit::loss};
}

void SshPath::apply(PathSelector::Decision decision) {
  if (decision == PathSelector::Decision::to_ssh) to_ssh();
  if (decision == PathSelector::Decision::to_udp) connection_.try_path(connection_.peer());
}

void SshPath::to_ssh() {
  if (ssh_has_ended_ || connection_.stats().flows > 1) return;
  if (!pipe_) {
    pipe_ = tunnel_through(dial_.ssh().pipes(), connection_, [this] { on_ssh_end(); });
    pipe_->write_first(encode(CarryDatagrams{}));
  }
  core::log().info("trying ssh's connection in place of UDP");
  connection_.try_path(tunnel_address(connection_.peer().family()));
}

void SshPath::on_moved() {
  is_on_ssh_ = !is_on_ssh_;
  at_move_ = connection_.stats().evidence;
  if (!is_on_ssh_ && std::exchange(has_said_, false)) run_.say(fmt::format("{}: going on over UDP", host_));
}

/// Says nothing during a trial of ssh.
void SshPath::say_if_decided() {
  if (!is_on_ssh_ || has_said_ || (selector_.slow_rate() && !selector_.ssh_is_faster())) return;
  has_said_ = true;
  const auto slow = selector_.slow_rate();
  const bool is_known = slow && slow->bits_per_second() >= 100'000;  // less was counted by late reports
  const std::string why = is_known ? fmt::format("carries {} only", core::format_bit_rate(*slow))
                          : slow   ? "is slow"
                                   : "has become silent";
  run_.say(fmt::format("{}: UDP {}: going on over ssh's connection", host_, why));
}

void SshPath::on_ssh_end() {
  ssh_has_ended_ = true;
  core::log().debug("ssh carries no datagrams any more");
  connection_.try_path(connection_.peer());
}

}  // namespace udtcat::ssh
