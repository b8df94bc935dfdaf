// SPDX-License-Identifier: Apache-2.0
#include "fault/run.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <functional>
#include <memory>
#include <tuple>
#include <vector>

#include "fault/case.hpp"
#include "support/deadline.hpp"
#include "support/scale.hpp"

namespace udtcat::fault {

namespace {

using namespace std::chrono_literals;
using test::Clock;

/// After the fault, or after it has passed: 4 s to connect and 8 to be connected to, 10 for a handshake, 3 of silence
/// (the options that a case gives, and docs/threat-model.md), each at most once in a row; the rest is a loaded
/// machine's.
constexpr auto kPatience = test::patience(30s);
constexpr auto kStopped = 5s;  // longer than the silence that an end bears

class Run {
 public:
  Run(Stage& stage, const Scenario& scenario) : stage_(stage), scenario_(scenario) {}

  [[nodiscard]] Report play() {
    stage_.path().heal(scenario_.one_way_delay, scenario_.seed,
                       scenario_.by_tcp ? Path::Counted::tcp : Path::Counted::udp);
    const unsigned sessions = scenario_.fault == Fault::splice ? 2 : 1;
    for (unsigned number = 0; number < sessions; ++number) {
      auto made = make_case(stage_, scenario_, number);
      if (!made) return {.ran = false};
      cases_.push_back(std::move(made));
    }
    for (const auto& each : cases_) each->start();
    const auto begin = Clock::now();
    std::ignore = wait(kPatience, [&] { return its_moment(Clock::now() - begin); });
    report_.struck = !over();
    const auto struck = Clock::now();
    if (report_.struck) strike();
    if (report_.struck && passes()) relent();
    if (!wait(kPatience)) report_.hangs.emplace_back("not over after all times have passed");
    report_.after = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - struck);
    judge();
    return std::move(report_);
  }

 private:
  [[nodiscard]] bool over() {
    return std::ranges::all_of(cases_, [](const auto& each) { return each->over(); });
  }

  void hold(std::chrono::milliseconds time) {
    std::ignore = test::eventually(time, [&] {
      for (const auto& each : cases_) each->tick();
      return false;
    });
  }
  /// Until all is over, or it is enough; false where it took longer than that.
  [[nodiscard]] bool wait(
      std::chrono::milliseconds limit, const std::function<bool()>& enough = [] { return false; }) {
    return test::eventually(limit, [&] {
      for (const auto& each : cases_) each->tick();
      return over() || enough();
    });
  }

  [[nodiscard]] bool its_moment(Clock::duration since_start) {
    std::uint64_t came = 0;
    for (const auto& each : cases_) came += each->progress();
    const auto bytes = static_cast<double>((scenario_.bytes_out + scenario_.bytes_back) * cases_.size());
    return since_start >= scenario_.moment.after && stage_.path().packets() >= scenario_.moment.packets &&
           static_cast<double>(came) >= scenario_.moment.share * bytes;
  }

  /// Whether the fault is over before the run is.
  [[nodiscard]] bool passes() const {
    return std::ranges::count(std::array{Fault::stop, Fault::pause, Fault::brief_hole, Fault::drop, Fault::repeat,
                                         Fault::reorder, Fault::flip, Fault::splice},
                              scenario_.fault) > 0;
  }

  void strike() {
    Case& victim = *cases_.front();
    switch (scenario_.fault) {
      case Fault::kill:
        return victim.send_signal(scenario_.victim, SIGKILL);
      case Fault::restart:
        return victim.restart(scenario_.victim);
      case Fault::stop:
      case Fault::pause:
        return victim.send_signal(scenario_.victim, SIGSTOP);
      case Fault::hang_up:
        return victim.send_signal(scenario_.victim, SIGHUP);
      case Fault::interrupt:
        return victim.send_signal(scenario_.victim, SIGINT);
      case Fault::terminate:
        return victim.send_signal(scenario_.victim, SIGTERM);
      case Fault::new_address:
        return stage_.path().move_near();
      case Fault::none:
      case Fault::full_disk:
        return;
      case Fault::one_way_hole:
        return stage_.path().set(scenario_.victim, {.hole = true});
      default:
        break;
    }
    for (const Side side : {Side::near, Side::far}) stage_.path().set(side, trouble());
  }

  [[nodiscard]] Trouble trouble() const {
    constexpr std::size_t kSmallPacketBytes = 600;  // guess: below what every engine begins with
    switch (scenario_.fault) {
      case Fault::black_hole:
      case Fault::brief_hole:
        return {.hole = true};
      case Fault::small_packets:
        return {.most_bytes = kSmallPacketBytes};
      case Fault::drop:
        return {.drop = scenario_.chance};
      case Fault::repeat:
        return {.repeat = scenario_.chance};
      case Fault::reorder:
        return {.late = scenario_.chance};
      case Fault::flip:
        return {.flip = scenario_.chance};
      case Fault::splice:
        return {.splice = scenario_.chance};
      default:
        return {};
    }
  }

  /// After its time the fault is over; a stop, when nobody waits for the one who was stopped any more.
  void relent() {
    hold(scenario_.fault == Fault::stop ? kStopped : scenario_.lasts);
    if (scenario_.fault == Fault::stop && !wait(kPatience))
      report_.hangs.emplace_back("not over without who was stopped");
    if (scenario_.fault == Fault::stop || scenario_.fault == Fault::pause)
      return cases_.front()->send_signal(scenario_.victim, SIGCONT);
    for (const Side side : {Side::near, Side::far}) stage_.path().set(side, {});
  }

  void judge() {
    for (const auto& each : cases_) each->finish(report_);
    for (const auto& each : cases_) each->check(report_);
    if (scenario_.fault == Fault::none && !scenario_.command_fails && !report_.whole)
      report_.odd.emplace_back("nothing was wrong, and it did not succeed");
  }

  Stage& stage_;
  const Scenario scenario_;
  std::vector<std::unique_ptr<Case>> cases_;
  Report report_;
};

}  // namespace

Report play(Stage& stage, const Scenario& scenario) { return Run(stage, scenario).play(); }

}  // namespace udtcat::fault
