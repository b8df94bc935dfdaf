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

files::Digest digest_of_leaf(std::uint64_t leaf) { return leaf_of(0, kContent, leaf).digest; }

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
    peer().say(Have{0, std::nullopt});
    return 1;
  }
  /// A directory and a file were announced; the receiver says what it likes to.
  void peer_says_after_entries(const std::vector<Message>& words) {
    begin();
    std::ignore = peer().hear<Entry>();
    std::ignore = peer().hear<Entry>();
    for (const Message& each : words) peer().say(each);
  }
  void hear_leaves(EntryId id, std::uint64_t begin_leaf = 0) {
    for (std::uint64_t leaf = begin_leaf; leaf < kLeaves; ++leaf) {
      const auto data = peer().hear<Data>();
      EXPECT_EQ(data.entry, id);
      EXPECT_EQ(data.leaf, leaf);
      EXPECT_EQ(data.digest, digest_of_leaf(leaf));
    }
  }
  void hear_whole(EntryId id) {
    const auto whole = peer().hear<Whole>();
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
  /// A byte in each of so many leaves.
  static void write_leaves(const std::string& path, std::uint64_t leaves) {
    std::filesystem::resize_file(path, leaves * kLeafBytes);
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    for (std::uint64_t leaf = 0; leaf < leaves; ++leaf) {
      file.seekp(static_cast<std::streamoff>(leaf * kLeafBytes));
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

TEST_F(Senders, DescribeWhatIsWanted) {
  const EntryId id = begin_file();
  peer().say(Want{id});
  hear_leaves(id);
  hear_whole(id);
  expect_done(2);
  EXPECT_EQ(end->tally.entries, 2U);
  EXPECT_EQ(end->tally.files, 1U);
  EXPECT_EQ(end->tally.bytes, kContent.size());
  EXPECT_EQ(end->tally.moved_bytes, kContent.size());
}

TEST_F(Senders, DescribeNothingThatTheReceiverHas) {
  const EntryId id = begin_file();
  peer().say(Have{id, root_of(kContent)});
  expect_done(2);
  EXPECT_EQ(end->tally.moved_bytes, 0U);
  EXPECT_EQ(end->tally.bytes, kContent.size());
}

TEST_F(Senders, SendOnlyLeavesThatTheReceiverHasNot) {
  const EntryId id = begin_file();
  files::Digest other{};
  peer().gather(Hashes{id, false, 0, {digest_of_leaf(0), other}});
  peer().say(Hashes{id, true, 0, {digest_of_leaf(2)}});
  EXPECT_EQ(peer().hear<Same>().count, 1U);
  EXPECT_EQ(peer().hear<Data>().leaf, 1U);
  const auto same = peer().hear<Same>();
  EXPECT_EQ(same.leaf, 2U);
  EXPECT_EQ(same.count, 1U);
  hear_whole(id);
  expect_done(2);
  EXPECT_EQ(end->tally.moved_bytes, kLeafBytes);
}

TEST_F(Senders, SendAllWhereTheReceiverHasFewerLeaves) {
  const EntryId id = begin_file();
  peer().say(Hashes{id, true, 1, {}});
  hear_leaves(id);
  hear_whole(id);
  expect_done(2);
}

TEST_F(Senders, PassOverHoles) {
  end.reset();
  folder.write("from/f", {});
  std::filesystem::resize_file(folder / "from/f", 5 * kLeafBytes + 100);
  begin({});
  std::ignore = peer().hear<Entry>();
  std::ignore = peer().hear<Entry>();
  peer().gather(Have{0, std::nullopt});
  peer().say(Want{1});
  const auto zeros = peer().hear<Zeros>();
  EXPECT_EQ(zeros.leaf, 0U);
  EXPECT_EQ(zeros.count, 6U);
  EXPECT_EQ(peer().hear<Whole>().digest, root_of(Bytes(5 * kLeafBytes + 100)));
  expect_done(2);
  EXPECT_EQ(end->tally.moved_bytes, 0U);
}

TEST_F(Senders, TakeAHashForFilesAndForNothingElse) {
  peer_says_after_entries({Have{1, std::nullopt}});
  expect_violation();
  peer_says_after_entries({Have{0, files::Digest{}}});
  expect_violation();
}

TEST_F(Senders, AreAskedForFilesThatTheyHaveAnnouncedAlone) {
  for (const EntryId id : {0U, 2U, 99U}) {
    peer_says_after_entries({Want{id}});
    expect_violation();
    peer_says_after_entries({Hashes{id, true, 0, {}}});
    expect_violation();
    if (id == 0) continue;
    peer_says_after_entries({Have{id, std::nullopt}});
    expect_violation();
    peer_says_after_entries({Refused{id, "no"}});
    expect_violation();
  }
}

TEST_F(Senders, AreAskedForAFileOnce) {
  peer_says_after_entries({Have{1, root_of(kContent)}, Have{1, root_of(kContent)}});
  expect_violation();
  peer_says_after_entries({Refused{1, "no"}, Want{1}});
  expect_violation();
  peer_says_after_entries({Have{0, std::nullopt}, Want{1}, Want{1}});
  expect_violation();
}

TEST_F(Senders, HearTheHashesOfOneFileWithoutAnythingBetween) {
  for (const Message& between :
       {Message(Have{0, std::nullopt}), Message(Hashes{0, true, 0, {}}), Message(Refused{0, "no"}), Message(Done{2})}) {
    peer_says_after_entries({Hashes{1, false, 0, {digest_of_leaf(0)}}, between});
    expect_violation("something else came between them");
  }
}

TEST_F(Senders, HearOfNoMoreLeavesThanTheFileHas) {
  const std::vector<Message> many{
      Hashes{1, true, 0, std::vector<files::Digest>(kLeaves + 1)},
      Hashes{1, true, kLeaves + 1, {}},
      Hashes{1, true, kLeaves, {digest_of_leaf(0)}},
      Hashes{1, true, 1ULL << 43, {}},
  };
  for (const Message& each : many) {
    peer_says_after_entries({each});
    expect_violation("more leaves than the file has");
  }
  peer_says_after_entries({Hashes{1, false, kLeaves, {}}, Hashes{1, false, 1, {}}});
  expect_violation("more leaves than the file has");
}

TEST_F(Senders, AreDoneWhenAllIsSettled) {
  peer_says_after_entries({Done{2}});
  expect_violation();
  peer_says_after_entries({Have{0, std::nullopt}, Have{1, root_of(kContent)}, Done{1}});
  expect_violation();
  peer_says_after_entries({Have{0, std::nullopt}, Have{1, root_of(kContent)}, Want{1}});
  expect_violation();
}

TEST_F(Senders, FailAsTheReceiverSays) {
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
  peer_says_after_entries({Have{0, std::nullopt}});
  peer().end();
  expect_violation("it has ended before its last");
  peer_says_after_entries({});
  peer().say_bytes(test::from_hex("21 000008 00000000"));
  peer().end();
  expect_violation("the stream ends within one");
}

TEST_F(Senders, TakeNoWordsOfASender) {
  for (const Message& word :
       {Message(Hello{}), Message(End{2}), Message(Whole{1, {}, {}}), Message(Totals{}), Message(file_at("x", 1))}) {
    peer_says_after_entries({word});
    expect_violation();
  }
}

TEST_F(Senders, ComplainOfWhatIsRefusedAlsoAtTheEnd) {
  peer_says_after_entries({Refused{1, "there is a directory"}, Have{0, std::nullopt}});
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
  EXPECT_EQ(peer().hear<Whole>().entry, 2U);
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
  EXPECT_EQ(end->tally.bytes, 0U) << "none of it stands";
}

TEST_F(Senders, SayOfAFileThatGoesWhileItIsReadThatItHasGone) {
  const EntryId id = begin_file();
  peer().say(Hashes{id, false, 1, {}});  // of the first leaf: those of the others are waited for
  EXPECT_EQ(peer().hear<Data>().leaf, 0U);
  std::filesystem::remove(folder / "from/f");
  peer().say(Hashes{id, true, 0, {}});
  EXPECT_THAT(peer().hear_one<Dropped>().reason, HasSubstr("it has gone meanwhile"));
  expect_done(2);
  EXPECT_EQ(end->tally.bytes, 0U);
}

TEST_F(Senders, DropAFileThatHasGone) {
  const EntryId id = begin_file();
  std::filesystem::remove(folder / "from/f");
  peer().say(Hashes{id, true, 0, {digest_of_leaf(0)}});
  EXPECT_THAT(peer().hear<Dropped>().reason, HasSubstr("/f"));
  expect_done(2);
  EXPECT_EQ(end->tally.troubles, 1U);
  EXPECT_EQ(end->tally.files, 0U);
}

/// The first leaf of `f` is told of, and those of the others are waited for.
class SendersInTheMiddle : public Senders {
 protected:
  void begin_leaves() {
    id = begin_file();
    peer().say(Hashes{id, false, 1, {}});
    EXPECT_EQ(peer().hear<Data>().leaf, 0U);
  }
  /// The rest is; then this comes.
  template <typename Kind>
  Kind hear_after_the_rest() {
    peer().say(Hashes{id, true, 0, {}});
    for (std::uint64_t leaf = 1; leaf < kLeaves; ++leaf) EXPECT_EQ(peer().hear<Data>().leaf, leaf);
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
  begin_leaves();
  std::filesystem::create_hard_link(path(), folder / "another name");
  std::filesystem::remove(folder / "another name");
  const auto whole = hear_after_the_rest<Whole>();
  EXPECT_EQ(whole.digest, root_of(kContent));
  EXPECT_FALSE(whole.stamp) << "its state has changed";
  expect_done(2);
}

TEST_F(SendersInTheMiddle, AnnounceAgainAFileWhoseModeHasChanged) {
  begin_leaves();
  ASSERT_EQ(::chmod(path().c_str(), 0640), 0);
  std::ignore = hear_after_the_rest<Dropped>();
  EXPECT_EQ(peer().hear<Entry>().attributes.mode, 0640U);
  peer().say(Have{2, root_of(kContent)});
  expect_done(3);
}

TEST_F(SendersInTheMiddle, SeeAChangeWhoseTimeIsSetBack) {
  folder.write("from/f", kContent);
  set_time_back();
  Bytes changed = kContent;
  changed[0] = ~changed[0];
  begin({});
  std::ignore = peer().hear<Entry>();
  std::ignore = peer().hear<Entry>();
  peer().say(Have{0, std::nullopt});
  id = 1;
  peer().say(Hashes{id, false, 1, {}});
  EXPECT_EQ(peer().hear<Data>().leaf, 0U);
  std::fstream(path(), std::ios::in | std::ios::out | std::ios::binary).put(std::to_integer<char>(changed[0]));
  set_time_back();
  std::ignore = hear_after_the_rest<Dropped>();
  EXPECT_EQ(peer().hear<Entry>().attributes.changed.seconds, 1);
  peer().say(Want{2});
  EXPECT_EQ(peer().hear<Data>().digest, leaf_of(0, changed, 0).digest);
  for (std::uint64_t leaf = 1; leaf < kLeaves; ++leaf) EXPECT_EQ(peer().hear<Data>().leaf, leaf);
  EXPECT_EQ(peer().hear<Whole>().digest, root_of(changed));
  expect_done(3);
}

/// Whatever takes the name of a file that was announced: it is announced as that, or said to be missing.
TEST_F(Senders, SayWhatAFileHasBecome) {
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
      peer().say(Have{2, std::nullopt});
    }
    expect_done(kind ? 3 : 2);
    EXPECT_EQ(end->lines().size(), kind ? 0U : 1U);
  }
}

TEST_F(Senders, SendNothingThatHasMoreInItThanItsSizeTells) {
  end.reset();
  end.emplace(Source::of_arguments({"/proc/version"}).value());
  EXPECT_EQ(peer().hear<Entry>().size_bytes, 0U);
  peer().say(Want{0});
  EXPECT_THAT(peer().hear<Dropped>().reason, HasSubstr("it has more in it than its size tells"));
  expect_done(1);
  EXPECT_EQ(end->tally.troubles, 1U);
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

TEST_F(Senders, AnnounceFurtherNamesOfAFileAsLinks) {
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
  peer().gather(Have{0, std::nullopt});
  peer().gather(Have{2, std::nullopt});
  peer().say(Have{1, root_of(kContent)});
  expect_done(3);
}

TEST_F(Senders, SayWhatTheyMiss) {
  std::filesystem::create_directory(folder / "from/.udtcat-parts");
  begin({});
  std::ignore = peer().hear<Entry>();
  EXPECT_THAT(peer().hear<Missed>().reason, HasSubstr("a transfer that was cut has left it"));
  peer().say(Have{0, std::nullopt});
  expect_done(1);
  EXPECT_EQ(end->tally.troubles, 1U);
}

TEST_F(Senders, SayHowMuchThereIsWhereSomebodyWatches) {
  begin({"a", "b"}, true);
  EXPECT_TRUE(test::eventually(test::kWatchdog, [&] { return end->tally.all_entries == 3; }));
  peer().gather(Have{0, std::nullopt});
  peer().gather(Have{1, root_of(kContent)});
  peer().say(Have{2, root_of(kContent)});
  const auto totals = peer().hear_one<Totals>();
  EXPECT_EQ(totals.entries, 3U);
  EXPECT_EQ(totals.bytes, 2 * kContent.size());
  EXPECT_EQ(end->tally.all_bytes, totals.bytes);
  EXPECT_EQ(peer().hear_one<End>().entries, 3U);
  peer().say(Done{3});
  EXPECT_TRUE(end->over());
}

TEST_F(Senders, StopInTheMiddleOfAFileWhenTheReceiverHasFailed) {
  constexpr std::uint64_t kMany = 4'096;
  write_leaves(folder.write("from/large", {}), kMany);
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
