// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/local_addresses.hpp"

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <optional>

#include <fmt/format.h>

#include "lib/core/log.hpp"
#include "lib/core/mutex.hpp"
#include "lib/core/user_text.hpp"

namespace udtcat::transport {

namespace {

Error cannot_leave(const Endpoint& local, const Error& error) {
  const bool is_elsewhere = error.cause == core::errno_text(EADDRNOTAVAIL);
  return {error.code, fmt::format("leave from {}", local.host_to_string()),
          is_elsewhere ? "no interface of this host has this address; `ip address` shows those that there are"
                       : error.cause};
}

/// The engines of a race have the same addresses, and one of them says so. Threads: internally synchronised.
class MissingAddresses {
 public:
  [[nodiscard]] bool is_first(const Endpoint& local) {
    const core::MutexLock lock(mutex_);
    if (std::ranges::find(locals_, local) != locals_.end()) return false;
    locals_.push_back(local);
    return true;
  }

 private:
  core::Mutex mutex_;
  std::vector<Endpoint> locals_ UDTCAT_GUARDED_BY(mutex_);  // as many as users name
};

MissingAddresses& missing_addresses() {
  static MissingAddresses of_process;
  return of_process;
}

}  // namespace

std::size_t count_of_family(const std::vector<Endpoint>& all, AddressFamily family) {
  return static_cast<std::size_t>(
      std::ranges::count_if(all, [family](const Endpoint& each) { return each.family() == family; }));
}

std::size_t LocalAddresses::next_turn(const Endpoint& peer) {
  const auto known = std::ranges::find(dials_, peer, [](const auto& each) { return each.first; });
  if (known != dials_.end()) return known->second++;
  dials_.emplace_back(peer, 1);
  return 0;
}

Result<std::size_t> LocalAddresses::bind(const Endpoint& peer, std::size_t turn, const Bind& bind) {
  std::vector<Endpoint> usable;
  std::ranges::copy_if(all_, std::back_inserter(usable),
                       [&](const Endpoint& each) { return each.family() == peer.family(); });
  if (usable.empty())
    return fail(
        Errc::cannot_bind, fmt::format("leave for {}", peer.host_to_string()),
        fmt::format("--bind has no IPv{} address, and this is one", peer.family() == AddressFamily::ipv6 ? 6 : 4));
  std::optional<Error> first;
  for (std::size_t i = turn; i < turn + usable.size(); ++i) {
    const Endpoint& local = usable[i % usable.size()];
    const Status bound = bind(local);
    if (bound) return i;
    const Error error = cannot_leave(local, bound.error());
    if (usable.size() > 1 && missing_addresses().is_first(local)) core::log().warn("{}", error.message());
    if (!first) first = error;
  }
  return tl::unexpected(*first);
}

}  // namespace udtcat::transport
