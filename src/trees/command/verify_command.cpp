// SPDX-License-Identifier: Apache-2.0
#include "trees/command/verify_command.hpp"

#include <atomic>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "lib/core/printable.hpp"
#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"
#include "tool/run/session_run.hpp"
#include "trees/command/tree_options.hpp"
#include "trees/command/tree_run.hpp"
#include "trees/disk/manifest.hpp"
#include "trees/disk/manifest_line.hpp"
#include "trees/verify.hpp"
#include "trees/worker.hpp"

namespace udtcat::trees {

namespace {

/// As the manifest has it where a terminal could not show it.
std::string named(const std::string& path) {
  return core::printable(path, path.size()) == path ? path : spelled_out(path);
}

class VerifyJob final : public tool::Invocation {
 public:
  explicit VerifyJob(VerifyOptions options) : options_(std::move(options)) {}

  [[nodiscard]] const tool::Options& options() const override { return options_; }
  [[nodiscard]] bool needs_key() const override { return false; }
  [[nodiscard]] tool::ExitStatus run(tool::FoundCredentials /*none*/, const tool::RunContext& context) override {
    tool::SessionRun run(options_, context.console);
    const auto tally = make_tally(context.console);
    std::atomic<bool> should_stop = false;
    run.on_interrupt([&](const Error& why) {
      should_stop = true;
      run.finish(why);
    });
    run.watch([] { return ConnectionStats(); });
    run.measure([&tally](const ConnectionStats& /*none*/) { return amount_of(*tally); });
    const Worker worker(
        run.io(), [&] { return verify_all(*tally, should_stop); },
        [&](const Status& verified) {
          if (verified && options_.verbosity >= 0)
            run.say(fmt::format("{}, {}: all as the manifest has it", core::format_count(tally->entries, "name"),
                                core::format_size(tally->bytes)));
          run.finish(verified ? std::nullopt : std::optional(verified.error()));
        });
    return run.run();
  }

 private:
  [[nodiscard]] Status verify_all(Tally& tally, const std::atomic<bool>& should_stop) const {
    // A manifest or a directory that is none is no difference of what is in it.
    const auto as_bad_argument = [](Error error) {
      error.code = Errc::bad_argument;
      return error;
    };
    UDTCAT_TRY(auto manifest, ManifestReader::open(files::FileLocation(options_.manifest)).map_error(as_bad_argument));
    UDTCAT_TRY(const auto tree, files::FileTree::open(options_.directory).map_error(as_bad_argument));
    const VerifyHandlers handlers{
        .on_difference = [&](const std::string& path,
                             const std::string& text) { tally.complain(named(path) + ": " + text); },
        .on_progress =
            [&](const std::string& path, const Verification& so_far) {
              tally.begin_file(path);
              tally.entries = so_far.entries;
              tally.bytes = so_far.bytes;
            },
        .should_stop = [&] { return should_stop.load(); }};
    UDTCAT_TRY(const Verification verified, verify(manifest, tree, handlers));
    tally.entries = verified.entries;
    if (verified.differing == 0) return {};
    return fail(Errc::incomplete, "verify " + options_.directory,
                fmt::format("{} of {} differ", verified.differing, core::format_count(verified.entries, "name")));
  }

  const VerifyOptions options_;
};

}  // namespace

Result<std::unique_ptr<tool::Invocation>> parse_verify(const tool::Words& arguments) {
  UDTCAT_TRY(VerifyOptions options, parse_verify_options(arguments));
  if (options.help) return nullptr;
  return std::make_unique<VerifyJob>(std::move(options));
}

}  // namespace udtcat::trees
