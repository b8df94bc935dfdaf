// SPDX-License-Identifier: Apache-2.0
#include "bench/commands.hpp"

#include <utility>

#include <fmt/format.h>

#include "bench/bench_command.hpp"
#include "bench/bench_options.hpp"
#include "bench/remote_bench.hpp"
#include "lib/core/try.hpp"
#include "tool/program/facts.hpp"

namespace udtcat::bench {

namespace {

using tool::ExitStatus;
using tool::FoundCredentials;
using tool::JobContext;
using tool::SessionRun;

/// The way to the other end: a listener that is dialled, or a far end that ssh starts.
class BenchJob final : public tool::Job {
 public:
  explicit BenchJob(BenchOptions options) : options_(std::move(options)) {}

  [[nodiscard]] const tool::Options& options() const override { return options_; }
  [[nodiscard]] bool starts_programs() const override { return options_.by_ssh; }
  [[nodiscard]] bool needs_key() const override {
    return !options_.by_ssh && options_.session.protection != Protection::clear;
  }
  [[nodiscard]] Result<tool::Words> facts() const override {
    const std::string where = options_.by_ssh ? fmt::format("{}, where ssh starts the other end, at UDP port {}",
                                                            options_.ssh.destination, ssh::to_string(options_.ports))
                                              : tool::to_string(options_.peer);
    return tool::Words{fmt::format("measures the path to {}", where),
                       fmt::format("sends for {} s, and is sent to for as long", options_.wishes.each_way.count())};
  }
  [[nodiscard]] ExitStatus run(FoundCredentials found, const JobContext& context) override {
    if (!options_.by_ssh) return bench_command(options_, options_.wishes, std::move(found), context.console);
    SessionRun run(options_, context.console);
    RemoteBench bench(run, options_, options_.wishes, context.core_limit_bytes);
    if (auto started = bench.start(); !started) return run.fail_to_start(std::move(started.error()));
    return run.run();
  }

 private:
  const BenchOptions options_;
};

Result<std::unique_ptr<tool::Job>> parse_bench(const tool::Words& arguments) {
  UDTCAT_TRY(BenchOptions options, parse_bench_options(arguments));
  if (options.help) return nullptr;
  return std::make_unique<BenchJob>(std::move(options));
}

}  // namespace

tool::Commands commands() {
  return {{.words = {"bench"},
           .help = bench_help_text,
           .parse = parse_bench,
           .options = bench_options_declared,
           .operands = ":host"}};
}

}  // namespace udtcat::bench
