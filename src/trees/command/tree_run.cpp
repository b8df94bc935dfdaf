// SPDX-License-Identifier: Apache-2.0
#include "trees/command/tree_run.hpp"

#include <utility>

#include <fmt/format.h>

#include "lib/core/printable.hpp"
#include "lib/core/user_text.hpp"
#include "tool/cli/user_files.hpp"

namespace udtcat::trees {

namespace {

constexpr std::uint64_t kMaxToldErrors = 100;  // guess: nobody reads more; their number is told at the end

}  // namespace

std::unique_ptr<TransferCounters> make_counters(std::function<void(const std::string& line)> tell) {
  const auto told = std::make_shared<std::atomic<std::uint64_t>>(0);
  return std::make_unique<TransferCounters>([tell = std::move(tell), told](const std::string& line) {
    const std::uint64_t number = ++*told;
    if (number <= kMaxToldErrors) tell(core::printable(line, kMaxReasonBytes));
    if (number == kMaxToldErrors) tell("no more of them are named");
  });
}

std::unique_ptr<TransferCounters> make_counters(tool::Console& console) {
  return make_counters([&console](const std::string& line) { console.line("udtcat: " + line, tool::Severity::error); });
}

Status result_of(const Status& worked, const std::optional<StreamOutcome>& outcome, const TransferCounters& counters) {
  // A BlockingStream that was cut says only that; the connection's stream says why.
  const bool is_stream_to_blame = !worked && worked.error().code == Errc::connection_broken;
  if (is_stream_to_blame && outcome && outcome->error) return tl::unexpected(*outcome->error);
  if (!worked) return worked;
  if (counters.errors == 0 && counters.losses > 0)
    return fail(Errc::incomplete, "not all of it is there",
                "all names and bytes stand, but not all of their attributes, as said above");
  if (counters.errors == 0) return {};
  std::string cause = counters.errors == 1
                          ? "1 name is missing or not as it should be"
                          : fmt::format("{} names are missing or not as they should be", counters.errors.load());
  if (counters.entries > 0) cause += "; the rest stands";
  return fail(Errc::incomplete, "not all of it is there", std::move(cause));
}

std::string sentence_of(const TransferCounters& counters) {
  return fmt::format("{}, {}{}", core::format_count(counters.files, "file"), core::format_size(counters.bytes),
                     particulars_of(counters));
}

std::string particulars_of(const TransferCounters& counters) {
  std::string text;
  if (counters.moved_bytes < counters.bytes)
    text += fmt::format(", of which {} went over the path", core::format_size(counters.moved_bytes));
  if (counters.passed_over > 0)
    text += fmt::format("; {} passed over", core::format_count(counters.passed_over, "socket"));
  return text;
}

TransferOptions transfer_options_of(const TreeOptions& options) {
  TransferOptions transfer = options.transfer;
  transfer.wants_totals = options.progress.value_or(tool::ProgressTicker::person_watches(options));
  transfer.home = tool::user_home();
  transfer.caches = tool::user_cache("trees");
  return transfer;
}

TransferRole connector_role(const TreeOptions& options) {
  return [&options](BlockingStream& stream, TransferCounters& counters, const PeerInfo& peer) {
    const TransferOptions transfer = transfer_options_of(options);
    return options.role == Role::sends
               ? send_as_connector(stream, options.selection, options.place, transfer, counters)
               : receive_as_connector(stream, options.selection.paths, options.directory, transfer, peer, counters);
  };
}

void finish_run(tool::SessionRun& run, const TreeOptions& options, const Status& result,
                const TransferCounters& counters) {
  if (!result) return run.finish(result.error());
  if (options.verbosity > 0 || tool::ProgressTicker::person_watches(options)) run.say(sentence_of(counters));
  run.finish(std::nullopt);
}

std::optional<tool::Amount> amount_of(TransferCounters& counters) {
  tool::Amount amount{.done_bytes = counters.bytes,
                      .all_bytes = counters.all_bytes,
                      .count = core::format_count(counters.entries, "name"),
                      .name = core::printable(counters.current_file(), core::kShownBytes)};
  if (counters.all_entries > 0)
    amount.count = fmt::format("{} of {} names", counters.entries.load(), counters.all_entries.load());
  return amount;
}

}  // namespace udtcat::trees
