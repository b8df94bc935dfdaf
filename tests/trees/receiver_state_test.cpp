// SPDX-License-Identifier: Apache-2.0
#include "trees/receiver_state.hpp"

#include <future>

#include <gtest/gtest.h>

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

  Folder folder;
  JoinedStreams streams;
  RecordedErrors recorded;
  const files::FileTree tree = files::FileTree::open(folder.path()).value();
  ReceiverState state{{.tree = tree, .job = kJob, .limit_bytes = {}, .cache = {}},
                      PartialFiles::open(tree, kJob, PartialFiles::OnLocked::refuse).value(),
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
