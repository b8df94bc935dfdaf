// SPDX-License-Identifier: Apache-2.0
#include "trees/transfer_roles.hpp"

#include <filesystem>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "files/sha256.hpp"
#include "lib/core/printable.hpp"
#include "lib/core/try.hpp"
#include "trees/disk/accounts.hpp"
#include "trees/receiver.hpp"
#include "trees/sender.hpp"

namespace udtcat::trees {

namespace {

std::string current_directory() {
  std::error_code unknown;
  return std::filesystem::current_path(unknown).string();
}

/// A number for the transfer: the same when it begins again, and another for any other.
files::ShortDigest job_of(const std::vector<std::string>& words) {
  utsname system{};
  std::ignore = ::uname(&system);  // fails for no valid argument
  std::string text = fmt::format("{:016x}{}\n{}\n", this_machine(), system.nodename, ::getuid()) + current_directory();
  for (const std::string& word : words) text += '\0' + word;
  return files::short_digest_of({std::as_bytes(std::span(text))});
}

/// Transfers of peers with different keys differ, whatever job they name.
files::ShortDigest job_of_peer(const Hello& hello, const PeerInfo& peer) {
  return files::short_digest_of({std::as_bytes(std::span(peer.key)), hello.job});
}

/// The job of a second host with an equal job, such as one made from the same image.
files::ShortDigest job_at_host(const files::ShortDigest& job, std::uint64_t host) {
  const std::string text = fmt::format("{:016x}", host);
  return files::short_digest_of({job, std::as_bytes(std::span(text))});
}

/// A transfer as its roles share it.
struct TransferContext {
  BlockingStream& stream;
  TransferCounters& counters;
  PeerInfo peer{};
  MessageReader reader{stream};
  std::optional<Hello> hello{};  // of a connector
};

/// Ends the transfer with an error, and tells the peer.
tl::unexpected<Error> refuse(TransferContext& transfer, Error why) {
  MessageWriter writer(transfer.stream);
  transfer.stream.cut_unless_ended();
  tell_failure(why, writer);
  transfer.stream.finish();
  transfer.reader.drain();
  return tl::unexpected(std::move(why));
}

Status send(TransferContext& transfer, Result<Source> source, const TransferOptions& options) {
  if (!source) return refuse(transfer, source.error());
  std::optional<ManifestLog> manifest;
  if (options.manifest) {
    auto created = ManifestLog::create(*options.manifest);
    if (!created) return refuse(transfer, created.error());
    manifest = std::move(*created);
  }
  Sender sender(*source, transfer.stream, manifest ? &*manifest : nullptr, transfer.counters);
  if (options.wants_totals) sender.count();
  UDTCAT_CHECK(sender.run(transfer.reader, transfer.hello));
  return manifest ? manifest->finish() : Status();
}

/// The first words of entries that a sender may announce, as Source gives them; none: any.
std::optional<std::set<std::string>> asked_by(const Hello& hello) {
  std::set<std::string> words;
  for (const std::string& path : hello.paths) {
    const std::string last = last_word(path);
    if (means_content(last) || last == "~") return std::nullopt;
    words.insert(last);
  }
  return words.empty() ? std::nullopt : std::optional(std::move(words));
}

/// Waits until what is there is counted.
Result<std::optional<files::DirectoryLimit>> limit_of(const TransferPlace& place, const files::FileTree& tree,
                                                      BlockingStream& stream) {
  if (!place.limit_bytes) return std::nullopt;
  UDTCAT_TRY(auto use, place.uses->of(tree));
  files::DirectoryLimit limit{
      .use = std::move(use), .bytes = *place.limit_bytes, .peer = place.peer, .is_over = [&stream] {
        return stream.is_cut();
      }};
  UDTCAT_CHECK(limit.await_count());
  return limit;
}

/// Opens what the receiver needs: its directory, its parts and its manifest.
Result<std::unique_ptr<Receiver>> receiver_for(TransferContext& transfer, const TransferPlace& place,
                                               const std::string& job, const TransferOptions& options,
                                               std::optional<ManifestLog>& manifest) {
  UDTCAT_TRY(const auto own, files::FileTree::make(place.directory));
  UDTCAT_TRY(auto tree, own.make_below(place.below));
  UDTCAT_TRY(auto limit, limit_of(place, tree, transfer.stream));
  if (options.manifest) {
    UDTCAT_TRY(manifest, ManifestLog::create(*options.manifest));
  }
  ReceiverOptions receiver_options{.tree = tree,
                                   .job = job,
                                   .waits = options.waits,
                                   .keeps_owners = options.keeps_owners,
                                   .peer = transfer.peer.key,
                                   .is_sealed = transfer.peer.is_sealed,
                                   .limit_bytes = options.limit_bytes,
                                   .directory_limit = std::move(limit),
                                   .asked = transfer.hello ? asked_by(*transfer.hello) : std::nullopt,
                                   .home = options.home,
                                   .cache = options.caches ? cache_of(tree, *options.caches) : std::nullopt,
                                   .trusts_cache = !options.rereads};
  return Receiver::make(std::move(receiver_options), transfer.stream, manifest ? &*manifest : nullptr,
                        transfer.counters);
}

Status receive(TransferContext& transfer, const TransferPlace& place, const std::string& job,
               const TransferOptions& options) {
  std::optional<ManifestLog> manifest;
  const auto receiver = receiver_for(transfer, place, job, options, manifest);
  if (!receiver) return refuse(transfer, receiver.error());
  UDTCAT_CHECK((*receiver)->run(transfer.reader, transfer.hello));
  return manifest ? manifest->finish() : Status();
}

Result<Hello> read_hello(MessageReader& reader) {
  UDTCAT_TRY(auto message, reader.next());
  if (const auto* failed = message ? std::get_if<Failed>(&*message) : nullptr) return tl::unexpected(error_of(*failed));
  auto* hello = message ? std::get_if<Hello>(&*message) : nullptr;
  if (hello == nullptr)
    return fail(Errc::protocol_violated, "begin a transfer", "the other end does not begin with HELLO");
  return std::move(*hello);
}

/// A listener waits for HELLO, and refuses anything else.
Result<Hello> hear_hello(TransferContext& transfer) {
  auto hello = read_hello(transfer.reader);
  if (!hello) return refuse(transfer, hello.error());
  transfer.counters.has_begun = true;
  return hello;
}

TransferOptions with(const TransferOptions& options, const Hello& hello) {
  TransferOptions both = options;
  both.keeps_owners |= hello.keeps_owners;
  both.rereads |= hello.rereads;
  return both;
}

/// "~" and "~/x" as a shell takes them; everything else is relative to the account's home, where ssh has brought us.
std::string in_account(const std::string& path) {
  if (path == "~" || path.empty()) return ".";
  return path.starts_with("~/") ? "./" + path.substr(2) : path;
}

/// The same path without "." and empty words; none: it may lead out of the directory that it begins in.
std::optional<std::string> path_below(std::string_view path) {
  if (path.starts_with('/')) return std::nullopt;
  std::string below;
  while (!path.empty()) {
    const std::string_view word = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(word.size() + 1, path.size()));
    if (word == "..") return std::nullopt;
    if (word.empty() || word == ".") continue;
    below += below.empty() ? std::string(word) : '/' + std::string(word);
  }
  return below;
}

}  // namespace

