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

/// The same for a transfer that begins again, and for no other.
files::ShortDigest job_of(const std::vector<std::string>& words) {
  utsname system{};
  std::ignore = ::uname(&system);  // fails for no valid argument
  std::string text = fmt::format("{:016x}{}\n{}\n", this_machine(), system.nodename, ::getuid()) + current_directory();
  for (const std::string& word : words) text += '\0' + word;
  return files::short_digest_of({std::as_bytes(std::span(text))});
}

/// Where ends have key pairs one's transfer is no other's, whatever it calls it.
files::ShortDigest job_of_peer(const Hello& hello, const OtherEnd& other) {
  return files::short_digest_of({std::as_bytes(std::span(other.key)), hello.job});
}

/// The same for another sender's that has that job, too: a host that was made from the same image.
files::ShortDigest job_at_host(const files::ShortDigest& job, std::uint64_t host) {
  const std::string text = fmt::format("{:016x}", host);
  return files::short_digest_of({job, std::as_bytes(std::span(text))});
}

/// A transfer as its roles share it.
struct TransferContext {
  explicit TransferContext(Wire& on, Tally& figures, OtherEnd with = {})
      : wire(on), tally(figures), other(std::move(with)) {}

  Wire& wire;
  MessageReader reader{wire};
  Tally& tally;
  const OtherEnd other;
  std::optional<Hello> hello{};  // of a connector
};

/// The peer is told that what it asks for is not to be had here.
tl::unexpected<Error> refuse(TransferContext& transfer, Error why) {
  MessageWriter writer(transfer.wire);
  transfer.wire.cut_unless_ended();
  tell_failure(why, writer);
  transfer.wire.finish();
  transfer.reader.drain();
  return tl::unexpected(std::move(why));
}

Status send(TransferContext& transfer, Result<Source> source, const Wishes& wishes) {
  if (!source) return refuse(transfer, source.error());
  std::optional<ManifestLog> manifest;
  if (wishes.manifest) {
    auto created = ManifestLog::create(*wishes.manifest);
    if (!created) return refuse(transfer, created.error());
    manifest = std::move(*created);
  }
  Sender sender(*source, transfer.wire, manifest ? &*manifest : nullptr, transfer.tally);
  if (wishes.wants_totals) sender.count();
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

/// With all that it needs: its directory, its parts and its manifest.
Result<std::unique_ptr<Receiver>> receiver_for(TransferContext& transfer, const std::string& directory,
                                               const std::string& job, const Wishes& wishes,
                                               std::optional<ManifestLog>& manifest) {
  UDTCAT_TRY(auto tree, files::FileTree::make(directory));
  if (wishes.manifest) {
    UDTCAT_TRY(manifest, ManifestLog::create(*wishes.manifest));
  }
  ReceiverOptions options{.tree = tree,
                          .job = job,
                          .held = wishes.waits ? Parts::Held::wait : Parts::Held::refuse,
                          .keeps_owners = wishes.keeps_owners,
                          .peer = transfer.other.key,
                          .is_sealed = transfer.other.is_sealed,
                          .limit_bytes = wishes.limit_bytes,
                          .asked = transfer.hello ? asked_by(*transfer.hello) : std::nullopt,
                          .home = wishes.home,
                          .book = wishes.books ? book_of(tree, *wishes.books) : std::nullopt,
                          .believes_book = !wishes.rereads};
  return Receiver::make(std::move(options), transfer.wire, manifest ? &*manifest : nullptr, transfer.tally);
}

Status receive(TransferContext& transfer, const std::string& directory, const std::string& job, const Wishes& wishes) {
  std::optional<ManifestLog> manifest;
  const auto receiver = receiver_for(transfer, directory, job, wishes, manifest);
  if (!receiver) return refuse(transfer, receiver.error());
  UDTCAT_CHECK((*receiver)->run(transfer.reader, transfer.hello));
  return manifest ? manifest->finish() : Status();
}

Result<Hello> read_hello(MessageReader& reader) {
  UDTCAT_TRY(auto message, reader.next());
  if (const auto* failed = message ? std::get_if<Failed>(&*message) : nullptr) return tl::unexpected(error_of(*failed));
  auto* hello = message ? std::get_if<Hello>(&*message) : nullptr;
  if (hello == nullptr)
    return fail(Errc::protocol_violated, "begin a transfer", "the other end does not say what it wants");
  return std::move(*hello);
}

/// A listener's first act. Who says anything else is refused.
Result<Hello> hear_hello(TransferContext& transfer) {
  auto hello = read_hello(transfer.reader);
  if (!hello) return refuse(transfer, hello.error());
  transfer.tally.has_begun = true;
  return hello;
}

Wishes with(const Wishes& wishes, const Hello& hello) {
  Wishes both = wishes;
  both.keeps_owners |= hello.keeps_owners;
  both.rereads |= hello.rereads;
  return both;
}

/// "~" and "~/x" as a shell takes them; everything else is relative to the account's home, where ssh has brought us.
std::string in_account(const std::string& path) {
  if (path == "~" || path.empty()) return ".";
  return path.starts_with("~/") ? "./" + path.substr(2) : path;
}

}  // namespace

