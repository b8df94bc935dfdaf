// SPDX-License-Identifier: Apache-2.0
#include "gridftp/server/ftp_server.hpp"

#include "gridftp/server/serving_fixture.hpp"

namespace udtcat::gridftp {
namespace {

class FtpServers : public Served {
 protected:
  /// Two of three places are one prefix's, who has been there longer first, and one is another's; nobody asks for
  /// anything.
  void fill_unevenly() {
    ServeOptions options;
    options.most_clients = 3;
    serve(options);
    many_.push_back(logged_in_from("127.0.1.1"));
    few_ = logged_in_from("127.0.2.1");
    many_.push_back(logged_in_from("127.0.1.2"));
  }
  bool answers(ControlClient& visitor) { return run(io, visitor.ask("NOOP")).value_or(Reply{}).code == 200; }
  /// As the listener of sessions brings them.
  std::unique_ptr<ControlClient> guest_with_key(const char* address) {
    Wire wire(io);
    const Endpoint peer = bridge::from_asio(bridge::tcp::endpoint(boost::asio::ip::make_address(address), 1));
    server->serve(std::make_unique<ControlConnection>(io, wire.ours, bridge::loopback_v4(), peer), true);
    auto visitor = visit_over(std::make_shared<StreamIo>(std::move(wire.peer)));
    EXPECT_TRUE(visitor && log_in(*visitor)) << address;
    return visitor;
  }

