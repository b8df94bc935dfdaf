// SPDX-License-Identifier: Apache-2.0
// Dialers and listeners with key pairs, over the real transport.
#include <set>

#include <gtest/gtest.h>

#include "lib/connection/two_ends.hpp"

namespace udtcat::connection {
namespace {

class ListedPeers final : public KnownPeers {
 public:
  [[nodiscard]] Result<std::string> recognise(const PublicKey& key, std::string_view) const override {
    if (listed.contains(key)) return "alice";
    return fail(Errc::authentication_failed, "go on with alice", "the list does not have it");
  }
  std::set<PublicKey> listed;
};

class KeyPairTest : public TwoEnds {
 protected:
  static std::shared_ptr<const KeyPair> make() { return std::make_shared<const KeyPair>(KeyPair::generate().value()); }
  void SetUp() override { peers->listed.insert(alice->public_key()); }
  void start_server(ListenRequest request = {}) {
    request.locals = std::move(*resolve({"127.0.0.1", 0}, AddressFamily::any));
    request.session.application = "pipe";
    request.credentials = PairCredentials{server, peers};
    request.session.threads = 1;
    start_listening(std::move(request));
  }
  [[nodiscard]] DialRequest request_of(const std::shared_ptr<const KeyPair>& own) {
    DialRequest request;
    request.session.application = "pipe";
    request.addresses = listener->local_endpoints();
    request.peer_name = "the server";
    request.credentials = PairCredentials{own, one_known_peer({"server", server->public_key()}), server->public_key()};
    request.session.threads = 1;
    return request;
  }
  void expect_connected() {
    run_until_dialed();
    ASSERT_TRUE(*result) << result->error().message();
    run_until([this] { return welcomed.size() == 1; });
    EXPECT_EQ(welcomed.front()->peer_identity()->name, "alice");
    EXPECT_EQ((**result)->peer_identity()->key, server->public_key());
  }

  const std::shared_ptr<const KeyPair> server = make();
  const std::shared_ptr<const KeyPair> alice = make();
  const std::shared_ptr<ListedPeers> peers = std::make_shared<ListedPeers>();
};

TEST_F(KeyPairTest, MakeAConnectionThatKnowsItsPeer) {
  start_server();
  start_dialing(request_of(alice));
  expect_connected();
}

TEST_F(KeyPairTest, MakeAConnectionAtEveryLevel) {
  for (const auto protection : {Protection::auth, Protection::safe, Protection::private_}) {
    ListenRequest listening;
    listening.session.protection = protection;
    start_server(std::move(listening));
    DialRequest request = request_of(alice);
    request.session.protection = protection;
    start_dialing(std::move(request));
    expect_connected();
    result.reset();
    welcomed.clear();
  }
}

TEST_F(KeyPairTest, OpenAllTheFlowsThatAreAskedFor) {
  start_server();
  DialRequest request = request_of(alice);
  request.session.flows = 4;
  start_dialing(std::move(request));
  expect_connected();
  run_until([this] { return welcomed.front()->stats().flows == 4; });
}

TEST_F(KeyPairTest, ReachAListenerThatTheyDoNotKnowYet) {
  start_server();
  DialRequest request = request_of(alice);
  request.credentials = PairCredentials{alice, one_known_peer({"server", server->public_key()})};
  start_dialing(std::move(request));
  expect_connected();
}

/// Proves: udt4.proof-gives-place
TEST_F(KeyPairTest, TurnAwayAPeerThatIsNotListed) {
  start_server();
  const auto mallory = make();
  start_dialing(request_of(mallory));
  run_until_dialed();
  ASSERT_FALSE(*result);
  EXPECT_EQ(error(), Errc::authentication_failed);
  EXPECT_NE(result->error().message().find(mallory->public_key().to_string()), std::string::npos);
  run_until([this] { return !refusals.empty(); });
  EXPECT_EQ(refusals.front().cause, "the list does not have it");
}

TEST_F(KeyPairTest, LeaveAListenerThatIsNotTheOneMeant) {
  start_server();
  DialRequest request = request_of(alice);
  const auto meant = make();
  request.credentials = PairCredentials{alice, one_known_peer({"server", meant->public_key()}), server->public_key()};
  start_dialing(std::move(request));
  run_until_dialed();
  ASSERT_FALSE(*result);
  EXPECT_EQ(error(), Errc::authentication_failed);
  EXPECT_NE(result->error().message().find(meant->public_key().to_string()), std::string::npos);
  EXPECT_NE(result->error().message().find(server->public_key().to_string()), std::string::npos);
}

TEST_F(KeyPairTest, DoNotMeetASharedKey) {
  start_server();
  DialRequest request = request_of(alice);
  request.credentials = Key::generate().value();
  start_dialing(std::move(request));
  run_until_dialed();
  ASSERT_FALSE(*result);
  EXPECT_EQ(error(), Errc::authentication_failed);
  EXPECT_NE(result->error().message().find("key pair"), std::string::npos);
}

TEST_F(KeyPairTest, AreCountedAsPeersWhereverTheyAre) {
  const auto bob = make();
  peers->listed.insert(bob->public_key());
  ListenRequest listening;
  listening.limits = {.peers = 2, .sessions_per_peer = 1};
  start_server(std::move(listening));
  start_dialing(request_of(alice));
  expect_connected();
  const auto of_alice = std::move(**result);
  start_dialing(request_of(bob));
  run_until_dialed();
  EXPECT_TRUE(*result) << "to the host it is a second session, to bob the first";
}

TEST_F(KeyPairTest, AreCutOffWhenTheyAreTakenOut) {
  start_server();
  start_dialing(request_of(alice));
  expect_connected();
  std::optional<Status> here, there;
  welcomed.front()->on_closed([&](const Status& status) { here = status; });
  (**result)->on_closed([&](const Status& status) { there = status; });
  peers->listed.clear();
  peers->recheck();
  run_until([&] { return here && there; });
  EXPECT_EQ(here->error().code, Errc::authentication_failed);
  EXPECT_NE(here->error().message().find("alice"), std::string::npos);
  EXPECT_FALSE(*there);
}

}  // namespace
}  // namespace udtcat::connection
