// SPDX-License-Identifier: Apache-2.0
#include "trees/sender.hpp"

#include <array>
#include <filesystem>
#include <fstream>
#include <functional>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/deadline.hpp"
#include "trees/ends.hpp"

namespace udtcat::trees {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

files::Digest digest_of_chunk(std::uint64_t chunk) { return chunk_of(0, kContent, chunk).digest; }

class Senders : public testing::Test {
 protected:
  /// Sends a directory with a file in it, as entries 0 and 1, 2 and 3.
  void begin(const std::vector<std::string>& files = {"f"}, bool counts = false) {
    end.reset();
    for (const std::string& name : files) folder.write("from/" + name, kContent);
    end.emplace(Source::of_tree(files::FileTree::open(from).value(), {}).value(), counts);
  }
  Peer& peer() { return end->peer; }
  /// The directory is had; the first file was announced.
  EntryId begin_file() {
    begin();
    EXPECT_EQ(peer().hear<Entry>().path, ".");
    const auto entry = peer().hear<Entry>();
    EXPECT_EQ(entry.path, "f");
    EXPECT_EQ(entry.size_bytes, kContent.size());
    peer().say(UpToDate{0, std::nullopt});
    return 1;
  }
  /// A directory and a file were announced; the receiver says what it likes to.
  void peer_says_after_entries(const std::vector<Message>& words) {
    begin();
    std::ignore = peer().hear<Entry>();
    std::ignore = peer().hear<Entry>();
    for (const Message& each : words) peer().say(each);
  }
  void hear_chunks(EntryId id, std::uint64_t begin_chunk = 0) {
    for (std::uint64_t chunk = begin_chunk; chunk < kChunks; ++chunk) {
      const auto data = peer().hear<Data>();
      EXPECT_EQ(data.entry, id);
      EXPECT_EQ(data.chunk, chunk);
      EXPECT_EQ(data.digest, digest_of_chunk(chunk));
    }
  }
  void hear_file_done(EntryId id) {
    const auto whole = peer().hear<FileDone>();
    EXPECT_EQ(whole.entry, id);
    EXPECT_EQ(whole.digest, root_of(kContent));
  }
  void expect_done(std::uint64_t entries) {
    EXPECT_EQ(peer().hear<End>().entries, entries);
    peer().say(Done{entries});
    const Status over = end->over();
    EXPECT_TRUE(over) << over.error().message();
    EXPECT_FALSE(end->failed);
  }
  void expect_violation(const std::string& cause = "it is none to what was announced") {
    const Status over = end->over();
    ASSERT_FALSE(over);
    EXPECT_EQ(over.error().code, Errc::protocol_violated);
    EXPECT_THAT(over.error().message(), HasSubstr(cause));
    ASSERT_TRUE(end->failed) << "the receiver hears of it";
    EXPECT_EQ(end->failed->cause, Errc::stream_refused);
  }
  /// A byte in each of so many chunks.
  static void write_chunks(const std::string& path, std::uint64_t chunks) {
    std::filesystem::resize_file(path, chunks * kChunkBytes);
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    for (std::uint64_t chunk = 0; chunk < chunks; ++chunk) {
      file.seekp(static_cast<std::streamoff>(chunk * kChunkBytes));
      file.put('x');
    }
  }
  [[nodiscard]] std::string made(const std::string& name) const {
    std::filesystem::create_directory(folder / name);
    return folder / name;
  }

