// SPDX-License-Identifier: Apache-2.0
#include "wan/lab.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <iostream>
#include <sstream>

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"

namespace udtcat::wan {
namespace {

constexpr int kEndedBySignal = 128;  // spec: POSIX sh, "exit status for commands"

constexpr std::chrono::nanoseconds kLongSleep = std::chrono::milliseconds(1);  // guess: a busy machine has none
constexpr std::chrono::nanoseconds kMaxWakeDelay =
    std::chrono::microseconds(250);               // guess: later is a neighbour's doing
constexpr auto kGrace = std::chrono::seconds(2);  // guess: to write a last line takes less

TimePoint now() { return std::chrono::steady_clock::now(); }

/// Taken by descriptor from now on.
Result<Descriptor> watch_signals() {
  sigset_t watched;
  sigemptyset(&watched);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) sigaddset(&watched, signal);
  ::sigprocmask(SIG_BLOCK, &watched, nullptr);
  ::signal(SIGPIPE, SIG_IGN);  // whoever read our summary may be gone; the ends are to be cleared all the same
  Descriptor signals(::signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals.valid()) return fail(Errc::out_of_resources, "watch signals", core::errno_text(errno));
  return signals;
}

struct NamespaceEnd {
  NetworkNamespace netns;
  TunDevice device;
};

/// Leaves the caller in the namespace that was made.
Result<NamespaceEnd> make_end(const LabOptions& options, unsigned number) {
  auto netns = make_network_namespace();
  if (!netns) return tl::unexpected(netns.error());
  for (const auto& [name, value] : options.sysctls)
    if (auto set = set_sysctl(name, value); !set) return tl::unexpected(set.error());
  auto device = TunDevice::create(addresses_of(number), options.mtu_bytes);
  if (!device) return tl::unexpected(device.error());
  return NamespaceEnd{std::move(*netns), std::move(*device)};
}

nlohmann::ordered_json to_json(const LinkCounters& counters) {
  return {{"segments", counters.segments},
          {"bytes", counters.bytes},
          {"lost", counters.lost},
          {"policed", counters.policed},
          {"tail_dropped", counters.tail_dropped},
          {"codel_dropped", counters.codel_dropped},
          {"blacked_out", counters.blacked_out},
          {"too_long", counters.too_long},
          {"reordered", counters.reordered},
          {"duplicated", counters.duplicated},
          {"undelivered", counters.undelivered}};
}

std::string summary(const char* way, const LinkCounters& counters) {
  return fmt::format(
      "wanlab: {}: {} segments, {}; {} lost, {} policed, {} tail-dropped, {} by CoDel, {} in outages, {} too long, {} "
      "late, {} twice, {} undelivered",
      way, counters.segments, core::format_size(counters.bytes), counters.lost, counters.policed, counters.tail_dropped,
      counters.codel_dropped, counters.blacked_out, counters.too_long, counters.reordered, counters.duplicated,
      counters.undelivered);
}

}  // namespace

Result<std::unique_ptr<Lab>> Lab::create(const LabOptions& options) {
  const auto directory = record_directory();
  if (!directory) return tl::unexpected(directory.error());
  auto user = become_root();
  if (!user) return tl::unexpected(user.error());
  auto near = make_end(options, 1);
  if (!near) return tl::unexpected(near.error());
  auto far = make_end(options, 2);
  if (!far) return tl::unexpected(far.error());
  auto signals = watch_signals();
  if (!signals) return tl::unexpected(signals.error());
  std::unique_ptr<Lab> made(new Lab(options, std::move(*user), std::move(near->netns), std::move(far->netns),
                                    std::move(near->device), std::move(far->device)));
  made->signals_ = std::move(*signals);
  if (auto announced = made->announce(); !announced) return tl::unexpected(announced.error());
  return made;
}

Lab::Lab(LabOptions options, Descriptor user, NetworkNamespace near, NetworkNamespace far, TunDevice near_device,
         TunDevice far_device)
    : options_(std::move(options)),
      user_(std::move(user)),
      near_(std::move(near)),
      far_(std::move(far)),
      forwarder_(std::move(near_device), std::move(far_device), options_.paths, options_.seed, now()) {}

