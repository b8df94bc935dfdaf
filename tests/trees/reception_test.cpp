// SPDX-License-Identifier: Apache-2.0
#include "trees/reception.hpp"

#include <future>

#include <gtest/gtest.h>

#include "trees/ends.hpp"

namespace udtcat::trees {
namespace {

class Receptions : public testing::Test {
 protected:
  /// A candidate whose hashes take so much memory.
  static Reception::Expected with_leaves(std::size_t leaves) {
    Candidate candidate{};
    for (std::size_t leaf = 0; leaf < leaves; ++leaf)
      candidate.leaves.add(files::Digest{static_cast<std::byte>(leaf % 2)});
    return {file_at("a", 1), std::move(candidate), 0};
  }

  Folder folder;
  JoinedWires wires;
  Troubles troubles;
  const files::FileTree tree = files::FileTree::open(folder.path()).value();
  Reception reception{{.tree = tree, .job = kJob, .limit_bytes = {}, .book = {}},
                      Parts::open(tree, kJob, Parts::Held::refuse).value(),
                      wires.here,
                      nullptr,
                      troubles.tally};
};

TEST_F(Receptions, KeepRefusalsForTheEndUntilTheyAreMany) {
  reception.refuse(1, "first", Reception::When::later);
  reception.tell_many_refusals();
  EXPECT_TRUE(reception.writer().put(Want{7}));
  for (EntryId id = 2; id < 2'000; ++id) reception.refuse(id, "another", Reception::When::later);
  reception.tell_many_refusals();
  EXPECT_TRUE(reception.writer().flush());
  wires.here.finish();
  Peer peer(wires.there);
  peer.hear<Want>();
  EXPECT_EQ(peer.hear<Refused>().reason, "first");
  EXPECT_EQ(peer.count_out<Refused>(), 1'998U);
}

TEST_F(Receptions, KeepHashesOfNoMoreFilesThanTheyHaveRoomFor) {
  constexpr std::size_t kMany = 1'500'000;
  reception.expect(1, with_leaves(kMany));
  EXPECT_TRUE(reception.writer().put(Want{1}));
  auto second = std::async(std::launch::async, [&] { reception.expect(2, with_leaves(kMany)); });
  EXPECT_EQ(Peer(wires.there).hear<Want>().entry, 1U) << "who is to describe the first one hears of it";
  EXPECT_FALSE(reception.take_expected(2)) << "it waits";
  EXPECT_TRUE(reception.take_expected(1));
  second.get();
  EXPECT_TRUE(reception.take_expected(2));
}

TEST_F(Receptions, WaitForNoRoomOnceTheTransferIsCut) {
  constexpr std::size_t kMany = 1'500'000;
  reception.expect(1, with_leaves(kMany));
  auto second = std::async(std::launch::async, [&] { reception.expect(2, with_leaves(kMany)); });
  wires.cut();
  second.get();
}

}  // namespace
}  // namespace udtcat::trees
