// SPDX-License-Identifier: Apache-2.0
/// The fault run: real programs, real sessions, and whatever can happen to them, drawn from a seed. Whoever is told of
/// success has to have it, and nobody waits for ever. A run that fails says which seed brings it back.
#include <atomic>
#include <csignal>
#include <cstdio>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include "fault/run.hpp"
#include "fault/stage.hpp"
#include "fault/table.hpp"

namespace udtcat::fault {
namespace {

constexpr int kCannotRun = 77;  // as tests/CMakeLists.txt says
constexpr unsigned kManyRuns =
    200;  // guess: some 28 of each product, one of which ends well, and one of which is struck

struct Settings {
  std::uint64_t seed = std::random_device()();
  unsigned runs = 100;
  unsigned jobs = 6;  // guess: runs mostly wait
  std::string product;
  std::string fault;
  std::string program = UDTCAT_BINARY;
  bool verbose = false;

  [[nodiscard]] bool takes(const Scenario& scenario) const {
    return (product.empty() || product == name_of(scenario.product)) &&
           (fault.empty() || fault == name_of(scenario.fault));
  }
  /// Whether each product has to have ended well, and to have been struck, at least once.
  [[nodiscard]] bool tries_all() const { return product.empty() && fault.empty() && runs >= kManyRuns; }
};

/// Threads: internally synchronised.
class Session {
 public:
  explicit Session(const Settings& settings) : settings_(settings), next_(settings.seed) {}

  /// On one stage, until all runs are taken.
  void work(Stage& stage) {
    while (left_.fetch_sub(1) > 0) {
      const Scenario scenario = next_scenario();
      tell(scenario, play(stage, scenario));
    }
  }
  [[nodiscard]] const Table& table() const { return table_; }

 private:
  Scenario next_scenario() {
    const std::lock_guard lock(mutex_);
    for (;;)
      if (const Scenario scenario = draw(next_++); settings_.takes(scenario)) return scenario;
  }

  void tell(const Scenario& scenario, const Report& report) {
    const std::lock_guard lock(mutex_);
    table_.add(scenario, report);
    if (settings_.verbose || !report.held())
      std::printf("%s %s; over %lld ms later\n", report.held() ? (report.ran ? "held" : "not run") : "FAILED",
                  describe(scenario).c_str(), static_cast<long long>(report.after.count()));
    for (const auto* what : {&report.lies, &report.hangs, &report.odd})
      for (const std::string& text : *what) std::printf("  %s\n", text.c_str());
    if (!report.held() || settings_.verbose) std::printf("%s", report.ends.c_str());
    std::fflush(stdout);
  }

  const Settings settings_;
  std::atomic<int> left_ = static_cast<int>(settings_.runs);
  std::mutex mutex_;
  std::uint64_t next_;  // guarded by mutex_, as all below
  Table table_;
};

/// Root of a world of its own: what is mounted and made there goes with the program.
bool settle_in() {
  if (const auto user = wan::become_root(); !user) {
    std::printf("skipped: %s\n", user.error().message().c_str());
    return false;
  }
  if (::access("/dev/net/tun", R_OK | W_OK) != 0) {
    std::printf("skipped: /dev/net/tun is not there, or not ours to use\n");
    return false;
  }
  if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    test::die("make a mount namespace");
  return true;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

KeyPairs make_pairs(const Settings& settings, const test::TempDir& directory) {
  const auto make = [&](const std::string& name) {
    return first_line(test::run({.argv = {settings.program, "keygen", "--pair", directory / name}}).output);
  };
  directory.write("peers", "near " + make("near") + "\n");
  return {.directory = directory.path(), .far_public = make("far")};
}

Subject subject_of(const Settings& settings, const test::TempDir& directory, bool is_root) {
  const test::Ran key = test::run({.argv = {settings.program, "keygen"}});
  const test::Ran help = test::run({.argv = {settings.program, "--help"}});
  return {.program = settings.program,
          .key = first_line(key.output),
          .pairs = make_pairs(settings, directory),
          .has_exec = help.output.find("--exec") != std::string::npos,
          .may_serve_ssh = is_root};
}

int run_all(const Settings& settings) {
  const bool is_root = ::geteuid() == 0;
  if (!settle_in()) return kCannotRun;
  std::printf("seeds from %llu on\n", static_cast<unsigned long long>(settings.seed));
  const test::TempDir pairs;
  const Subject subject = subject_of(settings, pairs, is_root);
  std::vector<std::unique_ptr<Stage>> stages;
  for (unsigned job = 0; job < settings.jobs; ++job) stages.push_back(std::make_unique<Stage>(subject));
  Session session(settings);
  std::vector<std::jthread> workers;
  for (const auto& stage : stages) workers.emplace_back([&session, &stage] { session.work(*stage); });
  workers.clear();
  const Table& table = session.table();
  std::printf("\n%s", table.text().c_str());
  const auto untried = settings.tries_all() ? table.untried() : std::vector<Product>();
  for (const Product product : untried)
    std::printf("\nFAILED: of %s no run ended well, or none was struck.\n", std::string(name_of(product)).c_str());
  return table.all_held() && table.runs() > 0 && untried.empty() ? 0 : 1;
}

}  // namespace
}  // namespace udtcat::fault

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  udtcat::fault::Settings settings;
  CLI::App app("Runs every product under every fault, and holds it to what it promises.");
  app.add_option("--seed", settings.seed, "The first run's seed; each further run has the next one");
  app.add_option("--runs", settings.runs, "How many");
  app.add_option("--jobs", settings.jobs, "How many at a time");
  app.add_option("--product", settings.product, "This one only");
  app.add_option("--fault", settings.fault, "This one only");
  app.add_option("--program", settings.program, "Another udtcat than the one built here");
  app.add_flag("--verbose", settings.verbose, "Tell of runs that held, too");
  CLI11_PARSE(app, argc, argv);
  return udtcat::fault::run_all(settings);
}