Status send_as_connector(BlockingStream& stream, const Selection& selection, const std::string& place,
                         const TransferOptions& options, TransferCounters& counters) {
  TransferContext transfer{stream, counters};
  std::vector<std::string> words = selection.paths;
  words.push_back(selection.list.value_or(""));
  words.push_back(place);
  transfer.hello = Hello{.role = Role::sends,
                         .keeps_owners = options.keeps_owners,
                         .wants_totals = false,
                         .rereads = options.rereads,
                         .job = job_of(words),
                         .place = place,
                         .paths = {}};
  return send(transfer, source_of(selection), options);
}

Status receive_as_connector(BlockingStream& stream, const std::vector<std::string>& paths, const std::string& directory,
                            const TransferOptions& options, const PeerInfo& peer, TransferCounters& counters) {
  TransferContext transfer{stream, counters, peer};
  transfer.hello = Hello{.role = Role::receives,
                         .keeps_owners = options.keeps_owners,
                         .wants_totals = options.wants_totals,
                         .rereads = false,
                         .job = job_of(paths),
                         .place = {},
                         .paths = paths};
  return receive(transfer, {.directory = directory}, files::to_hex(transfer.hello->job), options);
}

Status receive_as_listener(BlockingStream& stream, const TransferPlace& place, const TransferOptions& options,
                           const PeerInfo& peer, ActiveTransfers& active, TransferCounters& counters) {
  TransferContext transfer{stream, counters, peer};
  UDTCAT_TRY(const Hello hello, hear_hello(transfer));
  if (hello.role != Role::sends)
    return refuse(transfer,
                  {Errc::stream_refused, "receive files",
                   "the listener receives, too: udtcat send PATH HOST PORT sends to it, and udtcat send --serve "
                   "in its place would send"});
  if (!hello.place.empty())
    return refuse(transfer, {Errc::stream_refused, "receive into " + core::printable(hello.place, kMaxReasonBytes),
                             "the listener has a directory of its own"});
  const files::ShortDigest job = job_of_peer(hello, peer);
  ActiveTransfers::Owner owner = peer.owner;
  if (!owner.end) owner.end = [&stream](const Error& /*nobody to tell*/) { stream.cut(); };
  owner.is_over = [&stream] { return stream.is_cut(); };
  const std::string apart = files::to_hex(job_at_host(job, owner.host));
  UDTCAT_TRY(const auto slot, active.enter(files::to_hex(job), apart, std::move(owner)));
  const Status received = receive(transfer, place, slot->name(), with(options, hello));
  if (auto replaced = slot->replaced(); !received && replaced) return tl::unexpected(std::move(*replaced));
  return received;
}