  Folder folder;
  const std::string from = made("from");
  std::optional<SendingEnd> end;
};

TEST_F(Senders, SendTheContentsThatAreWanted) {
  const EntryId id = begin_file();
  peer().say(Want{id});
  hear_chunks(id);
  hear_file_done(id);
  expect_done(2);
  EXPECT_EQ(end->counters.entries, 2U);
  EXPECT_EQ(end->counters.files, 1U);
  EXPECT_EQ(end->counters.bytes, kContent.size());
  EXPECT_EQ(end->counters.moved_bytes, kContent.size());
}

TEST_F(Senders, SendNothingThatIsUpToDate) {
  const EntryId id = begin_file();
  peer().say(UpToDate{id, root_of(kContent)});
  expect_done(2);
  EXPECT_EQ(end->counters.moved_bytes, 0U);
  EXPECT_EQ(end->counters.bytes, kContent.size());
}

TEST_F(Senders, SendOnlyChunksThatDiffer) {
  const EntryId id = begin_file();
  files::Digest other{};
  peer().gather(Hashes{id, false, 0, {digest_of_chunk(0), other}});
  peer().say(Hashes{id, true, 0, {digest_of_chunk(2)}});
  EXPECT_EQ(peer().hear<CopyChunks>().count, 1U);
  EXPECT_EQ(peer().hear<Data>().chunk, 1U);
  const auto same = peer().hear<CopyChunks>();
  EXPECT_EQ(same.chunk, 2U);
  EXPECT_EQ(same.count, 1U);
  hear_file_done(id);
  expect_done(2);
  EXPECT_EQ(end->counters.moved_bytes, kChunkBytes);
}

TEST_F(Senders, SendTheRestWhereTheReceiverHasFewerChunks) {
  const EntryId id = begin_file();
  peer().say(Hashes{id, true, 1, {}});
  hear_chunks(id);
  hear_file_done(id);
  expect_done(2);
}

TEST_F(Senders, SkipHoles) {
  end.reset();
  folder.write("from/f", {});
  std::filesystem::resize_file(folder / "from/f", 5 * kChunkBytes + 100);
  begin({});
  std::ignore = peer().hear<Entry>();
  std::ignore = peer().hear<Entry>();
  peer().gather(UpToDate{0, std::nullopt});
  peer().say(Want{1});
  const auto zeros = peer().hear<Zeros>();
  EXPECT_EQ(zeros.chunk, 0U);
  EXPECT_EQ(zeros.count, 6U);
  EXPECT_EQ(peer().hear<FileDone>().digest, root_of(Bytes(5 * kChunkBytes + 100)));
  expect_done(2);
  EXPECT_EQ(end->counters.moved_bytes, 0U);
}

TEST_F(Senders, RefuseAHashOfADirectoryAndAFileWithoutOne) {
  peer_says_after_entries({UpToDate{1, std::nullopt}});
  expect_violation();
  peer_says_after_entries({UpToDate{0, files::Digest{}}});
  expect_violation();
}

TEST_F(Senders, RefuseToSendWhatTheyHaveNotAnnounced) {
  for (const EntryId id : {0U, 2U, 99U}) {
    peer_says_after_entries({Want{id}});
    expect_violation();
    peer_says_after_entries({Hashes{id, true, 0, {}}});
    expect_violation();
    if (id == 0) continue;
    peer_says_after_entries({UpToDate{id, std::nullopt}});
    expect_violation();
    peer_says_after_entries({Refused{id, "no"}});
    expect_violation();
  }
}

TEST_F(Senders, RefuseToSendAFileTwice) {
  peer_says_after_entries({UpToDate{1, root_of(kContent)}, UpToDate{1, root_of(kContent)}});
  expect_violation();
  peer_says_after_entries({Refused{1, "no"}, Want{1}});
  expect_violation();
  peer_says_after_entries({UpToDate{0, std::nullopt}, Want{1}, Want{1}});
  expect_violation();
}

TEST_F(Senders, RefuseOtherMessagesBetweenHashes) {
  for (const Message& between : {Message(UpToDate{0, std::nullopt}), Message(Hashes{0, true, 0, {}}),
                                 Message(Refused{0, "no"}), Message(Done{2})}) {
    peer_says_after_entries({Hashes{1, false, 0, {digest_of_chunk(0)}}, between});
    expect_violation("something else came between them");
  }
}

TEST_F(Senders, RefuseMoreHashesThanTheFileHasChunks) {
  const std::vector<Message> many{
      Hashes{1, true, 0, std::vector<files::Digest>(kChunks + 1)},
      Hashes{1, true, kChunks + 1, {}},
      Hashes{1, true, kChunks, {digest_of_chunk(0)}},
      Hashes{1, true, 1ULL << 43, {}},
  };
  for (const Message& each : many) {
    peer_says_after_entries({each});
    expect_violation("more chunks than the file has");
  }
  peer_says_after_entries({Hashes{1, false, kChunks, {}}, Hashes{1, false, 1, {}}});
  expect_violation("more chunks than the file has");
}

TEST_F(Senders, RefuseDoneBeforeAllIsAcknowledged) {
  peer_says_after_entries({Done{2}});
  expect_violation();
  peer_says_after_entries({UpToDate{0, std::nullopt}, UpToDate{1, root_of(kContent)}, Done{1}});
  expect_violation();
  peer_says_after_entries({UpToDate{0, std::nullopt}, UpToDate{1, root_of(kContent)}, Want{1}});
  expect_violation();
}

TEST_F(Senders, FailWithTheReceiversReason) {
  const std::vector<std::pair<Errc, Errc>> causes{{Errc::local_write_failed, Errc::remote_write_failed},
                                                  {Errc::local_read_failed, Errc::remote_read_failed},
                                                  {Errc::stream_refused, Errc::stream_refused},
                                                  {Errc::interrupted, Errc::peer_interrupted}};
  for (const auto& [told, heard] : causes) {
    peer_says_after_entries({Failed{told, "the disk is full"}});
    const Status over = end->over();
    ASSERT_FALSE(over);
    EXPECT_EQ(over.error().code, heard);
    EXPECT_THAT(over.error().message(), HasSubstr("the disk is full"));
    EXPECT_EQ(end->failed.has_value(), heard == Errc::stream_refused) << "it knows already";
  }
}

TEST_F(Senders, FailWhereTheReceiverEndsTooSoon) {
  peer_says_after_entries({UpToDate{0, std::nullopt}});
  peer().end();
  expect_violation("it has ended before its last");
  peer_says_after_entries({});
  peer().say_bytes(test::from_hex("21 000008 00000000"));
  peer().end();
  expect_violation("the stream ends within one");
}

TEST_F(Senders, RefuseMessagesOfASender) {
  for (const Message& word :
       {Message(Hello{}), Message(End{2}), Message(FileDone{1, {}, {}}), Message(Totals{}), Message(file_at("x", 1))}) {
    peer_says_after_entries({word});
    expect_violation();
  }
}

TEST_F(Senders, ReportRefusalsAlsoAtTheEnd) {
  peer_says_after_entries({Refused{1, "there is a directory"}, UpToDate{0, std::nullopt}});
  EXPECT_EQ(peer().hear<End>().entries, 2U);
  peer().say(Refused{0, "no time"});
  peer().say(Done{2});
  EXPECT_TRUE(end->over());
  EXPECT_THAT(end->lines(), ElementsAre("the other end: there is a directory", "the other end: no time"));
}

TEST_F(Senders, AnnounceAFileAgainThatHasChanged) {
  const EntryId first = begin_file();
  folder.write("from/f", bytes_of("short"));
  peer().say(Want{first});
  EXPECT_EQ(peer().hear<Dropped>().entry, first);
  const auto again = peer().hear<Entry>();
  EXPECT_EQ(again.path, "f");
  EXPECT_EQ(again.size_bytes, 5U);
  peer().say(Want{2});
  EXPECT_EQ(peer().hear<Data>().digest, root_of(bytes_of("short")));
  EXPECT_EQ(peer().hear<FileDone>().entry, 2U);
  expect_done(3);
  EXPECT_THAT(end->lines(), IsEmpty());
}

TEST_F(Senders, GiveUpAFileThatNeverRests) {
  EntryId id = begin_file();
  for (int attempt = 1;; ++attempt) {
    std::ofstream(folder / "from/f", std::ios::app) << "more";
    peer().say(Want{id});
    EXPECT_THAT(peer().hear<Dropped>().reason, HasSubstr("it has changed meanwhile"));
    if (attempt == 3) break;
    EXPECT_EQ(peer().hear<Entry>().size_bytes, kContent.size() + 4 * static_cast<std::size_t>(attempt));
    ++id;
  }
  expect_done(4);
  EXPECT_THAT(end->lines(), ElementsAre(HasSubstr("it has changed meanwhile")));
  EXPECT_EQ(end->counters.bytes, 0U) << "none of it stands";
}

TEST_F(Senders, ReportAFileThatVanishesWhileItIsRead) {
  const EntryId id = begin_file();
  peer().say(Hashes{id, false, 1, {}});  // of the first chunk: those of the others are waited for
  EXPECT_EQ(peer().hear<Data>().chunk, 0U);
  std::filesystem::remove(folder / "from/f");
  peer().say(Hashes{id, true, 0, {}});
  EXPECT_THAT(peer().hear_one<Dropped>().reason, HasSubstr("it has gone meanwhile"));
  expect_done(2);
  EXPECT_EQ(end->counters.bytes, 0U);
}

TEST_F(Senders, DropAFileThatHasGone) {
  const EntryId id = begin_file();
  std::filesystem::remove(folder / "from/f");
  peer().say(Hashes{id, true, 0, {digest_of_chunk(0)}});
  EXPECT_THAT(peer().hear<Dropped>().reason, HasSubstr("/f"));
  expect_done(2);
  EXPECT_EQ(end->counters.errors, 1U);
  EXPECT_EQ(end->counters.files, 0U);
}

/// The first chunk of `f` is told of, and those of the others are waited for.
class SendersInTheMiddle : public Senders {
 protected:
  void begin_chunks() {
    id = begin_file();
    peer().say(Hashes{id, false, 1, {}});
    EXPECT_EQ(peer().hear<Data>().chunk, 0U);
  }
  /// The rest is; then this comes.
  template <typename Kind>
  Kind hear_after_the_rest() {
    peer().say(Hashes{id, true, 0, {}});
    for (std::uint64_t chunk = 1; chunk < kChunks; ++chunk) EXPECT_EQ(peer().hear<Data>().chunk, chunk);
    return peer().hear<Kind>();
  }
  [[nodiscard]] std::string path() const { return folder / "from/f"; }
  void set_time_back() const {
    const std::array<timespec, 2> times{timespec{1, 0}, timespec{1, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, path().c_str(), times.data(), 0), 0);
  }
  EntryId id = 0;
};

TEST_F(SendersInTheMiddle, SendAFileThatIsGivenAnotherNameMeanwhile) {
  begin_chunks();
  std::filesystem::create_hard_link(path(), folder / "another name");
  std::filesystem::remove(folder / "another name");
  const auto whole = hear_after_the_rest<FileDone>();
  EXPECT_EQ(whole.digest, root_of(kContent));
  EXPECT_FALSE(whole.fingerprint) << "its state has changed";
  expect_done(2);
}

TEST_F(SendersInTheMiddle, AnnounceAgainAFileWhoseModeHasChanged) {
  begin_chunks();
  ASSERT_EQ(::chmod(path().c_str(), 0640), 0);
  std::ignore = hear_after_the_rest<Dropped>();
  EXPECT_EQ(peer().hear<Entry>().attributes.mode, 0640U);
  peer().say(UpToDate{2, root_of(kContent)});
  expect_done(3);
}

TEST_F(SendersInTheMiddle, DetectAChangeWhoseTimeIsSetBack) {
  folder.write("from/f", kContent);
  set_time_back();
  Bytes changed = kContent;
  changed[0] = ~changed[0];
  begin({});
  std::ignore = peer().hear<Entry>();
  std::ignore = peer().hear<Entry>();
  peer().say(UpToDate{0, std::nullopt});
  id = 1;
  peer().say(Hashes{id, false, 1, {}});
  EXPECT_EQ(peer().hear<Data>().chunk, 0U);
  std::fstream(path(), std::ios::in | std::ios::out | std::ios::binary).put(std::to_integer<char>(changed[0]));
  set_time_back();
  std::ignore = hear_after_the_rest<Dropped>();
  EXPECT_EQ(peer().hear<Entry>().attributes.changed.seconds, 1);
  peer().say(Want{2});
  EXPECT_EQ(peer().hear<Data>().digest, chunk_of(0, changed, 0).digest);
  for (std::uint64_t chunk = 1; chunk < kChunks; ++chunk) EXPECT_EQ(peer().hear<Data>().chunk, chunk);
  EXPECT_EQ(peer().hear<FileDone>().digest, root_of(changed));
  expect_done(3);
}

/// Whatever takes the name of a file that was announced: it is announced as that, or said to be missing.
TEST_F(Senders, ReportAFileThatHasBecomeSomethingElse) {
  const std::string path = folder / "from/f";
  const std::vector<std::pair<std::optional<EntryKind>, std::function<void()>>> changes{
      {EntryKind::fifo, [&] { ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0); }},
      {std::nullopt, [&] { std::filesystem::create_directories(path + "/below"); }},
      {std::nullopt, [&] { std::filesystem::create_symlink("elsewhere", path); }},
      {std::nullopt, [] {}},
  };
  for (const auto& [kind, change] : changes) {
    std::filesystem::remove_all(path);
    const EntryId id = begin_file();
    std::filesystem::remove(path);
    change();
    peer().say(Want{id});
    EXPECT_EQ(peer().hear<Dropped>().entry, id);
    if (kind) {
      EXPECT_EQ(peer().hear<Entry>().kind, *kind);
      peer().say(UpToDate{2, std::nullopt});
    }
    expect_done(kind ? 3 : 2);
    EXPECT_EQ(end->lines().size(), kind ? 0U : 1U);
  }
}