Lab::~Lab() {
  for (const auto* netns : {&near_, &far_}) kill_processes_in(netns->id);
  if (record_.pid != 0) remove_record(record_);
}

Status Lab::announce() {
  record_ = {.pid = ::getpid(),
             .started = start_time_of(::getpid()),
             .user_fd = user_.fd(),
             .near_fd = near_.descriptor.fd(),
             .far_fd = far_.descriptor.fd(),
             .near = near_.id,
             .far = far_.id};
  // A lab that was killed had this number before us.
  if (const auto records = read_records())
    for (const LabRecord& old : *records)
      if (old.pid == record_.pid) clean_up_after(old);
  auto control = ControlSocket::listen(record_.control_path());
  if (!control) return tl::unexpected(control.error());
  control_ = std::move(*control);
  return write_record(record_);
}

std::vector<std::string> Lab::environment() const {
  const auto near = addresses_of(1);
  const auto far = addresses_of(2);
  return {"WANLAB_PID=" + std::to_string(record_.pid), "WANLAB_NEAR4=" + near.ipv4, "WANLAB_NEAR6=" + near.ipv6,
          "WANLAB_FAR4=" + far.ipv4, "WANLAB_FAR6=" + far.ipv6};
}

Status Lab::start_children() {
  if (!options_.far_command.empty()) {
    auto child = Child::start(far_, {"sh", "-c", options_.far_command}, environment());
    if (!child) return tl::unexpected(child.error());
    far_child_ = std::move(*child);
  }
  if (options_.near_command.empty()) {
    std::cout << record_.to_json() << std::endl;
    return {};
  }
  auto child = Child::start(near_, options_.near_command, environment());
  if (!child) return tl::unexpected(child.error());
  near_child_ = std::move(*child);
  return {};
}

Result<int> Lab::run() {
  if (auto started = start_children(); !started) return tl::unexpected(started.error());
  ::prctl(PR_SET_TIMERSLACK, 1UL);  // the default of 50 us is a tenth of a short round trip; the children keep it
  while (!status_) {
    // An idle processor takes a while to wake; what is due within that while would come late by it, what has come was
    // there.
    const auto woken_late = wait(now()) ? wake_delay() : std::chrono::nanoseconds(0);
    forwarder_.take([woken_late] { return now() - woken_late; });
    forwarder_.deliver(now(), woken_late);
    control_->serve([this](const std::string& words) { return answer(words); });
    take_signals();
    watch_children();
  }
  if (!options_.quiet) report();
  return *status_;
}

/// Until something is due, arrives or ends. Whether that took so long that a processor slept and had to wake.
bool Lab::wait(TimePoint at) {
  std::array<pollfd, 5> watched{};
  const std::array<int, 5> descriptors{forwarder_.near().fd(), forwarder_.far().fd(), control_->fd(), signals_.fd(),
                                       near_child_ ? near_child_->fd() : -1};
  std::ranges::transform(descriptors, watched.begin(),
                         [](int fd) { return pollfd{.fd = fd, .events = POLLIN, .revents = 0}; });
  timespec limit{};
  auto due = forwarder_.next_due();
  if (give_up_at_) due = std::min(due.value_or(*give_up_at_), *give_up_at_);
  auto left = due ? std::max(std::chrono::nanoseconds(0), *due - at) : kLongSleep;
  if (left > kLongSleep) left -= wake_delay();
  limit.tv_sec = std::chrono::duration_cast<std::chrono::seconds>(left).count();
  limit.tv_nsec = (left % std::chrono::seconds(1)).count();
  const int events = ::ppoll(watched.data(), watched.size(), due ? &limit : nullptr, nullptr);
  const auto took = now() - at;
  if (due && events == 0 && left > kLongSleep)
    wake_delay_ += (std::clamp<std::chrono::nanoseconds>(took - left, {}, kMaxWakeDelay) - wake_delay_) / 8;
  return took > kLongSleep;
}

