// SPDX-License-Identifier: Apache-2.0
#include "tool/status/status_publisher.hpp"

#include <ctime>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "lib/core/dropped_datagrams.hpp"
#include "lib/core/log.hpp"
#include "lib/core/try.hpp"
#include "tool/cli/log_event.hpp"
#include "tool/status/process_resources.hpp"
#include "tool/status/service_manager.hpp"
#include "tool/status/status_group.hpp"
#include "tool/status/status_place.hpp"

namespace udtcat::tool {

namespace {

constexpr std::chrono::seconds kManagerInterval{5};  // guess: a person who runs systemctl status again sees a change

std::int64_t monotonic_us() {
  timespec now{};
  std::ignore = ::clock_gettime(CLOCK_MONOTONIC, &now);  // fails for no valid clock
  return std::int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1'000;
}

}  // namespace

StatusPublisher::StatusPublisher(boost::asio::io_context& io, Console& console, const Options& options)
    : io_(io),
      console_(console),
      service_(options.name),
      what_(options.command_line),
      stats_interval_(options.stats_interval),
      metrics_at_(options.metrics),
      status_group_(options.status_group),
      line_timer_(io),
      manager_timer_(io),
      watchdog_timer_(io) {
  set_event_observer([this](const LogEvent& event) { transfers_.count(event, std::chrono::system_clock::now()); });
}

StatusPublisher::~StatusPublisher() { set_event_observer({}); }

Status StatusPublisher::open() {
  if (!status_group_.empty()) {
    UDTCAT_TRY(group_, find_own_group("--status-group", status_group_));
  }
  if (!metrics_at_) return {};
  const auto serve = [this](const std::vector<Endpoint>& locals) {
    return MetricsServer::open(io_, locals, [this] { return snapshot(); });
  };
  auto server = resolve(*metrics_at_, AddressFamily::any).and_then(serve);
  if (!server)
    return fail(server.error().code, "serve metrics at " + to_string(*metrics_at_),
                server.error().message() + "; give --metrics an address of this host and a port that is free");
  metrics_server_ = std::move(*server);
  for (const Endpoint& local : metrics_server_->local_endpoints())
    log_event({.kind = EventKind::listening,
               .severity = Severity::info,
               .message = fmt::format("metrics at http://{}{}", local.to_string(), kMetricsPath),
               .address = local.to_string(),
               .object = "metrics"});
  return {};
}

void StatusPublisher::begin() {
  if (const auto interval = watchdog_interval())
    repeat(watchdog_timer_, *interval / 2, [] { tell_service_manager("WATCHDOG=1"); });
  if (!stats_interval_) return;
  repeat(line_timer_, *stats_interval_, [this] {
    ProcessSnapshot now = snapshot();
    line_rates_.set(now, Rates::TimePoint::clock::now());
    console_.object(to_json(now), Severity::info);
  });
}

void StatusPublisher::repeat(boost::asio::steady_timer& timer, std::chrono::microseconds interval,
                             std::function<void()> action) {
  timer.expires_after(interval);
  timer.async_wait(
      [this, &timer, interval, action = std::move(action)](const boost::system::error_code& cancelled) mutable {
        if (cancelled || is_stopping_) return;
        action();
        repeat(timer, interval, std::move(action));
      });
}

void StatusPublisher::publish(Source source) {
  const bool first = !source_;
  source_ = std::move(source);
  if (!first) return;
  open_socket();
  if (!has_service_manager()) return;
  tell_service_manager("READY=1");
  repeat(manager_timer_, kManagerInterval, [this] {
    ProcessSnapshot now = snapshot();
    manager_rates_.set(now, Rates::TimePoint::clock::now());
    tell_service_manager("STATUS=" + to_sentence(now));
  });
}

void StatusPublisher::open_socket() {
  const auto open_at = [this](const std::string& path) -> Result<std::unique_ptr<StatusSocket>> {
    UDTCAT_TRY(auto socket, StatusSocket::open(
                                io_, path, [this] { return snapshot(); }, group_));
    const auto closed = group_ ? directory_closed_to(path, *group_) : std::nullopt;
    if (closed)
      core::log().warn(
          "--status-group {}: its members cannot ask, as {} is closed to them; under systemd RuntimeDirectory= gives "
          "one that is open, else $RUNTIME_DIRECTORY names one",
          status_group_, *closed);
    return socket;
  };
  auto socket = own_status_socket().and_then(open_at);
  if (socket) {
    socket_ = std::move(*socket);
    return;
  }
  // A group that may ask was promised an answer.
  core::log().log(group_ ? spdlog::level::warn : spdlog::level::info, "udtcat status will not see this process: {}",
                  socket.error().message());
}

void StatusPublisher::reload(const std::function<void()>& action) {
  tell_service_manager(fmt::format("RELOADING=1\nMONOTONIC_USEC={}", monotonic_us()));
  action();
  tell_service_manager("READY=1");
}

void StatusPublisher::stopping() {
  if (std::exchange(is_stopping_, true)) return;
  tell_service_manager("STOPPING=1");
}

void StatusPublisher::end() {
  stopping();
  socket_.reset();
  metrics_server_.reset();
  source_ = nullptr;
}

ProcessSnapshot StatusPublisher::snapshot() const {
  ProcessSnapshot snapshot;
  snapshot.service = service_;
  snapshot.what = what_;
  snapshot.pid = ::getpid();
  snapshot.age = std::chrono::steady_clock::now() - started_;
  snapshot.cpu = process_cpu_time();
  snapshot.resources = process_resources();
  snapshot.dropped_datagrams = core::dropped_datagrams();
  snapshot.transfers = transfers_.totals();
  if (source_) source_(snapshot);
  return snapshot;
}

}  // namespace udtcat::tool
