// SPDX-License-Identifier: Apache-2.0
#include "bench/far_bench.hpp"

#include <memory>
#include <utility>

#include "bench/bench_service.hpp"
#include "tool/run/session_run.hpp"

namespace udtcat::bench {

tool::ExitStatus serve_far_bench(const ssh::FarOptions& options, tool::Console& console) {
  tool::SessionRun run(options, console, ssh::far_end_exit_policy());
  ssh::FarServer* server = nullptr;  // made behind the service, whose connections outlive it
  BenchService service(run.io(), {.on_asked = [&](Connection& connection) { return server->choose(connection); },
                                  .on_over = [&](const Status&) { run.finish(std::nullopt); },
                                  .on_gone = [&](const Connection& connection) { server->forget(connection); }});
  ssh::FarServer far(
      run, options,
      {.on_connection = [&](std::unique_ptr<Connection> connection) { service.serve(std::move(connection)); },
       .on_request = [&](const ssh::ControlMessage&) { run.finish_as(tool::ExitStatus::own_failure); },
       .abort_all =
           [&](const Error& why) {
             service.abort_all(why);
             return !service.idle();
           }});
  server = &far;
  if (auto started = far.start(); !started) return run.fail_to_start(std::move(started.error()));
  return run.run();
}

}  // namespace udtcat::bench
