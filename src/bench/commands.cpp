// SPDX-License-Identifier: Apache-2.0
#include "bench/commands.hpp"

#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "bench/bench_meter.hpp"
#include "bench/bench_options.hpp"
#include "lib/core/try.hpp"
#include "ssh/ssh_dial.hpp"
#include "tool/run/endpoint_setup.hpp"
#include "tool/run/session_run.hpp"

namespace udtcat::bench {

namespace {

using tool::ExitStatus;
using tool::FoundCredentials;
using tool::RunContext;
using tool::SessionRun;

Status print_result(const BenchResult& result, bool json) {
  if (result.idle_rtts.all.empty()) return {};
  return tool::print(json ? to_json(result) + '\n' : to_text(result));
}

/// Measures over `connection`, prints what it found, also where it was cut off, and finishes `run`. Keep it until then.
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

/// Measures the path to a listener that is dialled.
tool::ExitStatus bench_dialled(const BenchOptions& options, tool::FoundCredentials found, tool::Console& console) {
  tool::SessionRun run(options, console);
  auto request = tool::make_dial_request(options, std::move(found.credentials));
  if (!request) return run.fail_to_start(std::move(request.error()));
  std::unique_ptr<BenchMeter> meter;
  const auto dialer = dial(run.io(), std::move(*request), [&](Result<std::unique_ptr<Connection>> connection) {
    if (!connection) return run.finish(std::move(connection.error()));
    run.say_if_by_tcp((*connection)->stats(), options.peer.host, options.peer.port);
    meter = measure(run, std::move(*connection), options.settings);
  });
  return run.run();
}

/// Measures the path to a far end that ssh starts.
tool::ExitStatus bench_by_ssh(const BenchOptions& options, const RunContext& context) {
  tool::SessionRun run(options, context.console);
  std::unique_ptr<BenchMeter> meter;
  const auto give_up = [&run](Error why) { run.finish(std::move(why)); };
  ssh::SshDial dial(
      run, options, context.core_limit_bytes,
      {.on_connection =
           [&](std::unique_ptr<Connection> connection) {
             meter = measure(run, std::move(connection), options.settings);
           },
       .on_no_session = give_up,
       .on_plain = give_up,
       .on_no_far_end = [&run](const Error& error,
                               std::optional<int> status) { ssh::finish_without_far_end(run, error, status); }});
  run.on_interrupt([&](const Error& why) { dial.end([&run, why] { run.finish(why); }); });
  if (auto started = dial.start(); !started) return run.fail_to_start(std::move(started.error()));
  const ExitStatus status = run.run();
  meter.reset();  // before what its connection came by
  return status;
}

/// The way to the other end: a listener that is dialled, or a far end that ssh starts.
class BenchInvocation final : public tool::OptionsInvocation<BenchOptions> {
 public:
  using OptionsInvocation::OptionsInvocation;

  [[nodiscard]] bool starts_programs() const override { return options_.by_ssh; }
  [[nodiscard]] bool needs_key() const override {
    return !options_.by_ssh && options_.session.protection != Protection::clear;
  }
  [[nodiscard]] Result<tool::Words> check_summary() const override {
    const std::string where = options_.by_ssh ? fmt::format("{}, where ssh starts the other end, at UDP port {}",
                                                            options_.ssh.destination, ssh::to_string(options_.ports))
                                              : to_string(options_.peer);
    return tool::Words{fmt::format("measures the path to {}", where),
                       fmt::format("sends for {} s, and is sent to for as long", options_.settings.each_way.count())};
  }
  [[nodiscard]] ExitStatus run(FoundCredentials found, const RunContext& context) override {
    return options_.by_ssh ? bench_by_ssh(options_, context)
                           : bench_dialled(options_, std::move(found), context.console);
  }
};

}  // namespace

tool::Commands commands() {
  return {{.words = {"bench"},
           .help = bench_help_text,
           .parse = tool::parse_as<BenchInvocation, parse_bench_options>,
           .options = bench_options_declared,
           .operands = ":host"}};
}

}  // namespace udtcat::bench
