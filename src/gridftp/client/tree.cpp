// SPDX-License-Identifier: Apache-2.0
/// download_tree(), upload_tree().  spec: docs/spec/gridftp.md §9
#include <deque>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>

#include "gridftp/client/outcome.hpp"
#include "gridftp/client/remote_server.hpp"
#include "gridftp/client/stored_file.hpp"
#include "gridftp/client/transfer.hpp"
#include "gridftp/dialogue/listed_entries.hpp"
#include "gridftp/disk/disk_threads.hpp"
#include "gridftp/disk/restart_journal.hpp"
#include "gridftp/mode_e/block_sink.hpp"
#include "gridftp/mode_e/stream_mode.hpp"
#include "lib/core/log.hpp"
#include "lib/core/printable.hpp"
#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"

namespace udtcat::gridftp {

namespace {

constexpr std::size_t kMaxTreeEntries = 1'000'000;   // guess: more than people move by FTP
constexpr std::size_t kMaxTreeDepth = 128;           // guess: deeper than people nest
constexpr std::size_t kMaxPathBytes = 4096;          // spec: Linux PATH_MAX
constexpr std::size_t kMaxPathsBytes = 256 * kMiB;   // guess: of all paths, which requests have twice more
constexpr std::size_t kMaxListingBytes = 64 * kMiB;  // guess: 300 000 entries as Globus writes them

/// "a/b" in "/root/a/b"; either may be empty.
std::string joined(const std::string& above, const std::string& name) {
  return above.empty() || name.empty() ? above + name : above + '/' + name;
}

FtpUrl url_below(FtpUrl root, const std::string& path) {
  root.path += '/' + path;
  return root;
}

/// A listing in memory.
/// Threads: confined to the io_context thread.
class ListingSink final : public BlockSink {
 public:
  Task<Status> store(std::uint64_t /*in order*/, std::span<const std::byte> bytes) override {
    if (bytes.size() > kMaxListingBytes - text_.size())
      co_return fail(Errc::protocol_violated, "read a listing",
                     fmt::format("it has more than {} MiB, the most that this client takes", kMaxListingBytes / kMiB));
    for (const std::byte each : bytes) text_ += static_cast<char>(each);
    co_return Status{};
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// MLSD on a connection of its own in stream mode, as Globus' clients ask for it.
/// path   ends with '/', as theirs do
struct Listing {
  std::vector<ListedEntry> entries;
  std::string end;  // the server's last words
};
Task<Result<Listing>> list(RemoteServer& server, std::string path) {
  UDTCAT_CO_CHECK(co_await server.aim_at_ports(false));
  const auto done = std::make_shared<Promise<Status>>(server.io());
  const auto sink = std::make_shared<ListingSink>();
  // As a temporary within the co_await this closure was seen to corrupt memory (GCC 12), so it has a name.
  const ControlConnection::Moved moved_bytes = [sink] { return sink->text().size(); };
  UDTCAT_CO_CHECK(co_await server.begin("MLSD " + path, moved_bytes, ignore_markers(), done));
  const auto connection = co_await server.path().single();
  Status moved;
  files::ByteRanges have;
  if (connection) {
    moved = co_await server.path().alone(*connection, receive_stream_mode(**connection, *sink, have, std::nullopt));
    if (moved) std::ignore = co_await (*connection)->finish();  // which the server may wait for
  } else {
    moved = tl::unexpected(connection.error());
  }
  UDTCAT_CO_CHECK(co_await outcome_of(server, std::move(moved), done));
  auto entries = parse_listing(sink->text());
  if (entries) co_return Listing{std::move(*entries), server.last_words()};
  entries.error().what += " of " + core::printable(path, core::kShownBytes);
  co_return tl::unexpected(std::move(entries.error()));
}

class UnsupportedEntries {
 public:
  void add(const std::string& path) {
    constexpr std::size_t kMostShown = 8;  // guess: enough to see which they are
    if (++count_ <= kMostShown)
      shown_ += (shown_.empty() ? "" : ", ") + core::printable(path, core::kShownBytes);
    else if (count_ == kMostShown + 1)
      shown_ += ", ...";
  }
  void warn(const char* kind) const {
    if (count_ > 0)
      core::log().warn("{} passed over, as FTP has no form for that: {}",
                       count_ == 1 ? fmt::format("1 {} is", kind) : fmt::format("{} {}s are", count_, kind), shown_);
  }

 private:
  std::size_t count_ = 0;
  std::string shown_;
};

struct SkippedEntries {
  UnsupportedEntries links;
  UnsupportedEntries special;
  std::size_t unsayable = 0;  // names with a line end or 0xFF
  std::size_t missing_in_listings = 0;
  FailedFiles directories;      // that could not be listed, or made, and those below them
  std::size_t files_below = 0;  // files in directories that could not be made

  void warn() const {
    links.warn("symbolic link");
    special.warn("special file");
  }
  /// errors: as FailedFiles::check(); Errc::stream_refused where there are names that could not be carried, too
  [[nodiscard]] Status check(const std::string& doing, std::size_t all_directories) const {
    Status listed = directories.check(all_directories, "directories");
    if (!listed && files_below > 0)
      listed.error().what += ", and " + core::format_count(files_below, "file") + " in them";
    const std::size_t names = unsayable + missing_in_listings;
    if (names == 0) return listed;
    std::string lacks = listed ? "" : listed.error().message() + "; ";
    lacks += "it lacks " + core::format_count(names, "name") + ": ";
    if (missing_in_listings > 0)
      lacks += fmt::format("{} that the server left out of its listings", missing_in_listings);
    if (unsayable > 0)
      lacks += fmt::format("{}{} with a line end or a byte 0xFF, which FTP cannot carry",
                           missing_in_listings > 0 ? ", " : "", unsayable);
    return fail(Errc::stream_refused, doing, lacks);
  }
};

/// Directories and files of a tree, by their paths from its root; each directory before what is in it.
/// Threads: confined to the io_context thread.
class TreeQueue {
 public:
  [[nodiscard]] std::optional<std::string> next() {
    if (waiting_.empty()) return std::nullopt;
    std::string directory = std::move(waiting_.front());
    waiting_.pop_front();
    return directory;
  }
  /// Entry   ListedEntry, FileTree::Entry
  template <typename Entry>
  void take(const std::string& directory, const Entry& entry) {
    using Kind = typename Entry::Kind;
    const std::string path = joined(directory, entry.name);
    paths_bytes_ += path.size();
    if (entry.kind == Kind::file) files_.push_back(path);
    if (entry.kind == Kind::directory) {
      directories_.push_back(path);
      waiting_.push_back(path);
    }
    if (entry.kind == Kind::link) passed_over_.links.add(path);
    if (entry.kind == Kind::special) passed_over_.special.add(path);
  }
  /// Skips an entry, and all that is below it.
  void skip(const std::string& directory, const std::string& name) {
    if (++passed_over_.unsayable <= kMostNamed)
      core::log().warn("{} is passed over: FTP has no way to say a line end or a byte 0xFF",
                       core::printable(joined(directory, name), core::kShownBytes));
  }
  /// Skips a directory that cannot be listed.  returns  whether the walk goes on
  /// was_last   as is_of_one() has it
  [[nodiscard]] bool skip(const std::string& directory, const Error& why, bool was_last = false) {
    if (directory.empty() || !is_of_one(why, was_last)) return false;
    passed_over_.directories.add(why);
    skipped_directories_.insert(directory);
    return true;
  }
  [[nodiscard]] bool has_skipped(const std::string& directory) const {
    return skipped_directories_.contains(directory);
  }
  void note_missing(const std::string& directory, const Listing& listing) {
    const std::size_t names = missing_names_in(listing.end);
    passed_over_.missing_in_listings += names;
    if (names > 0)
      core::log().warn("the server says of {}: {}",
                       directory.empty() ? "the directory itself" : core::printable(directory, core::kShownBytes),
                       core::printable(listing.end, core::kShownBytes));
  }
  [[nodiscard]] const std::vector<std::string>& directories() const { return directories_; }
  [[nodiscard]] const std::vector<std::string>& files() const { return files_; }
  [[nodiscard]] const SkippedEntries& passed_over() const { return passed_over_; }
  [[nodiscard]] std::size_t paths_bytes() const { return paths_bytes_; }

 private:
  std::deque<std::string> waiting_{""};
  std::vector<std::string> directories_, files_;
  std::set<std::string> skipped_directories_;
  SkippedEntries passed_over_;
  std::size_t paths_bytes_ = 0;
};

std::vector<TransferRequest> requests_of(const TreeQueue& walk, const FtpUrl& root, files::FileTree tree) {
  const auto shared = std::make_shared<const files::FileTree>(std::move(tree));
  std::vector<TransferRequest> requests;
  for (const std::string& path : walk.files())
    requests.push_back({.remote = url_below(root, path), .path = path, .tree = shared});
  return requests;
}

/// The error of the transfer, with the number of skipped entries; else that of the walk.
Status outcome_with(Status moved, const Status& walked) {
  if (moved) return walked;
  if (!walked) moved.error().cause += "; " + walked.error().message();
  return moved;
}

// ---- get -r ---------------------------------------------------------------------------------------------------------

Status check_bounds(const std::string& directory, std::size_t entries) {
  const auto depth = static_cast<std::size_t>(std::ranges::count(directory, '/'));
  if (depth >= kMaxTreeDepth)
    return fail(
        Errc::protocol_violated, "get " + core::printable(directory, core::kShownBytes),
        fmt::format("the tree is deeper than {} directories, the most that this client follows", kMaxTreeDepth));
  if (entries > kMaxTreeEntries)
    return fail(Errc::protocol_violated, "get " + core::printable(directory, core::kShownBytes),
                fmt::format("the tree has more than {} entries, the most that this client takes", kMaxTreeEntries));
  return {};
}

Status check_paths(const TreeQueue& walk, std::size_t path_bytes, const std::string& directory) {
  const std::string what = "get " + core::printable(directory, core::kShownBytes);
  if (path_bytes > kMaxPathBytes)
    return fail(Errc::protocol_violated, what,
                fmt::format("a path in it is longer than {} bytes, the most that Linux has", kMaxPathBytes));
  if (walk.paths_bytes() > kMaxPathsBytes)
    return fail(
        Errc::protocol_violated, what,
        fmt::format("the tree has more than {} MiB of paths, the most that this client takes", kMaxPathsBytes / kMiB));
  return {};
}

Task<Result<TreeQueue>> walk_server(RemoteServer& server, FtpUrl root, bool is_last_attempt) {
  UDTCAT_CO_CHECK(co_await server.use_mode_s());
  TreeQueue walk;
  std::size_t entries = 0;
  while (const auto directory = walk.next()) {
    UDTCAT_CO_CHECK(check_bounds(*directory, entries));
    const auto listed = co_await list(server, url_below(root, *directory).path + (directory->empty() ? "" : "/"));
    if (!listed && walk.skip(*directory, listed.error(), is_last_attempt)) continue;
    if (!listed) co_return tl::unexpected(listed.error());
    entries += listed->entries.size();
    walk.note_missing(*directory, *listed);
    for (const ListedEntry& entry : listed->entries) {
      if (entry.kind == ListedEntry::Kind::unsayable)
        walk.skip(*directory, entry.name);
      else
        walk.take(*directory, entry);
      UDTCAT_CO_CHECK(check_paths(walk, directory->size() + 1 + entry.name.size(), *directory));
    }
    UDTCAT_CO_CHECK(check_bounds("", entries));
  }
  co_return walk;
}

/// Runs on a disk thread. Two names that a file system treats as one are an error.
Status make_directories(const files::FileTree& tree, const std::vector<std::string>& paths) {
  std::set<std::pair<dev_t, ino_t>> made;
  for (const std::string& path : paths) {
    UDTCAT_CHECK(tree.make_directory(path));
    UDTCAT_TRY(const auto directory, tree.enter(path, Errc::local_write_failed));
    struct stat status {};
    if (::fstat(directory->number(), &status) != 0)
      return core::fail_by_errno(Errc::local_write_failed, "look at " + tree.shown(path));
    if (!made.emplace(status.st_dev, status.st_ino).second)
      return fail(Errc::local_write_failed, "make the directory " + tree.shown(path),
                  "it is there as another directory of the same tree: the two would become one");
  }
  return {};
}

// ---- put -r ---------------------------------------------------------------------------------------------------------

/// Runs on a disk thread. Journals of an earlier put are not content.
Result<TreeQueue> walk_disk(const files::FileTree& tree) {
  TreeQueue walk;
  while (const auto directory = walk.next()) {
    const auto entries = tree.list(*directory);
    if (!entries && walk.skip(*directory, entries.error())) continue;
    if (!entries) return tl::unexpected(entries.error());
    for (const files::FileTree::Entry& entry : *entries) {
      const std::string path = joined(*directory, entry.name);
      const bool moves =
          entry.kind == files::FileTree::Entry::Kind::file || entry.kind == files::FileTree::Entry::Kind::directory;
      if (moves && !can_be_said(path)) {
        walk.skip(*directory, entry.name);
        continue;
      }
      if (entry.kind == files::FileTree::Entry::Kind::file && entry.name.find(kSentSuffix) != std::string::npos) {
        UDTCAT_TRY(const auto location, tree.locate(path, Errc::local_read_failed));
        if (RestartJournal::is_at(location)) continue;
      }
      walk.take(*directory, entry);
    }
  }
  return walk;
}

std::string parent_of(const std::string& path) {
  const auto end = path.rfind('/');
  return end == std::string::npos ? "" : path.substr(0, end);
}

/// MKD. A directory that exists is no error, whatever the server replies.
/// patience   a server may count first what is there
Task<Status> make_remote(RemoteServer& server, FtpUrl directory, std::chrono::milliseconds patience) {
  const std::string doing = "make the directory " + directory.to_string();
  UDTCAT_CO_TRY(const auto made, co_await server.control().ask("MKD " + directory.path, patience));
  if (!made.is_completion()) {
    UDTCAT_CO_TRY(const auto entered, co_await server.control().ask("CWD " + directory.path));
    const Reply& refusal = entered.code / 100 == 4 ? entered : made;  // spec: RFC 959 §4.2.1: the next time it may
    if (!entered.is_completion())
      co_return fail(Errc::stream_refused, doing, fmt::format("{} {}", refusal.code, refusal.text()));
  }
  co_return co_await check_name(server, directory.path, Errc::remote_write_failed, doing);
}

}  // namespace

Task<Status> download_tree(boost::asio::io_context& io, FtpUrl from, std::string into, TransferOptions options,
                           SharedProgress progress) {
  std::unique_ptr<RemoteServer> server;
  TreeQueue walk;
  std::size_t attempts = 0;
  const auto attempt = [&]() -> Task<Status> {
    const bool is_last = ++attempts > options.retries;
    UDTCAT_CO_CHECK(co_await ensure_logged_in(io, server, from, options));
    auto walked = co_await walk_server(*server, from, is_last);
    if (!walked) server.reset();
    if (!walked) co_return tl::unexpected(std::move(walked.error()));
    walk = std::move(*walked);
    co_return Status{};
  };
  UDTCAT_CO_CHECK(co_await with_retries(io, options, progress, attempt));
  walk.passed_over().warn();
  auto tree = co_await on_disk(io, [&]() -> Result<files::FileTree> {
    UDTCAT_TRY(auto made, files::FileTree::make(into));
    UDTCAT_CHECK(make_directories(made, walk.directories()));
    return made;
  });
  if (!tree) co_return tl::unexpected(std::move(tree.error()));
  auto requests = requests_of(walk, from, std::move(*tree));
  const SkippedEntries passed_over = walk.passed_over();
  const std::size_t directories = walk.directories().size();
  walk = TreeQueue();
  auto moved = co_await download_all(io, std::move(requests), options, progress, std::move(server));
  co_return outcome_with(std::move(moved), passed_over.check("get all of " + from.to_string(), directories));
}

Task<Status> upload_tree(boost::asio::io_context& io, std::string from, FtpUrl into, TransferOptions options,
                         SharedProgress progress) {
  auto tree = co_await on_disk(io, [&] { return files::FileTree::open(from); });
  if (!tree) co_return tl::unexpected(std::move(tree.error()));
  UDTCAT_CO_TRY(const TreeQueue walk, co_await on_disk(io, [&] { return walk_disk(*tree); }));
  walk.passed_over().warn();
  std::unique_ptr<RemoteServer> server;
  std::set<std::string> refused;  // directories: what is below them stays here
  SkippedEntries passed_over;
  std::size_t attempts = 0;
  const auto make_all = [&]() -> Task<Status> {
    const bool is_last = ++attempts > options.retries;
    UDTCAT_CO_CHECK(co_await ensure_logged_in(io, server, into, options));
    if (!into.path.empty()) UDTCAT_CO_CHECK(co_await make_remote(*server, into, options.begin_timeout));
    refused.clear();
    passed_over = walk.passed_over();
    for (const std::string& directory : walk.directories()) {
      if (refused.contains(parent_of(directory))) {  // which came before it
        refused.insert(directory);
        if (!walk.has_skipped(directory)) passed_over.directories.add_silently();
        continue;
      }
      const auto made = co_await make_remote(*server, url_below(into, directory), options.begin_timeout);
      if (made) continue;
      if (!is_of_one(made.error(), is_last)) co_return made;
      if (!walk.has_skipped(directory)) passed_over.directories.add(made.error());
      refused.insert(directory);
    }
    co_return Status{};
  };
  const auto attempt = [&]() -> Task<Status> {
    auto made = co_await make_all();
    if (!made) server.reset();
    co_return made;
  };
  UDTCAT_CO_CHECK(co_await with_retries(io, options, progress, attempt));
  auto requests = requests_of(walk, into, std::move(*tree));
  passed_over.files_below = std::erase_if(
      requests, [&](const TransferRequest& request) { return refused.contains(parent_of(request.path)); });
  auto moved = co_await upload_all(io, std::move(requests), options, progress, std::move(server));
  co_return outcome_with(std::move(moved), passed_over.check("put all of " + core::printable(from, core::kShownBytes),
                                                             walk.directories().size()));
}

}  // namespace udtcat::gridftp
