// SPDX-License-Identifier: Apache-2.0
#include "bench/remote_bench.hpp"

#include <utility>

namespace udtcat::bench {

RemoteBench::RemoteBench(tool::SessionRun& run, const ssh::SshDialOptions& options, const BenchSettings& settings,
                         std::uint64_t core_limit_bytes)
    : run_(run),
      settings_(settings),
      dial_(
          run, options, core_limit_bytes,
          {.on_connection =
               [this](std::unique_ptr<Connection> connection) {
                 meter_ = measure(run_, std::move(connection), settings_);
               },
           .on_no_session = [this](Error why) { run_.finish(std::move(why)); },
           .on_plain = [this](Error why) { run_.finish(std::move(why)); },
           .on_no_far_end = [this](const Error& error,
                                   std::optional<int> status) { ssh::finish_without_far_end(run_, error, status); }}) {}

Status RemoteBench::start() {
  run_.on_interrupt([this](const Error& why) { dial_.end([this, why] { run_.finish(why); }); });
  return dial_.start();
}

}  // namespace udtcat::bench
