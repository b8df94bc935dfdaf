// SPDX-License-Identifier: Apache-2.0
#include "trees/command/tree_run.hpp"

#include <utility>

#include <fmt/format.h>

#include "lib/core/printable.hpp"
#include "lib/core/user_text.hpp"
#include "tool/cli/user_files.hpp"

namespace udtcat::trees {

namespace {

constexpr std::uint64_t kMaxToldTroubles = 100;  // guess: nobody reads more; their number is told at the end

}  // namespace

std::unique_ptr<Tally> make_tally(tool::Console& console) {
  const auto told = std::make_shared<std::atomic<std::uint64_t>>(0);
  return std::make_unique<Tally>([&console, told](const std::string& line) {
    const std::uint64_t number = ++*told;
    if (number <= kMaxToldTroubles)
      console.line("udtcat: " + core::printable(line, kMaxReasonBytes), tool::Severity::error);
    if (number == kMaxToldTroubles) console.line("udtcat: no more of them are named", tool::Severity::error);
  });
}

Status result_of(const Status& worked, const std::optional<StreamOutcome>& outcome, const Tally& tally) {
  // A wire that broke says only that it did; its stream says why.
  const bool is_stream_to_blame = !worked && worked.error().code == Errc::connection_broken;
  if (is_stream_to_blame && outcome && outcome->error) return tl::unexpected(*outcome->error);
  if (!worked) return worked;
  if (tally.troubles == 0 && tally.losses > 0)
    return fail(Errc::incomplete, "not all of it is there",
                "all names and bytes stand, but not all of their attributes, as said above");
  if (tally.troubles == 0) return {};
  std::string cause = tally.troubles == 1
                          ? "1 name is missing or not as it should be"
                          : fmt::format("{} names are missing or not as they should be", tally.troubles.load());
  if (tally.entries > 0) cause += "; the rest stands";
  return fail(Errc::incomplete, "not all of it is there", std::move(cause));
}

std::string sentence_of(const Tally& tally) {
  std::string text = fmt::format("{}, {}", core::format_count(tally.files, "file"), core::format_size(tally.bytes));
  if (tally.moved_bytes < tally.bytes)
    text += fmt::format(", of which {} went over the path", core::format_size(tally.moved_bytes));
  if (tally.passed_over > 0) text += fmt::format("; {} passed over", core::format_count(tally.passed_over, "socket"));
  return text;
}

Wishes wishes_of(const TreeOptions& options) {
  Wishes wishes = options.wishes;
  wishes.wants_totals = options.progress.value_or(tool::SessionRun::person_watches(options));
  wishes.home = tool::user_home();
  wishes.books = tool::user_cache("trees");
  return wishes;
}

Status work_as_connector(const TreeOptions& options, Wire& wire, Tally& tally, const OtherEnd& other) {
  const Wishes wishes = wishes_of(options);
  return options.role == Role::sends
             ? send_as_connector(wire, options.selection, options.place, wishes, tally)
             : receive_as_connector(wire, options.selection.paths, options.directory, wishes, other, tally);
}

void finish_run(tool::SessionRun& run, const TreeOptions& options, const Status& result, const Tally& tally) {
  if (!result) return run.finish(result.error());
  if (options.verbosity > 0 || tool::SessionRun::person_watches(options)) run.say(sentence_of(tally));
  run.finish(std::nullopt);
}

std::optional<tool::Amount> amount_of(Tally& tally) {
  tool::Amount amount{.done_bytes = tally.bytes,
                      .all_bytes = tally.all_bytes,
                      .count = core::format_count(tally.entries, "name"),
                      .name = core::printable(tally.current_file(), core::kShownBytes)};
  if (tally.all_entries > 0)
    amount.count = fmt::format("{} of {} names", tally.entries.load(), tally.all_entries.load());
  return amount;
}

}  // namespace udtcat::trees
