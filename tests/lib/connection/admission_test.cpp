// SPDX-License-Identifier: Apache-2.0
#include "lib/connection/admission.hpp"

#include <vector>

#include <gtest/gtest.h>

#include <udtcat/units.hpp>

namespace udtcat::connection {
namespace {

Endpoint host(int last, std::uint16_t port = 9000) {
  return resolve({"192.0.2." + std::to_string(last), port}, AddressFamily::any).value().front();
}

struct AdmissionTest : ::testing::Test {
  Result<Admission::Slot> enter(const Endpoint& peer, const std::optional<PeerIdentity>& identity = {}) {
    return Admission::enter(at, peer, identity, at->share_bytes(places.size()));
  }
  /// As many sessions as the host gets.
  void fill_from(const Endpoint& peer) {
    for (auto place = enter(peer); place; place = enter(peer)) places.push_back(std::move(*place));
  }
  void limit(const ListenLimits& limits) { at = std::make_shared<Admission>(limits, kDefaultMemoryBytes); }
  std::shared_ptr<Admission> at =
      std::make_shared<Admission>(ListenLimits{.memory_bytes = 4 * kGiB}, kDefaultMemoryBytes);
  std::vector<Admission::Slot> places;
};

TEST_F(AdmissionTest, GivesTheFirstMuchAndTheNextLess) {
  EXPECT_EQ(at->share_bytes(places.size()), kGiB / Admission::kSlices);
  places.push_back(enter(host(1)).value());
  EXPECT_EQ(at->share_bytes(places.size()), kGiB / Admission::kSlices / 2);
  places.clear();
  EXPECT_EQ(at->share_bytes(places.size()), kGiB / Admission::kSlices) << "who goes gives it back";
}

TEST_F(AdmissionTest, PromisesNoMoreThanThereIs) {
  std::uint64_t promised = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::uint64_t share = at->share_bytes(places.size());
    auto place = enter(host(i % 250));
    if (!place) break;
    promised += share;
    places.push_back(std::move(*place));
  }
  EXPECT_LE(promised, kGiB);
  EXPECT_GT(places.size(), 400U);
}

TEST_F(AdmissionTest, GivesNoMoreThanASessionIsToHave) {
  limit({.memory_bytes = 1000 * kGiB});
  EXPECT_EQ(at->share_bytes(places.size()), kDefaultMemoryBytes);
}

TEST_F(AdmissionTest, TakesOneSessionLessThanFitsInASmallHost) {
  limit({.memory_bytes = 2 * Admission::kPartsOfASession * kMiB});
  places.push_back(enter(host(1)).value());
  places.push_back(enter(host(2)).value());
  EXPECT_EQ(enter(host(1)).error().message(),
            "take a session of 192.0.2.1:9000: all memory for one peer is promised to its other sessions");
  EXPECT_EQ(enter(host(3)).error().message(),
            "take a session of 192.0.2.3:9000: all memory for sessions is promised to others");
}

TEST_F(AdmissionTest, TakesTheFirstSessionWhereOnlyOneFits) {
  limit({.memory_bytes = Admission::kPartsOfASession * kMiB});
  places.push_back(enter(host(1)).value());
  EXPECT_FALSE(enter(host(2)));
}

TEST_F(AdmissionTest, LeavesRoomForOthersBesideAHostWithManySessions) {
  fill_from(host(1));
  EXPECT_GT(places.size(), 400U);
  EXPECT_TRUE(at->room_for(host(2), {}));
  fill_from(host(2));
  EXPECT_FALSE(at->room_for(host(3), {})) << "in the end there is nothing left";
}

TEST_F(AdmissionTest, GivesAllToTheOnlyPeer) {
  limit({.peers = 1, .sessions_per_peer = 2000, .memory_bytes = 4 * kGiB});
  fill_from(host(1));
  EXPECT_EQ(enter(host(1)).error().cause, "all memory for one peer is promised to its other sessions");
  EXPECT_GT(places.size(), 600U);
}

TEST_F(AdmissionTest, TakesAThousandSessionsOfOneHost) {
  limit({.memory_bytes = 12 * kGiB});
  fill_from(host(1));
  EXPECT_EQ(places.size(), ListenLimits().sessions_per_peer) << "where a process may have 24 GiB";
}

TEST_F(AdmissionTest, CountsAHolderOfAKeyPairWhereverItIs) {
  const PeerIdentity alice{"alice", KeyPair::generate().value().public_key()};
  const PeerIdentity bob{"bob", KeyPair::generate().value().public_key()};
  limit({.peers = 2, .sessions_per_peer = 2, .memory_bytes = 4 * kGiB});
  places.push_back(enter(host(1), alice).value());
  places.push_back(enter(host(2), alice).value());
  EXPECT_EQ(enter(host(3), alice).error().cause, "it has 2 sessions already");
  places.push_back(enter(host(1), bob).value());
  EXPECT_EQ(at->room_for(host(1), {}).error().cause, "there are 2 peers already");
}

TEST_F(AdmissionTest, CountsPeersAndTheSessionsOfEach) {
  limit({.peers = 2, .sessions_per_peer = 2, .memory_bytes = 4 * kGiB});
  places.push_back(enter(host(1, 1)).value());
  places.push_back(enter(host(1, 2)).value());
  EXPECT_EQ(enter(host(1, 3)).error().message(), "take a session of 192.0.2.1:3: it has 2 sessions already");
  places.push_back(enter(host(2)).value());
  EXPECT_EQ(enter(host(3)).error().message(), "take a session of 192.0.2.3:9000: there are 2 peers already");
  places.pop_back();
  EXPECT_TRUE(enter(host(3))) << "a place is free again";
}

TEST_F(AdmissionTest, GivesTheOnlySessionWhatItAsksFor) {
  limit({.peers = 1, .sessions_per_peer = 1, .memory_bytes = kMiB});
  EXPECT_EQ(at->share_bytes(places.size()), kDefaultMemoryBytes);
  EXPECT_TRUE(enter(host(1)));
}

TEST_F(AdmissionTest, CountsFurtherChannelsAsMemoryAndNotAsSessions) {
  limit({.sessions_per_peer = 1, .memory_bytes = 10 * Admission::kPartsOfASession * kMiB});
  auto session = enter(host(1));
  ASSERT_TRUE(session);
  std::vector<Admission::Slot> flows;
  for (;;) {
    auto flow = Admission::enter_flow(at, host(1), {}, kMiB);
    if (!flow) break;
    flows.push_back(std::move(*flow));
  }
  EXPECT_GE(flows.size(), 6U);
  EXPECT_LE(flows.size(), 7U) << "a fifth is not for one peer";
  EXPECT_EQ(enter(host(1)).error().cause, "it has 1 session already");
  flows.pop_back();
  EXPECT_TRUE(Admission::enter_flow(at, host(1), {}, kMiB));
  session = Admission::Slot();
  flows.clear();
  EXPECT_TRUE(enter(host(1))) << "whichever goes first";
}

TEST_F(AdmissionTest, OutlivesTheListener) {
  auto place = enter(host(1)).value();
  at.reset();
  place = Admission::Slot();
}

TEST(ProcessMemory, IsThatOfTheHostAtMost) { EXPECT_GE(process_memory_bytes(), 64 * kMiB); }

}  // namespace
}  // namespace udtcat::connection
