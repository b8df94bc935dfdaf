// SPDX-License-Identifier: Apache-2.0
#include "trees/command/commands.hpp"

#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <boost/asio/post.hpp>

#include "lib/core/printable.hpp"
#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"
#include "tool/run/session_run.hpp"
#include "trees/command/tree_options.hpp"
#include "trees/command/tree_run.hpp"
#include "trees/disk/manifest.hpp"
#include "trees/disk/manifest_line.hpp"
#include "trees/start_thread.hpp"
#include "trees/verify.hpp"

namespace udtcat::trees {

namespace {

/// The path, spelled as in the manifest where a terminal could not show it.
std::string named(const std::string& path) {
  return core::printable(path, path.size()) == path ? path : spelled_out(path);
}

class VerifyJob final : public tool::OptionsInvocation<VerifyOptions> {
 public:
  using OptionsInvocation::OptionsInvocation;

  [[nodiscard]] bool needs_key() const override { return false; }
  [[nodiscard]] tool::ExitStatus run(tool::FoundCredentials /*none*/, const tool::RunContext& context) override {
    tool::SessionRun run(options_, context.console);
    const auto counters = make_counters(context.console);
    std::atomic<bool> should_stop = false;
    run.on_interrupt([&](const Error& why) {
      should_stop = true;
      run.finish(why);
    });
    run.watch([] { return ConnectionStats(); });
    run.progress().measure([&counters](const ConnectionStats& /*none*/) { return amount_of(*counters); });
    std::thread verifying;
    const Status started = start_thread(verifying, [&] {
      boost::asio::post(run.io(),
                        [&, verified = verify_all(*counters, should_stop)] { finish(run, *counters, verified); });
    });
    if (!started) return run.fail_to_start(started.error());
    const tool::ExitStatus status = run.run();
    verifying.join();
    return status;
  }

 private:
  void finish(tool::SessionRun& run, const TransferCounters& counters, const Status& verified) const {
    if (verified && options_.verbosity >= 0)
      run.say(fmt::format("{}, {}: all as the manifest has it", core::format_count(counters.entries, "name"),
                          core::format_size(counters.bytes)));
    run.finish(verified ? std::nullopt : std::optional(verified.error()));
  }
  [[nodiscard]] Status verify_all(TransferCounters& counters, const std::atomic<bool>& should_stop) const {
    // A manifest or a directory that cannot be opened is a usage error (2), not a difference (7).
    const auto as_bad_argument = [](Error error) {
      error.code = Errc::bad_argument;
      return error;
    };
    UDTCAT_TRY(auto manifest, ManifestReader::open(files::FileLocation(options_.manifest)).map_error(as_bad_argument));
    UDTCAT_TRY(const auto tree, files::FileTree::open(options_.directory).map_error(as_bad_argument));
    const VerifyHandlers handlers{
        .on_difference = [&](const std::string& path,
                             const std::string& text) { counters.complain(named(path) + ": " + text); },
        .on_progress =
            [&](const std::string& path, const Verification& so_far) {
              counters.begin_file(path);
              counters.entries = so_far.entries;
              counters.bytes = so_far.bytes;
            },
        .should_stop = [&] { return should_stop.load(); }};
    UDTCAT_TRY(const Verification verified, verify(manifest, tree, handlers));
    counters.entries = verified.entries;
    if (verified.differing == 0) return {};
    return fail(Errc::incomplete, "verify " + options_.directory,
                fmt::format("{} of {} differ", verified.differing, core::format_count(verified.entries, "name")));
  }
};

}  // namespace

Result<std::unique_ptr<tool::Invocation>> parse_verify(const tool::Words& arguments) {
  return tool::parse_as<VerifyJob, parse_verify_options>(arguments);
}

}  // namespace udtcat::trees