TEST_F(Senders, ReportAFileLongerThanItsSize) {
  end.reset();
  end.emplace(Source::of_arguments({"/proc/version"}).value());
  EXPECT_EQ(peer().hear<Entry>().size_bytes, 0U);
  peer().say(Want{0});
  EXPECT_THAT(peer().hear<Dropped>().reason, HasSubstr("it has more in it than its size tells"));
  expect_done(1);
  EXPECT_EQ(end->counters.errors, 1U);
}

TEST_F(Senders, FollowNoLinkThatHasTakenAFilesName) {
  folder.write("secret", kContent);
  const EntryId id = begin_file();
  std::filesystem::remove(folder / "from/f");
  std::filesystem::create_symlink(folder / "secret", folder / "from/f");
  peer().say(Want{id});
  EXPECT_EQ(peer().hear<Dropped>().entry, id);
  expect_done(2);
}

TEST_F(Senders, AnnounceFurtherNamesOfAFileAsHardLinks) {
  folder.write("from/a", kContent);
  ASSERT_EQ(::link((folder / "from/a").c_str(), (folder / "from/b").c_str()), 0);
  begin({});
  std::ignore = peer().hear<Entry>();
  const auto first = peer().hear<Entry>();
  EXPECT_TRUE(first.may_be_linked);
  EXPECT_EQ(first.kind, EntryKind::file);
  const auto second = peer().hear<Entry>();
  EXPECT_EQ(second.kind, EntryKind::hard_link);
  EXPECT_EQ(second.of, 1U);
  peer().gather(UpToDate{0, std::nullopt});
  peer().gather(UpToDate{2, std::nullopt});
  peer().say(UpToDate{1, root_of(kContent)});
  expect_done(3);
}

