// SPDX-License-Identifier: Apache-2.0
#include "trees/work.hpp"

#include <filesystem>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "files/accounts.hpp"
#include "files/sha256.hpp"
#include "lib/core/printable.hpp"
#include "lib/core/try.hpp"
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
  std::string text =
      fmt::format("{:016x}{}\n{}\n", files::this_machine(), system.nodename, ::getuid()) + current_directory();
  for (const std::string& word : words) text += '\0' + word;
  return files::short_digest_of({std::as_bytes(std::span(text))});
}

/// Where ends have key pairs one's transfer is no other's, whatever it calls it.
files::ShortDigest job_of_peer(const Hello& hello, const OtherEnd& other) {
  return files::short_digest_of({std::as_bytes(std::span(other.key)), hello.job});
}

/// The peer is told that what it asks for is not to be had here.
Status tell_refusal(Wire& wire, MessageReader& reader, Status refused) {
  MessageWriter writer(wire);
  wire.cut_unless_ended();
  tell_failure(refused.error(), writer);
  wire.finish();
  reader.drain();
  return refused;
}

/// One end's side of the talk.
struct Talk {
  Wire& wire;
  MessageReader& reader;
  Tally& tally;
  OtherEnd other{};
  std::optional<Hello> hello{};  // of a connector
};

Status send(const Talk& talk, Source source, const std::optional<std::string>& manifest_path, bool counts) {
  std::optional<ManifestLog> manifest;
  if (manifest_path) {
    auto created = ManifestLog::create(*manifest_path);
    if (!created) return tell_refusal(talk.wire, talk.reader, tl::unexpected(created.error()));
    manifest = std::move(*created);
  }
  Sender sender(source, talk.wire, manifest ? &*manifest : nullptr, talk.tally);
  if (counts) sender.count();
  UDTCAT_CHECK(sender.run(talk.reader, talk.hello));
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
Result<std::unique_ptr<Receiver>> receiver_for(const Talk& talk, const std::string& directory, const std::string& job,
                                               const Wishes& wishes, std::optional<ManifestLog>& manifest) {
  UDTCAT_TRY(auto tree, files::FileTree::make(directory));
  if (wishes.manifest) {
    UDTCAT_TRY(manifest, ManifestLog::create(*wishes.manifest));
  }
  ReceiverOptions options{.tree = tree,
                          .job = job,
                          .held = wishes.waits ? files::Parts::Held::wait : files::Parts::Held::refuse,
                          .keeps_owners = wishes.keeps_owners,
                          .peer = talk.other.key,
                          .is_sealed = talk.other.is_sealed,
                          .limit_bytes = wishes.limit_bytes,
                          .asked = talk.hello ? asked_by(*talk.hello) : std::nullopt,
                          .book = wishes.books ? book_of(tree, *wishes.books) : std::nullopt};
  return Receiver::make(std::move(options), talk.wire, manifest ? &*manifest : nullptr, talk.tally);
}

Status receive(const Talk& talk, const std::string& directory, const std::string& job, const Wishes& wishes) {
  std::optional<ManifestLog> manifest;
  const auto receiver = receiver_for(talk, directory, job, wishes, manifest);
  if (!receiver) return tell_refusal(talk.wire, talk.reader, tl::unexpected(receiver.error()));
  UDTCAT_CHECK((*receiver)->run(talk.reader, talk.hello));
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

Wishes with(const Wishes& wishes, const Hello& hello) {
  Wishes both = wishes;
  both.keeps_owners |= hello.keeps_owners;
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
  MessageReader reader(wire);
  auto source = source_of(selection);
  if (!source) return tell_refusal(wire, reader, tl::unexpected(source.error()));
  std::vector<std::string> words = selection.paths;
  words.push_back(selection.list.value_or(""));
  words.push_back(place);
  const Hello hello{.role = Role::sends,
                    .keeps_owners = wishes.keeps_owners,
                    .wants_totals = false,
                    .job = job_of(words),
                    .place = place,
                    .paths = {}};
  return send({wire, reader, tally, {}, hello}, std::move(*source), wishes.manifest, wishes.wants_totals);
}

Status receive_as_connector(Wire& wire, const std::vector<std::string>& paths, const std::string& directory,
                            const Wishes& wishes, const OtherEnd& other, Tally& tally) {
  const Hello hello{.role = Role::receives,
                    .keeps_owners = wishes.keeps_owners,
                    .wants_totals = wishes.wants_totals,
                    .job = job_of(paths),
                    .place = {},
                    .paths = paths};
  MessageReader reader(wire);
  return receive({wire, reader, tally, other, hello}, directory, files::to_hex(hello.job), wishes);
}

Status receive_as_listener(Wire& wire, const std::string& directory, const Wishes& wishes, const OtherEnd& other,
                           Transfers& transfers, Tally& tally) {
  MessageReader reader(wire);
  const auto heard = read_hello(reader);
  if (!heard) return tell_refusal(wire, reader, tl::unexpected(heard.error()));
  const Hello& hello = *heard;
  if (hello.role != Role::sends)
    return tell_refusal(wire, reader,
                        fail(Errc::stream_refused, "send files", "this end receives; udtcat send --serve sends"));
  if (!hello.place.empty())
    return tell_refusal(wire, reader,
                        fail(Errc::stream_refused, "receive into " + core::printable(hello.place, kMaxReasonBytes),
                             "this end has a directory of its own"));
  const std::string job = files::to_hex(job_of_peer(hello, other));
  const auto claim = transfers.claim(job, wire);
  const Status received = receive({wire, reader, tally, other}, directory, job, with(wishes, hello));
  if (!received && claim.is_taken_over())
    return fail(Errc::peer_interrupted, "go on with a transfer", "it has begun again over another connection");
  return received;
}

Status send_as_listener(Wire& wire, const std::string& directory, Tally& tally) {
  MessageReader reader(wire);
  const auto heard = read_hello(reader);
  if (!heard) return tell_refusal(wire, reader, tl::unexpected(heard.error()));
  const Hello& hello = *heard;
  if (hello.role != Role::receives)
    return tell_refusal(wire, reader,
                        fail(Errc::stream_refused, "receive files", "this end sends; udtcat receive -l receives"));
  auto tree = files::FileTree::open(directory);
  auto source = tree ? Source::of_tree(*tree, hello.paths) : tl::unexpected(tree.error());
  if (!source) return tell_refusal(wire, reader, tl::unexpected(source.error()));
  return send({wire, reader, tally}, std::move(*source), std::nullopt, hello.wants_totals);
}

Status serve_account(Wire& wire, const Wishes& wishes, Tally& tally) {
  MessageReader reader(wire);
  auto heard = read_hello(reader);
  if (!heard) return tell_refusal(wire, reader, tl::unexpected(heard.error()));
  Hello& hello = *heard;
  if (hello.role == Role::sends)
    return receive({wire, reader, tally}, in_account(hello.place), files::to_hex(hello.job), with(wishes, hello));
  for (std::string& path : hello.paths) path = in_account(path);
  if (hello.paths.empty()) hello.paths.emplace_back(".");
  auto source = Source::of_arguments(hello.paths);
  if (!source) return tell_refusal(wire, reader, tl::unexpected(source.error()));
  return send({wire, reader, tally}, std::move(*source), std::nullopt, hello.wants_totals);
}

}  // namespace udtcat::trees
