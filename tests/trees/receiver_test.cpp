// SPDX-License-Identifier: Apache-2.0
#include "trees/receiver.hpp"

#include <filesystem>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "trees/receivers.hpp"

namespace udtcat::trees {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(Receivers, MakeWhatIsAnnounced) {
  begin();
  announce(directory_at("."));
  announce(directory_at("d"));
  announce(symbolic_link_at("d/link", "../nowhere"));
  announce(entry_at(EntryKind::fifo, "d/pipe"));
  for (EntryId id = 0; id < next_id; ++id) EXPECT_EQ(peer().hear<UpToDate>().entry, id);
  give_file("d/f");
  give_file("empty", {});
  expect_done();
  EXPECT_EQ(folder.read("in/d/f"), kContent);
  EXPECT_EQ(std::filesystem::file_size(folder / "in/empty"), 0U);
  EXPECT_EQ(std::filesystem::read_symlink(folder / "in/d/link"), "../nowhere");
  EXPECT_TRUE(S_ISFIFO(status_of("d/pipe").st_mode));
  EXPECT_EQ(status_of("d").st_mode & 07777U, 0755U);
  for (const char* path : {".", "d", "d/link", "d/f"}) EXPECT_EQ(status_of(path).st_mtim.tv_sec, 1'000'000'000) << path;
  EXPECT_EQ(status_of("d/f").st_mode & 07777U, 0644U);
  EXPECT_FALSE(std::filesystem::exists(folder / "in/.udtcat-parts"));
  EXPECT_EQ(end->counters.entries, 6U);
  EXPECT_EQ(end->counters.files, 2U);
  EXPECT_EQ(end->counters.bytes, kContent.size());
  EXPECT_THAT(end->lines(), IsEmpty());
}

TEST_F(Receivers, RefuseAPathThatLeadsOutside) {
  for (const char* path : {".udtcat-parts", ".udtcat-parts/x", "..", "../outside/x", "a/../../outside/x", "/tmp/x", "",
                           "a//b", "a/./b", "a/"}) {
    next_id = 0;
    begin();
    announce(symbolic_link_at(path, "x"));
    expect_violation("a path that no entry may have");
    EXPECT_THAT(names_in(outside), IsEmpty()) << path;
  }
}

TEST_F(Receivers, RefuseAnEntryThatWasNotAskedFor) {
  begin([](ReceiverOptions& options) { options.asked = {"d"}; });
  announce(directory_at("d"));
  announce(directory_at("d/below"));
  for (EntryId id = 0; id < 2; ++id) EXPECT_EQ(peer().hear<UpToDate>().entry, id);
  announce(symbolic_link_at("dd", "x"));
  expect_violation("it was not asked for", {"d"});
}

TEST_F(Receivers, FollowNoSymbolicLinkThatWasPutInTheWay) {
  begin();
  announce(directory_at("d"));
  std::ignore = peer().hear<UpToDate>();
  const EntryId sent = begin_file("d/sent");
  std::filesystem::rename(folder / "in/d", folder / "in/old");
  std::filesystem::create_directory_symlink(outside, folder / "in/d");
  const EntryId link = announce(symbolic_link_at("e", "x"));
  EXPECT_EQ(peer().hear<UpToDate>().entry, link);
  const EntryId late = announce(file_at("d/late", 5));
  EXPECT_EQ(peer().hear<Refused>().entry, late);
  send_contents(sent);
  peer().say(End{next_id});
  EXPECT_EQ(peer().hear<Refused>().entry, sent);
  EXPECT_EQ(peer().hear<Refused>().entry, 0U) << "the directory is not there any more";
  EXPECT_EQ(peer().hear<Done>().entries, next_id);
  EXPECT_TRUE(end->over());
  EXPECT_THAT(names_in(outside), IsEmpty());
  EXPECT_EQ(end->counters.errors, 3U);
}

TEST_F(Receivers, ReplaceASymbolicLinkAndNotItsTarget) {
  folder.write("outside/target", bytes_of("untouched"));
  std::filesystem::create_symlink(outside + "/target", folder / "in/f");
  begin();
  give_file("f");
  expect_done();
  EXPECT_TRUE(S_ISREG(status_of("f").st_mode));
  EXPECT_EQ(folder.read("outside/target"), bytes_of("untouched"));
}

TEST_F(Receivers, RefuseAChunkWithAWrongHash) {
  begin();
  const EntryId id = begin_file();
  Data wrong = chunk_of(id, kContent, 0);
  wrong.digest[0] ^= std::byte{1};
  peer().say(wrong);
  expect_violation("one is not what its hash says");
}

TEST_F(Receivers, TrustASealedChunkButNoWrongFileHash) {
  begin([](ReceiverOptions& options) { options.is_sealed = true; });
  const EntryId id = begin_file();
  Data other = chunk_of(id, kContent, 0);
  other.digest[0] ^= std::byte{1};
  peer().gather(other);
  for (std::uint64_t chunk = 1; chunk < kChunks; ++chunk) peer().gather(chunk_of(id, kContent, chunk));
  peer().say(FileDone{id, root_of(kContent), {}});
  expect_violation("together they are not what their hash says");
}

TEST_F(Receivers, RefuseAWrongFileHash) {
  begin();
  const EntryId id = begin_file("small", 5);
  peer().say(chunk_of(id, bytes_of("12345"), 0));
  peer().say(FileDone{id, root_of(bytes_of("1234")), {}});
  expect_violation("together they are not what their hash says");
}

TEST_F(Receivers, RefuseChunksOutOfOrder) {
  const Bytes longer = test::random_bytes(4 * kChunkBytes);
  const std::vector<std::vector<Message>> wrong{
      {chunk_of(0, kContent, 1)},
      {chunk_of(0, kContent, 0), chunk_of(0, kContent, 0)},
      {chunk_of(0, kContent, 0), chunk_of(0, kContent, 2)},
      {Zeros{0, 0, kChunks + 1}},
      {Zeros{0, 1, 1}},
      {Zeros{0, 0, kChunks}, Zeros{0, kChunks, 1}},
      {Zeros{0, 0, kChunks}, chunk_of(0, longer, 3)},
      {CopyChunks{0, 1, 1}},
  };
  for (const auto& messages : wrong) {
    next_id = 0;
    end.reset();
    std::filesystem::remove_all(folder / "in/.udtcat-parts");
    begin();
    begin_file();
    for (const Message& each : messages) peer().say(each);
    expect_violation("they are not the next ones");
  }
}

TEST_F(Receivers, RefuseAFileWithMissingChunks) {
  begin();
  const EntryId id = begin_file();
  peer().gather(chunk_of(id, kContent, 0));
  peer().say(FileDone{id, root_of(std::span(kContent).first(kChunkBytes)), {}});
  expect_violation("some are missing");
}

TEST_F(Receivers, RefuseBytesBehindTheEndOfAFile) {
  begin();
  const EntryId id = begin_file("f", 4);
  peer().say(chunk_of(id, bytes_of("12345"), 0));
  expect_violation("the file ends within them");
}

TEST_F(Receivers, RefuseToCopyChunksThatTheyHaveNotReported) {
  begin();
  const EntryId id = begin_file();
  peer().say(CopyChunks{id, 0, 1});
  expect_violation("the receiver has not reported those");
}

TEST_F(Receivers, RefuseTwoFilesAtATime) {
  begin();
  const EntryId first = begin_file("first");
  const EntryId second = begin_file("second");
  peer().say(chunk_of(first, kContent, 0));
  peer().say(chunk_of(second, kContent, 0));
  expect_violation("it sends two files at a time");
}

TEST_F(Receivers, RefuseContentsThatTheyDidNotAskFor) {
  const auto begin_directory = [&] {
    next_id = 0;
    begin();
    announce(directory_at("d"));
    std::ignore = peer().hear<UpToDate>();
  };
  for (const Message& unasked :
       {Message(chunk_of(0, kContent, 0)), Message(Zeros{7, 0, 1}), Message(CopyChunks{1, 0, 1}),
        Message(FileDone{0, {}, {}}), Message(Dropped{0, "gone"})}) {
    begin_directory();
    peer().say(unasked);
    expect_violation("it sends a file that nobody asked for", {"d"});
  }
  next_id = 0;
  begin();
  send_contents(begin_file("f", 0), {});
  peer().say(FileDone{0, root_of({}), {}});
  expect_violation("it sends a file that nobody asked for", {"d"});
}

/// Proves: trees.entries-ahead, threat-model.waiting-entries
TEST_F(Receivers, LimitTheEntriesAhead) {
  begin();
  for (std::size_t i = 0; i <= 32'768; ++i) peer().gather(file_at("f" + std::to_string(i), 1));
  peer().say(End{});
  expect_violation("it sends too many ahead");
}

/// Proves: trees.entries-ahead, threat-model.waiting-entries
TEST_F(Receivers, LimitTheBytesOfEntriesAhead) {
  begin();
  Entry large = file_at("f", 1);
  for (int i = 0; i < 16; ++i)
    large.attributes.extended.push_back({"user." + std::to_string(i), std::string(65'536, 'v')});
  for (int i = 0; i < 16; ++i) {
    large.path = "f" + std::to_string(i);
    peer().say(large);
  }
  expect_violation("it sends too many ahead");
}

TEST_F(Receivers, RefuseAnEndBeforeAllIsAcknowledged) {
  begin();
  begin_file();
  peer().say(End{1});
  expect_violation("it ends before all is acknowledged");
  for (const std::uint64_t entries : {0U, 2U}) {
    next_id = 0;
    begin();
    announce(directory_at("d"));
    peer().say(End{entries});
    expect_violation("it ends before all is acknowledged", {"d"});
  }
}

TEST_F(Receivers, RefuseALinkToAnythingButALinkableFile) {
  for (const EntryId of : {0U, 1U, 2U, 3U, 99U}) {
    next_id = 0;
    begin();
    announce(directory_at("d"));
    announce(file_at("f", 0));
    announce(hard_link_at("link", of));
    announce(linkable_at("later", 0));
    expect_violation("it leads to no file that can have links", {"d"});
  }
}

TEST_F(Receivers, LinkToNoDroppedFile) {
  begin();
  const EntryId file = announce(linkable_at("f", kContent.size()));
  std::ignore = peer().hear<Want>();
  const EntryId link = announce(hard_link_at("link", file));
  EXPECT_EQ(peer().hear<UpToDate>().entry, link);
  peer().gather(chunk_of(file, kContent, 0));
  peer().say(Dropped{file, "read f: it has changed"});
  peer().say(End{next_id});
  const auto refused = peer().hear<Refused>();
  EXPECT_EQ(refused.entry, link);
  EXPECT_THAT(refused.reason, HasSubstr("is missing"));
  EXPECT_EQ(peer().hear<Done>().entries, next_id);
  EXPECT_TRUE(end->over());
  EXPECT_THAT(names_in(in), IsEmpty());
  EXPECT_THAT(end->lines(), ElementsAre("the other end: read f: it has changed", HasSubstr("is missing")));
}

TEST_F(Receivers, ForgetThatAFileWasDroppedOnceItComesAgain) {
  begin();
  const EntryId first = begin_file();
  peer().say(Dropped{first, "read f: it has changed"});
  const EntryId again = announce(file_at("f", 0));
  std::ignore = peer().hear<Want>();
  peer().say(FileDone{again, root_of({}), {}});
  peer().say(End{next_id});
  EXPECT_EQ(peer().hear<Done>().entries, next_id);
  EXPECT_TRUE(end->over());
  EXPECT_THAT(end->lines(), IsEmpty());
  EXPECT_EQ(end->counters.errors, 0U);
}

TEST_F(Receivers, FailWhereTheStreamEndsTooSoon) {
  begin();
  const EntryId id = begin_file();
  Bytes message;
  encode(chunk_of(id, kContent, 0), message);
  peer().say_bytes(std::span(message).first(message.size() / 2));
  peer().end();
  expect_violation("the stream ends within one");
  for (const std::size_t bytes : {0U, 2U}) {
    next_id = 0;
    begin();
    peer().say_bytes(std::span(message).first(bytes));
    peer().end();
    expect_violation(bytes == 0 ? "it has ended before its last word" : "the stream ends within one");
  }
}

TEST_F(Receivers, RefuseMessagesOfAReceiverAndASecondHello) {
  for (const Message& word : {Message(Hello{}), Message(Want{0}), Message(UpToDate{0, std::nullopt}), Message(Done{0}),
                              Message(Refused{0, ""}), Message(Hashes{0, true, 0, {}})}) {
    begin();
    peer().say(word);
    expect_violation("");
  }
}

TEST_F(Receivers, FailWithTheSendersReason) {
  begin();
  begin_file();
  peer().say(Failed{Errc::interrupted, "SIGINT"});
  const Status over = end->over();
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().code, Errc::peer_interrupted);
  EXPECT_FALSE(end->failed) << "it knows already";
}

TEST_F(Receivers, LimitTheNamesThatTheyWrite) {
  begin([](ReceiverOptions& options) { options.limit_bytes = 3 * WriteBudget::kNameBytes; });
  for (int i = 0; i < 4; ++i) announce(directory_at("d" + std::to_string(i)));
  const Status over = end->over();
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().code, Errc::stream_refused);
  EXPECT_EQ(end->failed.value().cause, Errc::stream_refused);
  EXPECT_THAT(names_in(in), ElementsAre("d0", "d1", "d2"));
}

TEST_F(Receivers, LimitTheDataThatTheyWrite) {
  begin([](ReceiverOptions& options) { options.limit_bytes = kChunkBytes + 2 * WriteBudget::kNameBytes; });
  send_contents(begin_file());
  const Status over = end->over();
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().code, Errc::stream_refused);
  EXPECT_THAT(over.error().message(), HasSubstr("--limit"));
  EXPECT_THAT(names_in(in), IsEmpty());
}

TEST_F(Receivers, WriteNoMoreThanTheirDirectoryMayHold) {
  constexpr std::uint64_t kName = files::kNameBytes;
  files::DirectoryUses uses;
  const auto begin_with = [&](std::uint64_t bytes) {
    begin([&, bytes](ReceiverOptions& options) {
      auto use = uses.of(options.tree).value();
      options.directory_limit = files::DirectoryLimit{.use = std::move(use), .bytes = bytes, .peer = "alice"};
      ASSERT_TRUE(options.directory_limit->await_count());
    });
  };
  begin_with(kName + kContent.size() - 1);
  send_contents(begin_file());
  const Status over = end->over();
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().code, Errc::stream_refused);
  EXPECT_THAT(over.error().message(), HasSubstr("alice may have"));
  EXPECT_THAT(names_in(in), IsEmpty()) << "no part either";
  next_id = 0;
  begin_with(kName + kContent.size());
  give_file("f");
  expect_done();
}

TEST_F(Receivers, CountWhatTheyReplaceUntilNobodyReadsIt) {
  constexpr std::uint64_t kName = files::kNameBytes;
  folder.write("in/f", Bytes(100'000));
  files::DirectoryUses uses;
  files::DirectoryLimit alice{.use = uses.of(files::FileTree::open(in).value()).value(),
                              .bytes = 10 * kName + 100'000 + kContent.size(),
                              .peer = "alice"};
  ASSERT_TRUE(alice.await_count());
  const auto file = files::FileLocation(in + "/f").open(O_RDONLY, Errc::local_read_failed).value();
  auto opened = alice.use->open(file);
  begin([&](ReceiverOptions& options) { options.directory_limit = alice; });
  give_file("f");
  expect_done();
  EXPECT_FALSE(alice.reserve(10 * kName, "write g")) << "both are there";
  opened.close();
  EXPECT_TRUE(alice.reserve(90'000, "write g"));
}

TEST_F(Receivers, RefuseAFileWhereADirectoryIsAndGoOn) {
  std::filesystem::create_directories(folder / "in/f/below");
  begin();
  announce(file_at("f", 1));
  EXPECT_THAT(peer().hear<Refused>().reason, HasSubstr("there is a directory"));
  announce(symbolic_link_at("f", "x"));
  EXPECT_EQ(peer().hear<Refused>().entry, 1U);
  give_file("g");
  expect_done();
  EXPECT_EQ(folder.read("in/g"), kContent);
  EXPECT_TRUE(folder.has("in/f/below"));
}

TEST_F(Receivers, RefuseAFileWhoseNameHasBecomeADirectory) {
  begin();
  const EntryId id = begin_file("f");
  announce(directory_at("f"));
  EXPECT_EQ(peer().hear<UpToDate>().entry, 1U);
  send_contents(id);
  peer().say(End{next_id});
  EXPECT_EQ(peer().hear<Refused>().entry, id);
  EXPECT_EQ(peer().hear<Done>().entries, next_id);
  EXPECT_TRUE(end->over());
  EXPECT_TRUE(S_ISDIR(status_of("f").st_mode));
}

TEST_F(Receivers, LinkToNothingThatReplacedAFile) {
  folder.write("outside/target", bytes_of("untouched"));
  begin();
  const EntryId file = announce(linkable_at("f", 0));
  std::ignore = peer().hear<Want>();
  peer().say(Dropped{file, "gone"});
  announce(symbolic_link_at("f", outside + "/target"));
  std::ignore = peer().hear<UpToDate>();
  const EntryId link = announce(hard_link_at("link", file));
  std::ignore = peer().hear<UpToDate>();
  peer().say(End{next_id});
  EXPECT_EQ(peer().hear<Refused>().entry, link);
  std::ignore = peer().hear<Done>();
  EXPECT_TRUE(end->over());
  EXPECT_EQ(std::filesystem::hard_link_count(outside + "/target"), 1U);
}

TEST_F(Receivers, NoteTotalsAndNamesThatWereMissed) {
  begin();
  peer().say(Totals{12, 3'000});
  peer().say(Missed{"look at x: permission denied"});
  expect_done();
  EXPECT_EQ(end->counters.all_entries, 12U);
  EXPECT_EQ(end->counters.all_bytes, 3'000U);
  EXPECT_THAT(end->lines(), ElementsAre("the other end: look at x: permission denied"));
}

TEST_F(Receivers, KeepPartsOfATransferThatWasCut) {
  begin();
  const EntryId id = begin_file();
  peer().say(chunk_of(id, kContent, 0));
  peer().say(chunk_of(id, kContent, 1));
  peer().end();
  expect_violation("it has ended before its last word");
  next_id = 0;
  begin();
  announce(file_at("f", kContent.size()));
  const auto hashes = peer().hear<Hashes>();
  EXPECT_TRUE(hashes.last);
  EXPECT_THAT(hashes.digests, ElementsAre(chunk_of(0, kContent, 0).digest, chunk_of(0, kContent, 1).digest));
  peer().say(CopyChunks{0, 0, 2});
  peer().say(chunk_of(0, kContent, 2));
  peer().say(FileDone{0, root_of(kContent), {}});
  expect_done();
  EXPECT_EQ(folder.read("in/f"), kContent);
}

TEST_F(Receivers, RefuseToCopyMoreChunksThanTheyHave) {
  begin();
  peer().say(chunk_of(begin_file(), kContent, 0));
  peer().end();
  expect_violation("");
  next_id = 0;
  begin();
  announce(file_at("f", kContent.size()));
  EXPECT_EQ(peer().hear<Hashes>().digests.size(), 1U);
  peer().say(CopyChunks{0, 0, 2});
  expect_violation("the receiver has not reported those");
}

}  // namespace
}  // namespace udtcat::trees
