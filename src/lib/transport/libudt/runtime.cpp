// SPDX-License-Identifier: Apache-2.0
#include "lib/transport/libudt/runtime.hpp"

#include <algorithm>

#include <udt/udt.h>

#include "lib/transport/libudt/udt_socket.hpp"

namespace udtcat::transport::libudt {

Result<std::shared_ptr<Runtime>> Runtime::acquire() {
  static core::Mutex mutex;
  static std::weak_ptr<Runtime> current UDTCAT_GUARDED_BY(mutex);
  const core::MutexLock lock(mutex);
  if (auto running = current.lock()) return running;
  if (UDT::startup() == UDT::ERROR) return tl::unexpected(last_error(Errc::out_of_resources, "start libudt"));
  std::shared_ptr<Runtime> started(new Runtime);  // make_shared cannot reach the constructor
  current = started;
  return started;
}

Runtime::~Runtime() {
  for (Adopted& each : adopted_) each.thread.join();
  if (!leave_running_) UDT::cleanup();
}

void Runtime::adopt(std::thread thread, std::shared_ptr<const std::atomic<bool>> finished) {
  const core::MutexLock lock(mutex_);
  const auto ended =
      std::stable_partition(adopted_.begin(), adopted_.end(), [](const Adopted& each) { return !*each.finished; });
  std::for_each(ended, adopted_.end(), [](Adopted& each) { each.thread.join(); });
  adopted_.erase(ended, adopted_.end());
  adopted_.push_back({std::move(thread), std::move(finished)});
}

}  // namespace udtcat::transport::libudt
