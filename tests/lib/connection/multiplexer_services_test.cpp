/// Streams that ask for a service by its name, and how many there may be.
#include "lib/connection/multiplexer_fixture.hpp"

namespace udtcat::connection {
namespace {

TEST_F(MultiplexerTest, HandsOnWhichServiceAStreamAsksFor) {
  options.services = {"", "db"};
  accepts = false;
  connect();
  open("db");
  ASSERT_TRUE(run_until([this] { return listener.connection->service_of(0) == "db"; }));
  open();
  ASSERT_TRUE(run_until([this] { return listener.accepted == 2; }));
  EXPECT_EQ(listener.connection->service_of(2), "");
}

TEST_F(MultiplexerTest, RefusesAServiceThatItDoesNotHave) {
  connect();
  open("db");
  ASSERT_TRUE(run_until([this] { return connector.outcome.has_value(); }));
  ASSERT_TRUE(connector.outcome->error);
  EXPECT_EQ(connector.outcome->error->code, Errc::stream_refused);
  EXPECT_NE(connector.outcome->error->message().find("no service db"), std::string::npos)
      << connector.outcome->error->message();
}

TEST_F(MultiplexerTest, RefusesAStreamWithoutANameWhereAllServicesHaveOne) {
  options.services = {"db"};
  connect();
  open();
  ASSERT_TRUE(run_until([this] { return connector.outcome.has_value(); }));
  EXPECT_EQ(connector.outcome->error->code, Errc::stream_refused);
}

TEST_F(MultiplexerTest, SaysHowManyStreamsThePeerStillTakesAndRefusesOneMore) {
  options.streams = 2;
  accepts = false;
  connect();
  for (std::size_t left = 2; left > 0; --left) {
    EXPECT_EQ(connector.connection->streams_left(), left);
    open();
  }
  EXPECT_EQ(connector.connection->streams_left(), 0U);
  EXPECT_EQ(listener.connection->streams_left(), 2U) << "each end counts what it opens";
  open();
  ASSERT_TRUE(run_until([this] { return connector.outcome.has_value(); }));
  EXPECT_EQ(connector.outcome->error->code, Errc::stream_refused);
  EXPECT_EQ(connector.connection->streams_left(), 0U);
}

TEST_F(MultiplexerTest, HasRoomForAnotherStreamOnceOneHasEnded) {
  options.streams = 1;
  connect();
  connector.script->source_ended = listener.script->source_ended = true;
  open();
  ASSERT_TRUE(both_ended());
  EXPECT_EQ(connector.connection->streams_left(), 1U);
  open();
  EXPECT_TRUE(run_until([this] { return listener.accepted == 2; })) << "and the peer thinks so, too";
}

}  // namespace
}  // namespace udtcat::connection
