#include "gridftp/ftp_server.hpp"

#include "gridftp/served_words.hpp"

namespace udtcat::gridftp {
namespace {

class FtpServers : public Served {};

TEST_F(FtpServers, ServeSeveralClientsAtATime) {
  serve();
  const auto one = visit();
  const auto other = visit();
  EXPECT_EQ(run(io, other->ask("NOOP")).value().code, 200);
  EXPECT_EQ(run(io, one->ask("NOOP")).value().code, 200);
}

TEST_F(FtpServers, SendAwayWhoIsTooMany) {
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

TEST_F(FtpServers, LetTheOldestGiveWayWhoHasNotLoggedIn) {
  ServeOptions options;
  options.most_clients_of_one = 3;
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

TEST_F(FtpServers, TakeSoManyFromOneAddressAndNoMore) {
  ServeOptions options;
  options.most_clients_of_one = 2;
  serve(options);
  log_in();
  const auto first = std::exchange(client, nullptr);
  log_in();
  const auto refused = begin(io, [](boost::asio::io_context& loop, HostPort at) -> Task<Errc> {
    auto visitor = co_await ControlClient::connect(loop, at, std::chrono::seconds(30));
    co_return visitor ? Errc{} : visitor.error().code;
  }(io, where()));
  EXPECT_EQ(await(io, refused), Errc::stream_refused);
  EXPECT_EQ(run(io, first->ask("NOOP")).value().code, 200);
}

TEST_F(FtpServers, BreakOffEverybodyWhenTheyStop) {
  serve();
  log_in();
  server->stop();
  EXPECT_EQ(hear().code, 0);
}

TEST_F(FtpServers, StopInTheMiddleOfATransfer) {
  serve();
  begin_blocks();
  ask_where();
  EXPECT_TRUE(send("STOR /x"));
  EXPECT_EQ(hear().code, 150);
  server->stop();
  EXPECT_EQ(hear_end().code, 0);
  EXPECT_FALSE(folder.has("x"));
}

TEST_F(FtpServers, CanBeDestroyedWithClients) {
  serve();
  begin_blocks();
  ask_where();
  EXPECT_TRUE(send("STOR /x"));
  EXPECT_EQ(hear().code, 150);
  server.reset();
  EXPECT_EQ(hear_end().code, 0);
}

TEST_F(FtpServers, CountWhatMovesEitherWayAlsoOfThoseWhoHaveGone) {
  serve();
  expect_good_service();
  EXPECT_EQ(server->moved_bytes(), 100'000U);
  expect_good_service();
  EXPECT_EQ(server->moved_bytes(), 200'000U);
  client.reset();
  run_ready(io);
  EXPECT_EQ(server->moved_bytes(), 200'000U);
}

TEST_F(FtpServers, TellThatAPortIsTaken) {
  serve();
  FtpServer other(io, ServedRoot::open(folder.path()).value(), {});
  EXPECT_EQ(other.listen(server->local_endpoints()).error().code, Errc::cannot_bind);
}

}  // namespace
}  // namespace udtcat::gridftp
