// SPDX-License-Identifier: Apache-2.0
#include "trees/size_scan.hpp"

#include <set>
#include <utility>

#include <sys/stat.h>

#include "lib/core/log.hpp"
#include "trees/start_thread.hpp"

namespace udtcat::trees {

SizeScan::SizeScan(Source source, std::function<void(const Totals&)> on_counted) {
  auto count = [this, source = std::move(source), on_counted = std::move(on_counted)]() mutable {
    Totals totals;
    std::set<std::pair<dev_t, ino_t>> linked;  // files with several names count once
    for (auto item = source.next(); item && !stopping_; item = source.next()) {
      if (!*item) continue;
      const struct stat& status = (*item)->visited.status;
      ++totals.entries;
      const bool is_file = S_ISREG(status.st_mode);
      const bool is_first = status.st_nlink < 2 || !is_file || linked.insert({status.st_dev, status.st_ino}).second;
      if (is_file && is_first) totals.bytes += static_cast<std::uint64_t>(status.st_size);
    }
    if (!stopping_) on_counted(totals);
  };
  if (auto started = start_thread(thread_, std::move(count)); !started)
    core::log().info("{}", started.error().message());
}

SizeScan::~SizeScan() {
  stopping_ = true;
  if (thread_.joinable()) thread_.join();
}

}  // namespace udtcat::trees
