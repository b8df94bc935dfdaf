// SPDX-License-Identifier: Apache-2.0
#include "trees/receiver_state.hpp"

#include <future>

#include <fcntl.h>
#include <gmock/gmock.h>

#include "trees/ends.hpp"

namespace udtcat::trees {
namespace {

class ReceiverStates : public testing::Test {
 protected:
  /// A basis whose hashes take so much memory.
  static ReceiverState::Expected with_hashes(std::size_t chunks) {
    BasisFile basis{};
    for (std::size_t chunk = 0; chunk < chunks; ++chunk)
      basis.chunks.add(files::Digest{static_cast<std::byte>(chunk % 2)});
    return {file_at("a", 1), std::move(basis), 0};
  }

  /// A file gets an owner that no file system keeps.
  void lose_an_owner() {
    folder.write("f", {});
    Entry entry = file_at("f", 0);
    entry.attributes.owner = {0xffffffff, 0, "", ""};
    Destination destination = state.destination();
    const auto opened = destination.locate("f").value().open(O_PATH, Errc::local_write_failed).value();
    EXPECT_TRUE(destination.set_attributes_of(opened, entry, false));
  }

  Folder folder;
  JoinedStreams streams;
  RecordedErrors recorded;
  const files::FileTree tree = files::FileTree::open(folder.path()).value();
  ReceiverState state{{.tree = tree, .job = kJob, .keeps_owners = true, .limit_bytes = {}, .cache = {}},
                      PartialFiles::open(tree, kJob).value(),
                      streams.here,
                      nullptr,
                      recorded.counters};
};

TEST_F(ReceiverStates, HoldRefusalsForTheEndUntilTheyAreMany) {
  state.refuse(1, "first", ReceiverState::When::later);
  state.tell_many_refusals();
  EXPECT_TRUE(state.writer().put(Want{7}));
  for (EntryId id = 2; id < 2'000; ++id) state.refuse(id, "another", ReceiverState::When::later);
  state.tell_many_refusals();
  EXPECT_TRUE(state.writer().flush());
  streams.here.finish();
  Peer peer(streams.there);
  peer.hear<Want>();
  EXPECT_EQ(peer.hear<Refused>().reason, "first");
  EXPECT_EQ(peer.count_out<Refused>(), 1'998U);
}

TEST_F(ReceiverStates, HoldLossesAsTheyDoRefusals) {
  lose_an_owner();
  EXPECT_TRUE(state.writer().put(Want{7}));
  state.tell_refusals();
  EXPECT_TRUE(state.writer().flush());
  Peer peer(streams.there);
  peer.hear<Want>();
  EXPECT_THAT(peer.hear<NotStored>().reason, testing::HasSubstr("owner"));
  EXPECT_EQ(recorded.counters.losses, 1U);
}

TEST_F(ReceiverStates, TellWhatTheyHoldBeforeTheyFail) {
  lose_an_owner();
  state.refuse(1, "refused", ReceiverState::When::later);
  state.fail({Errc::local_write_failed, "write", "the disk is full"});
  Peer peer(streams.there);
  peer.hear<NotStored>();
  EXPECT_EQ(peer.hear<Refused>().reason, "refused");
  peer.hear<Failed>();
}

TEST_F(ReceiverStates, LimitTheHashesOfExpectedFiles) {
  constexpr std::size_t kMany = 1'500'000;
  state.expect(1, with_hashes(kMany));
  EXPECT_TRUE(state.writer().put(Want{1}));
  auto second = std::async(std::launch::async, [&] { state.expect(2, with_hashes(kMany)); });
  EXPECT_EQ(Peer(streams.there).hear<Want>().entry, 1U) << "the sender hears of the first one";
  EXPECT_FALSE(state.take_expected(2)) << "it waits";
  EXPECT_TRUE(state.take_expected(1));
  second.get();
  EXPECT_TRUE(state.take_expected(2));
}

TEST_F(ReceiverStates, DoNotWaitForHashesOnceTheTransferIsCut) {
  constexpr std::size_t kMany = 1'500'000;
  state.expect(1, with_hashes(kMany));
  auto second = std::async(std::launch::async, [&] { state.expect(2, with_hashes(kMany)); });
  streams.cut();
  second.get();
}

}  // namespace
}  // namespace udtcat::trees
