// SPDX-License-Identifier: Apache-2.0
#include "lib/bridge/child_termination.hpp"

#include <csignal>

#include "lib/core/log.hpp"
#include "lib/core/try.hpp"

namespace udtcat::bridge {

namespace {

using std::chrono::milliseconds;

/// There is no event for the end of a process group, only for that of its leader: the group is polled.
constexpr milliseconds kPollInterval(10);  // guess: shorter than a user notices

}  // namespace

constexpr TerminationSteps kInterruptedSteps{
    {{milliseconds(0), SIGHUP}, {milliseconds(500), SIGTERM}, {milliseconds(600), SIGKILL}}};
constexpr TerminationSteps kLostSteps{
    {{milliseconds(0), SIGHUP}, {milliseconds(2'300), SIGTERM}, {milliseconds(5'000), SIGKILL}}};

ChildTermination::ChildTermination(boost::asio::io_context& io, ChildProcess& child, const TerminationSteps& steps,
                                   std::function<void()> on_gone)
    : child_(child), steps_(steps), on_gone_(std::move(on_gone)), next_(Clock::now() + steps.front().wait), timer_(io) {
  poll_later();
}

ChildTermination::~ChildTermination() {
  if (!over_) child_.signal_group(SIGKILL);
}

void ChildTermination::poll_later() {
  timer_.expires_after(sent_ == 0 ? milliseconds(0) : kPollInterval);
  timer_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
    if (!cancelled) poll();
  }));
}

void ChildTermination::poll() {
  if (group_is_gone()) {
    over_ = true;
    return std::exchange(on_gone_, nullptr)();
  }
  if (sent_ < steps_.size() && Clock::now() >= next_) {
    child_.signal_group(steps_[sent_].signal);
    if (++sent_ < steps_.size()) next_ += steps_[sent_].wait;
  }
  if (sent_ == steps_.size() && !warned_ && child_.group_is_out_of_reach()) {
    warned_ = true;
    core::log().warn(
        "the command runs as another user and cannot be ended: its input stays open until it ends by itself");
  }
  poll_later();
}

/// The leader may end before its group. Once all have been killed, members that are dead but not reaped count as gone.
bool ChildTermination::group_is_gone() const {
  if (!child_.end()) return false;
  return sent_ == steps_.size() ? !child_.group_outlives_a_kill() : !child_.group_lives();
}

Status SupervisedChild::start(const ChildRequest& request, std::function<void(const ChildExit&)> on_end) {
  UDTCAT_TRY(process_, ChildProcess::start(io_, request, [this, on_end = std::move(on_end)](const ChildExit& end) {
               on_end(end);
               on_gone_();
             }));
  return {};
}

void SupervisedChild::terminate(bool interrupted) {
  if (!process_ || termination_ || (process_->end() && !process_->incomplete_input_has_reader())) return;
  termination_.emplace(io_, *process_, interrupted ? kInterruptedSteps : kLostSteps, on_gone_);
}

}  // namespace udtcat::bridge