  std::vector<std::unique_ptr<ControlClient>> many_;
  std::unique_ptr<ControlClient> few_;
};

TEST_F(FtpServers, ServeSeveralClientsAtATime) {
  serve();
  const auto one = visit();
  const auto other = visit();
  EXPECT_EQ(run(io, other->ask("NOOP")).value().code, 200);
  EXPECT_EQ(run(io, one->ask("NOOP")).value().code, 200);
}

TEST_F(FtpServers, RefuseClientsBeyondTheLimit) {
  ServeOptions options;
  options.most_clients = 1;
  serve(options);
  log_in();
  const auto refused = begin(io, [](boost::asio::io_context& loop, HostPort at) -> Task<Errc> {
    auto visitor = co_await ControlClient::connect(loop, at, std::chrono::seconds(30));
    co_return visitor ? Errc{} : visitor.error().code;
  }(io, where()));
  EXPECT_EQ(await(io, refused), Errc::stream_refused);
  EXPECT_EQ(ask("QUIT").code, 221);
  client.reset();
  run_ready(io);
  expect_good_service();
}

TEST_F(FtpServers, CloseTheOldestClientThatHasNotLoggedIn) {
  ServeOptions options;
  options.anonymous_quota.clients = 3;
  serve(options);
  std::vector<std::unique_ptr<ControlClient>> silent;
  for (int i = 0; i < 10; ++i) silent.push_back(visit());
  log_in();
  EXPECT_EQ(ask("NOOP").code, 200);
  EXPECT_FALSE(run(io, silent.front()->ask("NOOP")));
  EXPECT_EQ(run(io, silent.back()->ask("NOOP")).value().code, 200);
  for (int i = 0; i < 10; ++i) silent.push_back(visit());
  EXPECT_EQ(ask("NOOP").code, 200) << "who has logged in stays";
}

/// Proves: threat-model.ftp-places
TEST_F(FtpServers, LimitTheClientsOfOnePrefix) {
  ServeOptions options;
  options.anonymous_quota.clients = 2;
  serve(options);
  const auto first = logged_in_from("127.0.1.1");
  const auto second = logged_in_from("127.0.1.2");
  EXPECT_FALSE(visit_from("127.0.1.3"));
  EXPECT_TRUE(answers(*first) && answers(*second));
  EXPECT_TRUE(visit_from("127.0.2.1"));
}

/// Proves: threat-model.ftp-places
TEST_F(FtpServers, CloseTheLongestIdleClientOfThePrefixWithTheMost) {
  fill_unevenly();
  EXPECT_TRUE(answers(*many_[0])) << "so that the other one is idle longer";
  const auto newcomer = logged_in_from("127.0.3.1");
  EXPECT_EQ(run(io, many_[1]->reply()).value_or(Reply{}).code, 421);
  EXPECT_FALSE(run(io, many_[1]->reply())) << "and it hangs up";
  EXPECT_TRUE(answers(*newcomer) && answers(*few_) && answers(*many_[0]));
}

TEST_F(FtpServers, CloseNoClientForAPrefixThatHasAsMany) {
  fill_unevenly();
  EXPECT_FALSE(visit_from("127.0.1.3"));
  EXPECT_TRUE(answers(*few_) && answers(*many_[0]) && answers(*many_[1]));
}

/// Proves: gridftp.busy-clients-stay
TEST_F(FtpServers, CloseNoClientInTheMiddleOfATransfer) {
  fill_unevenly();
  for (const auto& visitor : many_) {
    EXPECT_EQ(run(io, visitor->ask("PASV")).value_or(Reply{}).code, 227);
    EXPECT_TRUE(run(io, visitor->send("STOR /" + std::to_string(visitor == many_[0]))));
    EXPECT_EQ(run(io, visitor->reply()).value_or(Reply{}).code, 150);
  }
  EXPECT_FALSE(visit_from("127.0.2.2"));
  EXPECT_TRUE(answers(*few_));
}

TEST_F(FtpServers, LetANewcomerLogInWhileOthersCome) {
  fill_unevenly();
  const auto newcomer = visit_from("127.0.3.1");
  ASSERT_TRUE(newcomer);
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(visit_from("127.0.1.3")) << "which would have more than he";
  EXPECT_TRUE(log_in(*newcomer));
}

/// Proves: gridftp.busy-clients-stay
TEST_F(FtpServers, CloseNoClientThatHasLoggedInWithTheKey) {
  ServeOptions options;
  options.most_clients = 3;
  serve(options);
  for (int i = 0; i < 3; ++i) many_.push_back(guest_with_key("127.0.1.1"));
  EXPECT_FALSE(visit_from("127.0.2.1"));
  for (const auto& visitor : many_) EXPECT_TRUE(answers(*visitor));
}

TEST_F(FtpServers, CloseAllClientsWhenTheyStop) {
  serve();
  log_in();
  server->stop();
  EXPECT_EQ(next_reply().code, 0);
}

TEST_F(FtpServers, StopInTheMiddleOfATransfer) {
  serve();
  begin_blocks();
  ask_where();
  EXPECT_TRUE(send("STOR /x"));
  EXPECT_EQ(next_reply().code, 150);
  server->stop();
  EXPECT_EQ(hear_end().code, 0);
  EXPECT_FALSE(folder.has("x"));
}

TEST_F(FtpServers, CanBeDestroyedWithClients) {
  serve();
  begin_blocks();
  ask_where();
  EXPECT_TRUE(send("STOR /x"));
  EXPECT_EQ(next_reply().code, 150);
  server.reset();
  EXPECT_EQ(hear_end().code, 0);
}

TEST_F(FtpServers, CountWhatMovesEitherWayAlsoOfThoseWhoHaveGone) {
  serve();
  expect_good_service();
  EXPECT_EQ(server->moved().sent, 50'000U);
  EXPECT_EQ(server->moved().received, 50'000U);
  expect_good_service();
  EXPECT_EQ(server->moved().sent, 100'000U);
  EXPECT_EQ(server->moved().received, 100'000U);
  client.reset();
  run_ready(io);
  EXPECT_EQ(server->moved().sent, 100'000U);
  EXPECT_EQ(server->moved().received, 100'000U);
}

TEST_F(FtpServers, TellThatAPortIsTaken) {
  serve();
  FtpServer other(io, ServedRoot::open(folder.path()).value(), {});
  EXPECT_EQ(other.listen(server->local_endpoints()).error().code, Errc::cannot_bind);
}

}  // namespace
}  // namespace udtcat::gridftp
