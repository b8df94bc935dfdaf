// SPDX-License-Identifier: Apache-2.0
#include "bench/bench_command.hpp"

#include <optional>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "tool/run/endpoint_setup.hpp"

namespace udtcat::bench {

namespace {

Status print_result(const BenchResult& result, bool json) {
  if (result.idle_rtts.all.empty()) return {};
  return tool::print(json ? to_json(result) + '\n' : to_text(result));
}

}  // namespace

void add_bench_options(tool::CommandLine& line, BenchSettings& settings) {
  line.value("--seconds", [&](const std::string& text) {
    return tool::store(tool::number_value("--seconds", text, 1, static_cast<std::size_t>(kMaxBenchTime.count()))
                           .map([](std::size_t seconds) { return std::chrono::seconds(seconds); }),
                       settings.each_way);
  });
  line.flag("--json", settings.json);
}

std::unique_ptr<BenchMeter> measure(tool::SessionRun& run, std::unique_ptr<Connection> connection,
                                    const BenchSettings& settings) {
  const bool watched = ::isatty(STDERR_FILENO) == 1;
  const auto on_step = [&run, watched](const char* step) {
    if (watched) run.console().status(fmt::format("measuring {}", step));
  };
  const auto on_over = [&run, json = settings.json](const Status& over, const BenchResult& so_far) {
    run.console().clear_status();
    const Status printed = print_result(so_far, json);
    if (!over && run.signal() != 0) run.say("the measurement was cut: the figures are of what it had come to");
    if (!over) return run.finish(over.error());
    run.finish(printed ? std::nullopt : std::optional(printed.error()));
  };
  auto meter = std::make_unique<BenchMeter>(run.io(), std::move(connection), settings.each_way,
                                            BenchMeter::Handlers{on_step, on_over});
  run.follow(meter->connection());
  meter->start();
  return meter;
}

tool::ExitStatus bench_command(const tool::Options& options, const BenchSettings& settings,
                               tool::FoundCredentials found, tool::Console& console) {
  tool::SessionRun run(options, console);
  auto request = tool::make_dial_request(options, std::move(found.credentials));
  if (!request) return run.fail_to_start(std::move(request.error()));
  std::unique_ptr<BenchMeter> meter;
  const auto dialer = dial(run.io(), std::move(*request), [&](Result<std::unique_ptr<Connection>> connection) {
    if (!connection) return run.finish(std::move(connection.error()));
    meter = measure(run, std::move(*connection), settings);
  });
  return run.run();
}

}  // namespace udtcat::bench
