// SPDX-License-Identifier: Apache-2.0
#include "gridftp/server/transfer_parameters.hpp"

#include <gmock/gmock.h>
#include <boost/asio/write.hpp>

#include "gridftp/server/serving_fixture.hpp"

namespace udtcat::gridftp {
namespace {

using testing::HasSubstr;

class TransferParametersTest : public Served {
 protected:
  TransferParametersTest() {
    folder.write("file", random_bytes(1'000));
    serve();
    begin_blocks();
  }
};

/// Proves: gridftp.protection-said
TEST_F(TransferParametersTest, NeverPretendToProtect) {
  for (const char* line : {"PROT P", "PROT S", "PROT E"}) EXPECT_EQ(ask(line).code, 536) << line;
  EXPECT_EQ(ask("DCAU A").code, 534);
  EXPECT_EQ(ask("DCAU S subject").code, 504);
  EXPECT_EQ(ask("SITE SETNETSTACK tcp,gsi").code, 534);
  EXPECT_EQ(ask("SITE SETNETSTACK udtcat").code, 534) << "there is no key";
  EXPECT_EQ(ask("SITE SETNETSTACK rot13").code, 501);
  EXPECT_EQ(ask("PROT C").code, 200);
  EXPECT_EQ(ask("DCAU N").code, 200);
}

TEST_F(TransferParametersTest, RefuseDataThatAreWeakerThanTheServerWants) {
  ServeOptions options;
  options.least = Protection::private_;
  options.data.credentials = std::make_shared<const Credentials>(Key::generate().value());
  serve(options);
  begin_blocks();
  call_us();
  EXPECT_EQ(ask("RETR /file").code, 536);
  EXPECT_EQ(ask("SITE SETNETSTACK udt").code, 536);
  EXPECT_EQ(ask("SITE SETNETSTACK udtcat").code, 200);
  EXPECT_EQ(ask("PROT C").code, 536);
  EXPECT_EQ(ask("DCAU N").code, 200);
  EXPECT_EQ(ask("PROT P").code, 200);
}

TEST_F(TransferParametersTest, TakeExtendedPorts) {
  EXPECT_THAT(ask("EPSV").text(), HasSubstr("(|||"));
  EXPECT_EQ(ask("EPSV 1").code, 229);
  EXPECT_EQ(ask("EPSV 2").code, 522);
  EXPECT_EQ(ask("EPRT |1|127.0.0.1|2000|").code, 200);
  EXPECT_EQ(ask("EPRT |2|::1|2000|").code, 504) << "somebody else's address";
  for (const char* wrong :
       {"EPRT", "EPRT |", "EPRT |1|127.0.0.1|", "EPRT |1|127.0.0.1|0|", "EPRT |1|127.0.0.1|70000|", "EPRT |1||2000|",
        "EPRT |1|dead.beef|2000|", "EPRT |1|::1|2000|", "EPRT |9|127.0.0.1|2000|", "EPRT |1|host.example|2000|"})
    EXPECT_EQ(ask(wrong).code, 501) << wrong;
}

TEST_F(TransferParametersTest, RefuseInvalidPorts) {
  for (const char* wrong : {"PORT", "PORT 1,2,3", "PORT 1,2,3,4,5,256", "SPOR", "SPOR 127,0,0,1,100,0 x"})
    EXPECT_EQ(ask(wrong).code, 501) << wrong;
  std::string many = "SPOR";
  for (std::size_t i = 0; i <= kMaxDataPorts; ++i) many += " 127,0,0,1,100,0";
  EXPECT_EQ(ask(many).code, 501);
}

TEST_F(TransferParametersTest, BringDataOnlyToWhereTheClientIs) {
  for (const char* line : {"PORT 127,0,0,2,100,0", "PORT 192,0,2,1,100,0", "EPRT |1|127.0.0.2|2000|",
                           "SPOR 127,0,0,1,100,0 127,0,0,2,100,0", "PORT 127,0,0,1,0,79", "EPRT |1|127.0.0.1|1023|"})
    EXPECT_EQ(ask(line).code, 504) << line;
  EXPECT_EQ(ask("RETR /file").code, 425) << "nor is an earlier word good for it";
}

TEST_F(TransferParametersTest, BringDataElsewhereWhereThatIsAllowed) {
  ServeOptions options;
  options.third_party = true;
  serve(options);
  begin_blocks();
  EXPECT_EQ(ask("PORT 192,0,2,1,100,0").code, 200);
  for (const char* line : {"PORT 192,0,2,1,0,79", "PORT 0,0,0,0,100,0", "PORT 224,0,0,1,100,0"})
    EXPECT_EQ(ask(line).code, 504) << line;
}

TEST_F(TransferParametersTest, TakeDataOnlyFromWhereTheClientIs) {
  const Endpoint port = passive_port(ask("PASV")).value();
  const auto connect_from = [&](const char* address) {
    bridge::tcp::socket socket(io);
    socket.open(bridge::tcp::v4());
    socket.bind({boost::asio::ip::make_address(address), 0});
    socket.connect(bridge::to_asio(port));
    return socket;
  };
  const Bytes wire = blocks({data_header(0, 40), end_of_file(1)}, Bytes(40));
  auto stranger = connect_from("127.0.0.2");
  boost::asio::write(stranger, boost::asio::buffer(blocks({data_header(0, 40), end_of_file(1)}, random_bytes(40))));
  EXPECT_TRUE(send("STOR /x"));
  EXPECT_EQ(next_reply().code, 150);
  auto own = connect_from("127.0.0.1");
  boost::asio::write(own, boost::asio::buffer(wire));
  EXPECT_EQ(hear_end().code, 226);
  EXPECT_TRUE(folder.read("x") == Bytes(40));
}

// ---- Key pairs ------------------------------------------------------------------------------------------------------

/// Alice is logged in, and the server knows Mallory, too.
class KeyPairParametersTest : public Served {
 protected:
  void begin_sealed(bool third_party = false) {
    ServeOptions options;
    options.data = options_of(server_key_);
    options.third_party = third_party;
    server = std::make_unique<FtpServer>(io, ServedRoot::open(folder.path()).value(), std::move(options));
    ASSERT_TRUE(server->listen_sealed({bridge::loopback_v4()}));
    control_ = make_stack(io, options_of(alice));
    client = visit_over(run(io, control_->connect({server->local_endpoints().front()})).value());
    ASSERT_TRUE(client && log_in(*client));
    for (const char* line : {"MODE E", "SITE SETNETSTACK udtcat", "DCAU A", "PROT P"})
      ASSERT_EQ(ask(line).code, 200) << line;
  }
  [[nodiscard]] DataOptions options_of(const Holder& own) const {
    DataOptions data;
    data.session.application = "driver";
    data.kind = DataKind::session;
    data.session.application = "gridftp";
    data.credentials = std::make_shared<const Credentials>(pair_of(own, server_key_));
    return data;
  }
  void deliver(DataPath& from, const Endpoint& to, const Bytes& content) {
    from.aim({to});
    SendRequest request;
    request.source = std::make_shared<FileSource>(
        io, BlockStore::open_to_read(files::FileLocation(elsewhere.write("source", content))).value(),
        std::vector<files::ByteRange>(1, {0, content.size()}));
    std::ignore = run(io, from.send(1, std::move(request)));  // whoever refuses it does so later
  }

  const Holder alice = make_holder();
  const Bytes hers = random_bytes(50'000);
  const Bytes others = random_bytes(60'000);

 private:
  const Holder server_key_ = make_holder();
  const Holder mallory_ = make_holder();
  std::shared_ptr<DataStack> control_;

 protected:
  DataPath of_alice{io, make_stack(io, options_of(alice))};
  DataPath of_mallory{io, make_stack(io, options_of(mallory_))};
};

TEST_F(KeyPairParametersTest, TakeNoDataButTheClientsOwn) {
  begin_sealed();
  const Endpoint port = passive_port(ask("PASV")).value();
  EXPECT_TRUE(send("STOR /new"));
  deliver(of_mallory, port, others);
  deliver(of_alice, port, hers);
  EXPECT_EQ(hear_end().code, 226);
  EXPECT_TRUE(folder.read("new") == hers);
}

TEST_F(KeyPairParametersTest, TakeDataOfOthersInTransfersBetweenServers) {
  begin_sealed(true);
  const Endpoint port = passive_port(ask("PASV")).value();
  EXPECT_TRUE(send("STOR /new"));
  deliver(of_mallory, port, others);
  EXPECT_EQ(hear_end().code, 226);
  EXPECT_TRUE(folder.read("new") == others);
}

TEST_F(KeyPairParametersTest, BringNoDataToAnybodyButTheClient) {
  folder.write("file", others);
  begin_sealed();
  EXPECT_EQ(ask("PORT " + to_data_port(of_mallory.listen(bridge::loopback_v4()).value().front())).code, 200);
  EXPECT_TRUE(send("RETR /file"));
  EXPECT_EQ(hear_end().code, 535);
  EXPECT_EQ(ask("PORT " + to_data_port(of_alice.listen(bridge::loopback_v4()).value().front())).code, 200);
  const auto sink_of_alice = std::make_shared<MemorySink>();
  EXPECT_TRUE(send("RETR /file"));
  const auto taken = begin(io, of_alice.receive(IncomingFile(std::nullopt, {}, 1), sink_of_alice));
  EXPECT_EQ(hear_end().code, 226);
  EXPECT_TRUE(await(io, taken));
  EXPECT_TRUE(sink_of_alice->content == others);
}

}  // namespace
}  // namespace udtcat::gridftp
