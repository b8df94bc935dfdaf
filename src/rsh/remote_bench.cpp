// SPDX-License-Identifier: Apache-2.0
#include "rsh/remote_bench.hpp"

#include <utility>

namespace udtcat::rsh {

RemoteBench::RemoteBench(tool::SessionRun& run, const SshDialOptions& options, const tool::BenchWishes& wishes,
                         std::uint64_t core_limit_bytes)
    : run_(run),
      wishes_(wishes),
      dial_(
          run, options, core_limit_bytes,
          {.on_connection =
               [this](std::unique_ptr<Connection> connection) {
                 meter_ = tool::measure(run_, std::move(connection), wishes_);
               },
           .on_no_session = [this](Error why) { run_.finish(std::move(why)); },
           .on_plain = [this](Error why) { run_.finish(std::move(why)); },
           .on_no_far_end = [this](const Error& error, std::optional<int> status) { on_no_far_end(error, status); }}) {}

Status RemoteBench::start() {
  run_.on_interrupt([this](const Error& why) { dial_.end([this, why] { run_.finish(why); }); });
  return dial_.start();
}

void RemoteBench::on_no_far_end(const Error& error, std::optional<int> status) {
  if (status == kSshFailed) return run_.finish_as(tool::ExitStatus::unreachable);
  run_.finish(error);
}

}  // namespace udtcat::rsh
