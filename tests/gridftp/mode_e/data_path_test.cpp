// SPDX-License-Identifier: Apache-2.0
#include "gridftp/mode_e/data_path.hpp"

#include <gmock/gmock.h>

#include "gridftp/support.hpp"
#include "support/addresses.hpp"

namespace udtcat::gridftp {
namespace {

constexpr std::chrono::milliseconds kTimeout{60'000};
const Error kEnough{Errc::interrupted, "wait", "enough"};

/// Connections that are made when the test says so.
class SlowStack final : public DataStack {
 public:
  explicit SlowStack(boost::asio::io_context& io) : io_(io), allowed_(io) {}
  void allow() {
    open_ = true;
    allowed_.notify();
  }
  Task<Result<std::shared_ptr<StreamIo>>> connect(std::vector<Endpoint> to) override {
    ++asked;
    addresses = std::move(to);
    while (!open_) co_await allowed_.wait();
    wires.push_back(std::make_unique<Wire>(io_));
    co_return wires.back()->ours;
  }
  Result<std::unique_ptr<DataListener>> listen(const Endpoint&, ConnectionHandler) override {
    return fail(Errc::cannot_bind, "listen", "not here");
  }

  std::size_t asked = 0;
  std::vector<Endpoint> addresses;  // of the last connection
  std::vector<std::unique_ptr<Wire>> wires;

 private:
  boost::asio::io_context& io_;
  AsyncCondition allowed_;
  bool open_ = false;
};

class DataPaths : public testing::Test {
 protected:
  /// Our ports, and the other end aims at them.
  void meet(std::size_t addresses = 1) {
    const auto ports = here.listen(bridge::loopback_v4(), addresses);
    ASSERT_TRUE(ports);
    there.aim(*ports);
  }
  SendRequest request() {
    SendRequest request;
    request.source = std::make_shared<FileSource>(io, BlockStore::open_to_read(files::FileLocation(path)).value(),
                                                  std::vector<files::ByteRange>(1, {0, content.size()}));
    request.block_bytes = 10'000;
    return request;
  }
  Outcome<Status> receive() {
    sink = std::make_shared<MemorySink>();
    return begin(io, here.receive(IncomingFile(files::ByteRange{0, content.size()}, {}, here.addresses()), sink));
  }
  void expect_transfer(std::size_t parallelism = 3) {
    const auto received = receive();
    EXPECT_TRUE(run(io, there.send(parallelism, request())));
    EXPECT_TRUE(await(io, received));
    EXPECT_TRUE(sink->content == content);
  }

  boost::asio::io_context io;
  Folder folder;
  const Bytes content = random_bytes(100'003);
  const std::string path = folder.write("file", content);
  std::shared_ptr<MemorySink> sink;
  DataPath here{io, make_tcp_stack(io)};
  DataPath there{io, make_tcp_stack(io)};
};

// ---- Statements ----------------------------------------------------------------------------------------------------

class StatingPaths : public DataPaths {
 protected:
  void use(Statements receiver, Statements sender) {
    here.use(sessions(receiver));
    there.use(sessions(sender));
    meet();
    expect_transfer();
  }

  const Statement done{Statement::Action::sent, 1, 2, 3, "/x"};

 private:
  std::shared_ptr<DataStack> sessions(Statements statements) {
    DataOptions options;
    options.session.application = "driver";
    options.statements = statements;
    options.credentials = std::make_shared<const Credentials>(key_.duplicate());
    return make_session_stack(io, options);
  }

  const Key key_ = Key::generate().value();
};

TEST_F(StatingPaths, HearWhatWasDoneWhicheverWayTheDataWent) {
  for (const bool sender_states : {true, false}) {
    use(sender_states ? Statements::wanted : Statements::made, sender_states ? Statements::made : Statements::wanted);
    DataPath& client = sender_states ? here : there;
    DataPath& server = sender_states ? there : here;
    EXPECT_TRUE(client.peer_states() && !server.peer_states());
    for (int file = 0; file < 2; ++file) {
      EXPECT_TRUE(run(io, server.send_statement(done)));
      EXPECT_EQ(run(io, client.receive_statement(kTimeout)).value(), done);
      expect_transfer();
    }
  }
}

TEST_F(StatingPaths, SayNothingToWhoDoesNotWantToHearIt) {
  use(Statements::none, Statements::made);
  EXPECT_TRUE(run(io, there.send_statement(done)));
  expect_transfer();
  EXPECT_TRUE(here.peer_states());
  use(Statements::wanted, Statements::none);
  EXPECT_FALSE(here.peer_states());
}

TEST_F(StatingPaths, WaitNoLongerThanTheyAreTold) {
  use(Statements::wanted, Statements::made);
  EXPECT_EQ(run(io, here.receive_statement(std::chrono::milliseconds(10))).error().code, Errc::peer_lost);
}

TEST_F(StatingPaths, TakeNothingElseForAStatement) {
  use(Statements::wanted, Statements::made);
  there.close();  // a last word that is none
  EXPECT_EQ(run(io, here.receive_statement(kTimeout)).error().code, Errc::connection_broken);
}

// ---- Connections ---------------------------------------------------------------------------------------------------

TEST_F(DataPaths, TakeARole) {
  EXPECT_EQ(here.role(), DataPath::Role::none);
  meet(2);
  EXPECT_EQ(here.role(), DataPath::Role::passive);
  EXPECT_EQ(here.addresses(), 2U);
  EXPECT_EQ(there.role(), DataPath::Role::active);
  EXPECT_EQ(there.addresses(), 2U);
  here.close();
  EXPECT_EQ(here.role(), DataPath::Role::none);
  EXPECT_EQ(here.addresses(), 0U);
}

TEST_F(DataPaths, CarryAFileOverSeveralConnectionsToSeveralAddresses) {
  for (const std::size_t addresses : {1U, 3U}) {
    meet(addresses);
    expect_transfer();
    EXPECT_EQ(here.arrived().bytes(), content.size());
    EXPECT_EQ(here.received_bytes(), content.size());
  }
}

TEST_F(DataPaths, KeepTheirConnectionsForTheNextFile) {
  meet();
  EXPECT_FALSE(here.has_kept() || there.has_kept());
  for (int file = 0; file < 3; ++file) {
    expect_transfer();
    EXPECT_TRUE(here.has_kept() && there.has_kept());
  }
}

TEST_F(DataPaths, EndKeptConnectionsWithANewRole) {
  meet();
  expect_transfer();
  meet();
  EXPECT_FALSE(here.has_kept() || there.has_kept());
  expect_transfer();
}

TEST_F(DataPaths, TakeConnectionsThatCameBeforeAnybodyReceived) {
  meet();
  const auto sent = begin(io, there.send(3, request()));
  EXPECT_TRUE(await(io, sent)) << "the system takes so little without a reader";
  run_ready(io);
  EXPECT_TRUE(await(io, receive()));
  EXPECT_TRUE(sink->content == content);
}

TEST_F(DataPaths, DropConnectionsBeyondTheirBound) {
  meet();
  const std::size_t many = DataPath::kMaxEarly + 10;
  EXPECT_TRUE(await(io, begin(io, there.send(many, request()))));
  run_ready(io);
  const auto received = receive();
  run_ready(io);
  EXPECT_FALSE(received->has_value()) << "ends of data are missing";
  here.cancel(kEnough);
  EXPECT_FALSE(await(io, received));
}

TEST_F(DataPaths, CanBeCancelledBeforeAnybodyConnects) {
  meet();
  const auto received = receive();
  run_ready(io);
  here.cancel(kEnough);
  EXPECT_EQ(await(io, received).error().code, Errc::interrupted);
}

TEST_F(DataPaths, CanBeCancelledWhileTheyConnect) {
  const auto stack = std::make_shared<SlowStack>(io);
  there.use(stack);
  there.aim({bridge::loopback_v4()});
  const auto sent = begin(io, there.send(4, request()));
  run_ready(io);
  there.cancel(kEnough);
  EXPECT_EQ(await(io, sent).error().code, Errc::interrupted);
  EXPECT_EQ(stack->asked, 1U) << "no further connections";
  stack->allow();
  run_ready(io);
  EXPECT_EQ(stack->wires.at(0)->ours.use_count(), 1) << "nobody keeps a connection that came too late";
}

TEST_F(DataPaths, CanBeCancelledWhileNobodyReads) {
  meet();
  const Bytes large(20'000'000);
  folder.write("file", large);
  SendRequest all;
  all.source = std::make_shared<FileSource>(io, BlockStore::open_to_read(files::FileLocation(path)).value(),
                                            std::vector<files::ByteRange>(1, {0, large.size()}));
  const auto sent = begin(io, there.send(1, std::move(all)));
  while (io.run_one_for(std::chrono::milliseconds(100)) > 0) continue;
  ASSERT_FALSE(sent->has_value());
  there.cancel(kEnough);
  EXPECT_EQ(await(io, sent).error().code, Errc::interrupted);
}

TEST_F(DataPaths, GoOnAfterACancelledTransfer) {
  meet();
  const auto received = receive();
  run_ready(io);
  here.cancel(kEnough);
  EXPECT_FALSE(await(io, received));
  expect_transfer();
}

TEST_F(DataPaths, GiveASingleConnectionInEitherRole) {
  meet();
  const auto passive = begin(io, here.single());
  const auto active = begin(io, there.single());
  const auto one = await(io, passive).value();
  const auto other = await(io, active).value();
  EXPECT_TRUE(run(io, one->write(content)));
  Bytes got(content.size());
  EXPECT_EQ(run(io, other->read(got)).value(), got.size());
  EXPECT_TRUE(got == content);
}

TEST_F(DataPaths, CanBeCancelledWhileTheyWaitForASingleConnection) {
  meet();
  const auto single = begin(io, here.single());
  run_ready(io);
  here.cancel(kEnough);
  EXPECT_EQ(await(io, single).error().code, Errc::interrupted);
}

TEST_F(DataPaths, CanBeCancelledWhileASingleConnectionIsMade) {
  const auto stack = std::make_shared<SlowStack>(io);
  there.use(stack);
  there.aim({bridge::loopback_v4()});
  const auto single = begin(io, there.single());
  run_ready(io);
  there.cancel(kEnough);
  EXPECT_EQ(await(io, single).error().code, Errc::interrupted);
}

TEST_F(DataPaths, TellThatNobodyIsThere) {
  const bridge::RefusingPort refusing(io);
  there.aim({refusing.endpoint()});
  EXPECT_EQ(run(io, there.send(2, request())).error().code, Errc::cannot_reach);
  EXPECT_EQ(run(io, there.single()).error().code, Errc::cannot_reach);
}

/// As a server behind a NAT says it, in whose address it has no part.
TEST_F(DataPaths, GoToTheOtherHostWhereTheOneThatIsNamedCannotBeReached) {
  const auto ports = here.listen(bridge::loopback_v4());
  ASSERT_TRUE(ports);
  const auto named = bridge::from_asio(bridge::tcp::endpoint(boost::asio::ip::make_address("127.0.0.9"), 0));
  for (int file = 0; file < 2; ++file) {
    there.aim({named.with_port(ports->front().port())}, ports->front());
    const auto received = receive();
    EXPECT_TRUE(run(io, there.send(2, request())));
    EXPECT_TRUE(await(io, received));
  }
  there.aim({named.with_port(ports->front().port())});
  EXPECT_EQ(run(io, there.single()).error().code, Errc::cannot_reach) << "nobody has said where else";
}

TEST_F(DataPaths, HaveTheHostThatIsNamedRaceWithTheOtherOne) {
  const auto stack = std::make_shared<SlowStack>(io);
  const Endpoint named = test::address_of("192.0.2.1", 50'000);
  there.use(stack);
  for (const Endpoint& other : {bridge::loopback_v4(), named}) {
    there.aim({named}, other.with_port(21));
    const auto single = begin(io, there.single());
    run_ready(io);
    std::vector<Endpoint> expected(1, named);
    if (other != named) expected.push_back(other.with_port(named.port()));
    EXPECT_EQ(stack->addresses, expected);
    there.cancel(kEnough);
    EXPECT_FALSE(await(io, single));
  }
}

TEST_F(DataPaths, SayOfTheHostThatIsNamedThatNeitherIsThere) {
  const bridge::RefusingPort refusing(io);
  const auto named = bridge::from_asio(bridge::tcp::endpoint(boost::asio::ip::make_address("127.0.0.9"), 0));
  const Endpoint at = named.with_port(refusing.endpoint().port());
  there.aim({at}, refusing.endpoint());
  const auto failed = run(io, there.single());
  EXPECT_EQ(failed.error().code, Errc::cannot_reach);
  EXPECT_THAT(failed.error().message(), testing::HasSubstr(at.to_string()));
}

TEST_F(DataPaths, TellThatTheyCannotListen) {
  here.use(std::make_shared<SlowStack>(io));
  EXPECT_EQ(here.listen(bridge::loopback_v4()).error().code, Errc::cannot_bind);
  EXPECT_EQ(here.role(), DataPath::Role::none);
}

TEST_F(DataPaths, CloseKeptConnectionsByABlock) {
  meet();
  expect_transfer(1);
  const auto received = receive();
  there.close();
  run_ready(io);
  EXPECT_FALSE(received->has_value()) << "a goodbye is no failure";
  here.cancel(kEnough);
  EXPECT_FALSE(await(io, received));
}

TEST_F(DataPaths, CanBeDestroyedInTheMiddle) {
  auto doomed = std::make_unique<DataPath>(io, make_tcp_stack(io));
  there.aim(doomed->listen(bridge::loopback_v4()).value());
  sink = std::make_shared<MemorySink>();
  const auto sent = begin(io, there.send(2, request()));
  EXPECT_TRUE(run_until(io, [&] { return sent->has_value(); }));
  doomed.reset();
  run_ready(io);
}

}  // namespace
}  // namespace udtcat::gridftp