TEST_F(Senders, ReportNamesThatCannotBeRead) {
  std::filesystem::create_directory(folder / "from/.udtcat-parts");
  begin({});
  std::ignore = peer().hear<Entry>();
  EXPECT_THAT(peer().hear<Missed>().reason, HasSubstr("a transfer that was cut has left it"));
  peer().say(UpToDate{0, std::nullopt});
  expect_done(1);
  EXPECT_EQ(end->counters.errors, 1U);
}

TEST_F(Senders, SendTotalsForProgress) {
  begin({"a", "b"}, true);
  EXPECT_TRUE(test::eventually(test::kWatchdog, [&] { return end->counters.all_entries == 3; }));
  peer().gather(UpToDate{0, std::nullopt});
  peer().gather(UpToDate{1, root_of(kContent)});
  peer().say(UpToDate{2, root_of(kContent)});
  const auto totals = peer().hear_one<Totals>();
  EXPECT_EQ(totals.entries, 3U);
  EXPECT_EQ(totals.bytes, 2 * kContent.size());
  EXPECT_EQ(end->counters.all_bytes, totals.bytes);
  EXPECT_EQ(peer().hear_one<End>().entries, 3U);
  peer().say(Done{3});
  EXPECT_TRUE(end->over());
}

TEST_F(Senders, StopInTheMiddleOfAFileWhenTheReceiverHasFailed) {
  constexpr std::uint64_t kMany = 4'096;
  write_chunks(folder.write("from/large", {}), kMany);
  begin({});
  std::ignore = peer().hear<Entry>();
  std::ignore = peer().hear<Entry>();
  peer().say(Want{1});
  std::ignore = peer().hear<Data>();
  peer().say(Failed{Errc::local_write_failed, "no space"});
  EXPECT_LT(peer().count_out<Data>(), kMany / 2);
  const Status over = end->over();
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().code, Errc::remote_write_failed);
  EXPECT_THAT(over.error().message(), HasSubstr("no space"));
}

}  // namespace
}  // namespace udtcat::trees
