// SPDX-License-Identifier: Apache-2.0
#include "trees/command/tree_run.hpp"

#include <utility>

#include <fmt/format.h>

#include "lib/core/printable.hpp"
#include "lib/core/user_text.hpp"
#include "tool/user_files.hpp"

namespace udtcat::trees {

namespace {

constexpr std::uint64_t kMaxToldTroubles = 100;  // guess: nobody reads more; their number is told at the end

}  // namespace

std::unique_ptr<Account> make_account(tool::Console& console) {
  const auto told = std::make_shared<std::atomic<std::uint64_t>>(0);
  return std::make_unique<Account>([&console, told](const std::string& line) {
    const std::uint64_t number = ++*told;
    if (number <= kMaxToldTroubles)
      console.line("udtcat: " + core::printable(line, kMaxReasonBytes), tool::LineLevel::error);
    if (number == kMaxToldTroubles) console.line("udtcat: no more of them are named", tool::LineLevel::error);
  });
}

Status result_of(const Status& worked, const std::optional<StreamOutcome>& outcome, const Account& account) {
  // A wire that broke says only that it did; its stream says why.
  const bool is_stream_to_blame = !worked && worked.error().code == Errc::connection_broken;
  if (is_stream_to_blame && outcome && outcome->error) return tl::unexpected(*outcome->error);
  if (!worked) return worked;
  if (account.troubles == 0) return {};
  std::string cause = account.troubles == 1
                          ? "1 name is missing or not as it should be"
                          : fmt::format("{} names are missing or not as they should be", account.troubles.load());
  // Some of them may have been proved before they were refused.
  if (account.entries > account.troubles) cause += "; the rest stands";
  return fail(Errc::local_read_failed, "transfer all of it", std::move(cause));
}

std::string sentence_of(const Account& account) {
  std::string text = fmt::format("{}, {}", core::format_count(account.files, "file"), core::format_size(account.bytes));
  if (account.moved_bytes < account.bytes)
    text += fmt::format(", of which {} went over the path", core::format_size(account.moved_bytes));
  if (account.passed_over > 0)
    text += fmt::format("; {} passed over", core::format_count(account.passed_over, "socket"));
  return text;
}

Wishes wishes_of(const TreeOptions& options) {
  Wishes wishes = options.wishes;
  wishes.wants_totals = options.progress.value_or(tool::SessionRun::person_watches(options));
  wishes.books = tool::user_cache("trees");
  return wishes;
}

Status work_as_connector(const TreeOptions& options, Wire& wire, Account& account, const OtherEnd& other) {
  const Wishes wishes = wishes_of(options);
  return options.role == Role::sends
             ? send_as_connector(wire, options.selection, options.place, wishes, account)
             : receive_as_connector(wire, options.selection.paths, options.directory, wishes, other, account);
}

void finish_run(tool::SessionRun& run, const TreeOptions& options, const Status& result, const Account& account) {
  if (!result) return run.finish(result.error());
  if (options.verbosity > 0 || tool::SessionRun::person_watches(options)) run.say(sentence_of(account));
  run.finish(std::nullopt);
}

std::optional<tool::Extent> extent_of(Account& account) {
  tool::Extent extent{.done_bytes = account.bytes,
                      .all_bytes = account.all_bytes,
                      .count = core::format_count(account.entries, "name"),
                      .name = core::printable(account.current_file(), core::kShownBytes)};
  if (account.all_entries > 0)
    extent.count = fmt::format("{} of {} names", account.entries.load(), account.all_entries.load());
  return extent;
}

}  // namespace udtcat::trees
