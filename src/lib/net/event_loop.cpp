// SPDX-License-Identifier: Apache-2.0
#include "lib/net/event_loop.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <system_error>

#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/system_error.hpp>

#include "lib/core/user_text.hpp"

namespace udtcat::net {
namespace {

constexpr const char* kMakeLoop = "make an event loop";
constexpr int kAsiosOwn = 2;  // spec: Asio: an eventfd for what is posted, a timerfd; where it takes signals, a pipe

/// As /proc/self/fd has them.
std::set<std::string> epolls_of_process() {
  std::set<std::string> numbers;
  std::error_code error;
  for (std::filesystem::directory_iterator each("/proc/self/fd", error), end; !error && each != end;
       each.increment(error)) {
    std::error_code closed;
    if (std::filesystem::read_symlink(each->path(), closed) == "anon_inode:[eventpoll]")
      numbers.insert(each->path().filename());
  }
  return numbers;
}

/// spec: proc(5), fdinfo
int count_watched(const std::string& epoll) {
  std::ifstream file("/proc/self/fdinfo/" + epoll);
  int watched = 0;
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("tfd:")) ++watched;
  return watched;
}

}  // namespace

Status prepare_event_loop(boost::asio::io_context& io, LoopSignals signals) {
  const bool takes_signals = signals == LoopSignals::taken;
  const auto before = epolls_of_process();
  try {
    const boost::asio::steady_timer timer(io);
    if (takes_signals) const boost::asio::signal_set none(io);
  } catch (const boost::system::system_error& error) {
    return core::fail_by_errno(Errc::out_of_resources, kMakeLoop, error.code().value());
  }
  auto made = epolls_of_process();
  for (const std::string& number : before) made.erase(number);
  const int least = takes_signals ? kAsiosOwn + 1 : kAsiosOwn;
  // Another thread may have made one meanwhile. None is there without /proc.
  const auto is_whole = [&](const std::string& number) { return count_watched(number) >= least; };
  if (made.empty() || std::ranges::any_of(made, is_whole)) return {};
  return fail(Errc::out_of_resources, kMakeLoop,
              "cannot watch descriptors: raise fs.epoll.max_user_watches (sysctl), or free memory");
}

}  // namespace udtcat::net
