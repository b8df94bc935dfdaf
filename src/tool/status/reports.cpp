// SPDX-License-Identifier: Apache-2.0
#include "tool/status/reports.hpp"

#include <ctime>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "lib/core/log.hpp"
#include "tool/status/figures.hpp"
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

Reports::Reports(boost::asio::io_context& io, Console& console, const Options& options)
    : io_(io),
      console_(console),
      what_(options.command_line),
      stats_interval_(options.stats_interval),
      line_timer_(io),
      manager_timer_(io),
      watchdog_timer_(io) {}

void Reports::begin() {
  if (const auto interval = watchdog_interval())
    repeat(watchdog_timer_, *interval / 2, [] { tell_service_manager("WATCHDOG=1"); });
  if (!stats_interval_) return;
  repeat(line_timer_, *stats_interval_, [this] {
    ProcessPicture now = picture();
    line_rates_.set(now, Rates::TimePoint::clock::now());
    console_.line(to_json(now), Severity::info);
  });
}

void Reports::repeat(boost::asio::steady_timer& timer, std::chrono::microseconds interval, std::function<void()> deed) {
  timer.expires_after(interval);
  timer.async_wait(
      [this, &timer, interval, deed = std::move(deed)](const boost::system::error_code& cancelled) mutable {
        if (cancelled || is_stopping_) return;
        deed();
        repeat(timer, interval, std::move(deed));
      });
}

void Reports::show(Fill fill) {
  const bool first = !fill_;
  fill_ = std::move(fill);
  if (!first) return;
  open_socket();
  if (!has_service_manager()) return;
  tell_service_manager("READY=1");
  repeat(manager_timer_, kManagerInterval, [this] {
    ProcessPicture now = picture();
    manager_rates_.set(now, Rates::TimePoint::clock::now());
    tell_service_manager("STATUS=" + to_sentence(now));
  });
}

void Reports::open_socket() {
  const auto open = [this](const std::string& path) {
    return StatusSocket::open(io_, path, [this] { return picture(); });
  };
  if (auto socket = own_status_socket().and_then(open))
    socket_ = std::move(*socket);
  else
    core::log().info("udtcat status will not see this process: {}", socket.error().message());
}

void Reports::reload(const std::function<void()>& deed) {
  tell_service_manager(fmt::format("RELOADING=1\nMONOTONIC_USEC={}", monotonic_us()));
  deed();
  tell_service_manager("READY=1");
}

void Reports::stopping() {
  if (std::exchange(is_stopping_, true)) return;
  tell_service_manager("STOPPING=1");
}

void Reports::end() {
  stopping();
  socket_.reset();
  fill_ = nullptr;
}

ProcessPicture Reports::picture() const {
  ProcessPicture picture;
  picture.what = what_;
  picture.pid = ::getpid();
  picture.age = std::chrono::steady_clock::now() - started_;
  picture.cpu = process_cpu_time();
  if (fill_) fill_(picture);
  return picture;
}

}  // namespace udtcat::tool
