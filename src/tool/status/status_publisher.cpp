// SPDX-License-Identifier: Apache-2.0
#include "tool/status/status_publisher.hpp"

#include <ctime>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "lib/core/log.hpp"
#include "tool/status/service_manager.hpp"
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
      line_timer_(io),
      manager_timer_(io),
      watchdog_timer_(io) {}

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
  const auto open = [this](const std::string& path) {
    return StatusSocket::open(io_, path, [this] { return snapshot(); });
  };
  if (auto socket = own_status_socket().and_then(open))
    socket_ = std::move(*socket);
  else
    core::log().info("udtcat status will not see this process: {}", socket.error().message());
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
  source_ = nullptr;
}

ProcessSnapshot StatusPublisher::snapshot() const {
  ProcessSnapshot snapshot;
  snapshot.service = service_;
  snapshot.what = what_;
  snapshot.pid = ::getpid();
  snapshot.age = std::chrono::steady_clock::now() - started_;
  snapshot.cpu = process_cpu_time();
  if (source_) source_(snapshot);
  return snapshot;
}

}  // namespace udtcat::tool
