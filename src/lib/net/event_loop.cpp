// SPDX-License-Identifier: Apache-2.0
#include "lib/net/event_loop.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <system_error>
#include <tuple>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/system_error.hpp>

#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"

namespace udtcat::net {
namespace {

constexpr const char* kMakeLoop = "make an event loop";

/// Numbers and kinds, as /proc/self/fd has them; nothing where it is not there.
std::map<std::string, std::string> anonymous_descriptors() {
  std::map<std::string, std::string> found;
  std::error_code error;
  for (std::filesystem::directory_iterator each("/proc/self/fd", error), end; !error && each != end;
       each.increment(error)) {
    std::error_code closed;
    const std::string kind = std::filesystem::read_symlink(each->path(), closed);
    if (kind.starts_with("anon_inode:")) found.emplace(each->path().filename(), kind);
  }
  return found;
}

/// spec: proc(5), fdinfo
int count_watched(const std::string& epoll) {
  std::ifstream file("/proc/self/fdinfo/" + epoll);
  int watched = 0;
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("tfd:")) ++watched;
  return watched;
}

tl::unexpected<Error> cannot_watch() {
  return fail(Errc::out_of_resources, kMakeLoop,
              "cannot watch descriptors: raise fs.epoll.max_user_watches (sysctl), or free memory");
}

/// Whether the system tells of what an epoll watches: neither gVisor nor an old kernel does.
/// errors: Errc::out_of_resources
Result<bool> shows_watched() {
  const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
  const int event = ::eventfd(0, EFD_CLOEXEC);
  epoll_event none{};
  Result<bool> shows = false;
  if (epoll < 0 || event < 0)
    shows = core::fail_by_errno(Errc::out_of_resources, kMakeLoop);
  else if (::epoll_ctl(epoll, EPOLL_CTL_ADD, event, &none) != 0)
    shows = cannot_watch();
  else
    shows = count_watched(std::to_string(epoll)) == 1;
  for (const int each : {epoll, event})
    if (each >= 0) std::ignore = ::close(each);
  return shows;
}

}  // namespace

Status prepare_event_loop(boost::asio::io_context& io, LoopSignals signals) {
  const bool takes_signals = signals == LoopSignals::taken;
  const auto before = anonymous_descriptors();
  try {
    const boost::asio::steady_timer timer(io);
    if (takes_signals) const boost::asio::signal_set none(io);
  } catch (const boost::system::system_error& error) {
    return core::fail_by_errno(Errc::out_of_resources, kMakeLoop, error.code().value());
  }
  auto made = anonymous_descriptors();
  for (const auto& [number, kind] : before) made.erase(number);
  // spec: Asio: an eventfd for what is posted; a timerfd, where there are any; where it takes signals, a pipe.
  const auto is = [](const char* kind) { return [kind](const auto& each) { return each.second == kind; }; };
  const bool has_timer = std::ranges::any_of(made, is("anon_inode:[timerfd]"));
  const int least = 1 + (has_timer ? 1 : 0) + (takes_signals ? 1 : 0);
  std::erase_if(made, std::not_fn(is("anon_inode:[eventpoll]")));
  // Another thread may have made one meanwhile.
  const auto is_whole = [&](const auto& each) { return count_watched(each.first) >= least; };
  if (made.empty() || std::ranges::any_of(made, is_whole)) return {};
  UDTCAT_TRY(const bool is_known, shows_watched());
  if (!is_known) return {};
  return cannot_watch();
}

}  // namespace udtcat::net