Status send_as_connector(Wire& wire, const Selection& selection, const std::string& place, const Wishes& wishes,
                         Tally& tally) {
  TransferContext transfer(wire, tally);
  std::vector<std::string> words = selection.paths;
  words.push_back(selection.list.value_or(""));
  words.push_back(place);
  transfer.hello = Hello{.role = Role::sends,
                         .keeps_owners = wishes.keeps_owners,
                         .wants_totals = false,
                         .rereads = wishes.rereads,
                         .job = job_of(words),
                         .place = place,
                         .paths = {}};
  return send(transfer, source_of(selection), wishes);
}

Status receive_as_connector(Wire& wire, const std::vector<std::string>& paths, const std::string& directory,
                            const Wishes& wishes, const OtherEnd& other, Tally& tally) {
  TransferContext transfer(wire, tally, other);
  transfer.hello = Hello{.role = Role::receives,
                         .keeps_owners = wishes.keeps_owners,
                         .wants_totals = wishes.wants_totals,
                         .rereads = false,
                         .job = job_of(paths),
                         .place = {},
                         .paths = paths};
  return receive(transfer, directory, files::to_hex(transfer.hello->job), wishes);
}

Status receive_as_listener(Wire& wire, const std::string& directory, const Wishes& wishes, const OtherEnd& other,
                           TransferClaims& claims, Tally& tally) {
  TransferContext transfer(wire, tally, other);
  UDTCAT_TRY(const Hello hello, hear_hello(transfer));
  if (hello.role != Role::sends)
    return refuse(transfer,
                  {Errc::stream_refused, "receive files",
                   "the listener receives, too: udtcat send PATH HOST PORT sends to it, and udtcat send --serve "
                   "in its place would send"});
  if (!hello.place.empty())
    return refuse(transfer, {Errc::stream_refused, "receive into " + core::printable(hello.place, kMaxReasonBytes),
                             "the listener has a directory of its own"});
  const files::ShortDigest job = job_of_peer(hello, other);
  TransferClaims::Claimant claimant = other.claimant;
  if (!claimant.end) claimant.end = [&wire](const Error& /*nobody to tell*/) { wire.cut(); };
  const auto claim = claims.claim(files::to_hex(job), files::to_hex(job_at_host(job, claimant.host)), claimant);
  const Status received = receive(transfer, directory, claim.name(), with(wishes, hello));
  if (auto replaced = claim.replaced(); !received && replaced) return tl::unexpected(std::move(*replaced));
  return received;
}

Status send_as_listener(Wire& wire, const std::string& directory, Tally& tally) {
  TransferContext transfer(wire, tally);
  UDTCAT_TRY(const Hello hello, hear_hello(transfer));
  if (hello.role != Role::receives)
    return refuse(transfer,
                  {Errc::stream_refused, "send files",
                   "the listener sends, too: udtcat receive HOST PORT takes from it, and udtcat receive -l in "
                   "its place would receive"});
  const auto tree = files::FileTree::open(directory);
  auto source = tree ? Source::of_tree(*tree, hello.paths) : tl::unexpected(tree.error());
  return send(transfer, std::move(source), {.wants_totals = hello.wants_totals});
}

Status serve_account(Wire& wire, const Wishes& wishes, const OtherEnd& other, Tally& tally) {
  TransferContext transfer(wire, tally, other);
  UDTCAT_TRY(Hello hello, hear_hello(transfer));
  if (hello.role == Role::sends)
    return receive(transfer, in_account(hello.place), files::to_hex(hello.job), with(wishes, hello));
  for (std::string& path : hello.paths) path = in_account(path);
  if (hello.paths.empty()) hello.paths.emplace_back(".");
  return send(transfer, Source::of_arguments(hello.paths), {.wants_totals = hello.wants_totals});
}

}  // namespace udtcat::trees
