#include "lib/bridge/child_ending.hpp"

#include <csignal>
#include <utility>

#include "lib/core/log.hpp"
#include "lib/core/try.hpp"

namespace udtcat::bridge {

namespace {

using std::chrono::milliseconds;

/// A group's end is announced by nobody, only its leader's.
constexpr milliseconds kLook(10);  // guess: nobody notices so much more

}  // namespace

constexpr EndingSteps kInterruptedSteps{
    {{milliseconds(0), SIGHUP}, {milliseconds(500), SIGTERM}, {milliseconds(600), SIGKILL}}};
constexpr EndingSteps kLostSteps{
    {{milliseconds(0), SIGHUP}, {milliseconds(2'300), SIGTERM}, {milliseconds(5'000), SIGKILL}}};

ChildEnding::ChildEnding(boost::asio::io_context& io, ChildProcess& child, const EndingSteps& steps,
                         std::function<void()> on_gone)
    : child_(child), steps_(steps), on_gone_(std::move(on_gone)), next_(Clock::now() + steps.front().wait), timer_(io) {
  look_again();
}

ChildEnding::~ChildEnding() {
  if (!over_) child_.signal_group(SIGKILL);
}

void ChildEnding::look_again() {
  timer_.expires_after(sent_ == 0 ? milliseconds(0) : kLook);
  timer_.async_wait(lifetime_.guard([this](const boost::system::error_code& cancelled) {
    if (!cancelled) look();
  }));
}

void ChildEnding::look() {
  if (is_gone()) {
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
  look_again();
}

/// The leader may go first. The dead whom nobody buries are not waited for once all have been killed.
bool ChildEnding::is_gone() const {
  if (!child_.end()) return false;
  return sent_ == steps_.size() ? !child_.group_outlives_a_kill() : !child_.group_lives();
}

Status KeptChild::start(const ChildRequest& request, std::function<void(const ChildEnd&)> on_end) {
  UDTCAT_TRY(process_, ChildProcess::start(io_, request, [this, on_end = std::move(on_end)](const ChildEnd& end) {
               on_end(end);
               on_gone_();
             }));
  return {};
}

void KeptChild::end_it(bool interrupted) {
  if (!process_ || ending_ || (process_->end() && !process_->input_is_cut_for_somebody())) return;
  ending_.emplace(io_, *process_, interrupted ? kInterruptedSteps : kLostSteps, on_gone_);
}

}  // namespace udtcat::bridge
