#include "bridge/child_ending.hpp"

#include <csignal>
#include <utility>

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
  look_again();
}

/// The leader may go first. After SIGKILL nothing of them runs any more: those whom nobody buries would be waited for in vain.
bool ChildEnding::is_gone() const { return child_.end() && (sent_ == steps_.size() || !child_.group_lives()); }

}  // namespace udtcat::bridge