/// Never so much that it shows in a round trip, however late a busy machine wakes us.
std::chrono::nanoseconds Lab::wake_delay() const {
  constexpr int kShare = 50;
  auto least = wake_delay_;
  for (const PathSettings& path : options_.paths)
    least = std::min(least, std::min(path.out.delay, path.back.delay) / kShare);
  return least;
}

void Lab::take_signals() {
  signalfd_siginfo info{};
  while (::read(signals_.fd(), &info, sizeof info) == sizeof info)
    on_signal(static_cast<int>(info.ssi_signo), info.ssi_code == SI_KERNEL);
}

void Lab::on_signal(int signal, bool from_terminal) {
  if (signal == SIGUSR1) return forwarder_.set_down(!forwarder_.is_down(), now());
  if (signal == SIGUSR2) {
    if (const auto changed = change_address(End::near); !changed)
      std::cerr << "wanlab: " << changed.error().message() << std::endl;
    return;
  }
  // The first signal is passed on to all processes of the near end, which may have something to save; the second kills.
  if (near_child_ && !give_up_at_) {
    give_up_at_ = now() + kGrace;
    interrupted_by_ = signal;
    if (from_terminal) return;  // the terminal has sent it to them too
    for (const pid_t pid : processes_in(near_.id)) ::kill(pid, signal);
    return;
  }
  status_ = kEndedBySignal + signal;
}

void Lab::watch_children() {
  if (near_child_ && !status_) status_ = near_child_->status();
  if (give_up_at_ && !status_ && now() >= *give_up_at_) status_ = kEndedBySignal + interrupted_by_;
}

std::string Lab::answer(const std::string& text) {
  std::istringstream words(text);
  std::string verb;
  std::string what;
  std::string value;
  std::getline(words >> verb >> what >> std::ws, value);
  Status done;
  if (verb == "stats") return stats();
  if (verb == "outage" && (what == "on" || what == "off")) {
    done = set_outage(what == "on", value);
  } else if (verb == "address" && parse_end(what)) {
    done = change_address(*parse_end(what));
  } else if (verb == "set") {
    done = set(what, value);
  } else {
    done = fail(Errc::bad_argument, "\"" + text + "\"",
                "allowed: outage on|off [PATH], address near|far, set [PATH:]NAME VALUE, stats");
  }
  return done ? "ok" : done.error().message();
}

Status Lab::set_outage(bool on, const std::string& path) {
  if (path.empty()) {
    forwarder_.set_down(on, now());
    return {};
  }
  UDTCAT_TRY(const std::size_t number, parse_path(path, options_.paths.size()));
  forwarder_.set_down(number, on, now());
  return {};
}

Status Lab::set(const std::string& name, const std::string& value) {
  std::vector<PathSettings> changed = options_.paths;
  UDTCAT_CHECK(wan::set(changed, name, value));
  for (const PathSettings& path : changed) UDTCAT_CHECK(check(path));
  forwarder_.set(options_.paths = std::move(changed), now());
  return {};
}

Status Lab::change_address(End end) {
  constexpr unsigned kLastAddress = 254;
  if (next_address_ > kLastAddress) return fail(Errc::out_of_resources, "change an address", "all have been used");
  const auto addresses = addresses_of(next_address_++);
  return (end == End::near ? forwarder_.near() : forwarder_.far()).readdress(addresses);
}

std::string Lab::stats() const {
  nlohmann::ordered_json all{{"out", to_json(forwarder_.out())}, {"back", to_json(forwarder_.back())}};
  for (std::size_t path = 0; forwarder_.paths() > 1 && path < forwarder_.paths(); ++path)
    all["paths"].push_back({{"out", to_json(forwarder_.out(path))}, {"back", to_json(forwarder_.back(path))}});
  return all.dump();
}

void Lab::report() const {
  std::cerr << summary("near to far", forwarder_.out()) << '\n'
            << summary("far to near", forwarder_.back()) << std::endl;
}

}  // namespace udtcat::wan