Status send_as_listener(BlockingStream& stream, const TransferPlace& place, TransferCounters& counters) {
  TransferContext transfer{stream, counters};
  UDTCAT_TRY(const Hello hello, hear_hello(transfer));
  if (hello.role != Role::receives)
    return refuse(transfer,
                  {Errc::stream_refused, "send files",
                   "the listener sends, too: udtcat receive HOST PORT takes from it, and udtcat receive -l in "
                   "its place would receive"});
  for (const std::string& path : hello.paths) counters.add_name(path);
  if (hello.paths.empty()) counters.add_name(place.below.empty() ? place.directory : place.below);
  auto tree = files::FileTree::open(place.directory);
  if (tree && !place.below.empty()) tree = tree->below(place.below, Errc::local_read_failed);
  auto source = tree ? Source::of_tree(*tree, hello.paths) : tl::unexpected(tree.error());
  return send(transfer, std::move(source), {.wants_totals = hello.wants_totals});
}

Status send_selection_as_listener(BlockingStream& stream, const Selection& selection, const TransferOptions& options,
                                  TransferCounters& counters) {
  TransferContext transfer{stream, counters};
  UDTCAT_TRY(const Hello hello, hear_hello(transfer));
  if (hello.role != Role::receives)
    return refuse(transfer,
                  {Errc::stream_refused, "send files", "both ends send: udtcat receive TICKET takes from it"});
  if (!hello.paths.empty())
    return refuse(transfer, {Errc::stream_refused, "send files", "this end says which: the other may name no paths"});
  for (const std::string& path : selection.paths) counters.add_name(path);
  TransferOptions both = options;
  both.wants_totals |= hello.wants_totals;
  return send(transfer, source_of(selection), both);
}

Status receive_for_login(BlockingStream& stream, const std::string& directory, const TransferOptions& options,
                         const PeerInfo& peer, TransferCounters& counters) {
  TransferContext transfer{stream, counters, peer};
  UDTCAT_TRY(const Hello hello, hear_hello(transfer));
  if (hello.role != Role::sends)
    return refuse(transfer, {Errc::stream_refused, "send files", "this login may only receive: udtcat send"});
  auto below = path_below(in_account(hello.place));
  if (!below)
    return refuse(transfer, {Errc::stream_refused, "receive into " + core::printable(hello.place, kMaxReasonBytes),
                             "this login receives below a directory of its own: name one in it, or none"});
  return receive(transfer, {.directory = directory, .below = std::move(*below)}, files::to_hex(hello.job),
                 with(options, hello));
}

Status serve_account(BlockingStream& stream, const TransferOptions& options, const PeerInfo& peer,
                     TransferCounters& counters) {
  TransferContext transfer{stream, counters, peer};
  UDTCAT_TRY(Hello hello, hear_hello(transfer));
  if (hello.role == Role::sends)
    return receive(transfer, {.directory = in_account(hello.place)}, files::to_hex(hello.job), with(options, hello));
  for (std::string& path : hello.paths) path = in_account(path);
  if (hello.paths.empty()) hello.paths.emplace_back(".");
  return send(transfer, Source::of_arguments(hello.paths), {.wants_totals = hello.wants_totals});
}

}  // namespace udtcat::trees
