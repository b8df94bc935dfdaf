#include "gridftp/server/transfer_parameters.hpp"

#include <gmock/gmock.h>
#include <boost/asio/write.hpp>

#include "gridftp/server/served_words.hpp"

namespace udtcat::gridftp {
namespace {

using testing::HasSubstr;

/// As commands to a server.
class TransferParametersTest : public Served {
 protected:
  TransferParametersTest() {
    folder.write("file", random_bytes(1'000));
    serve();
    begin_blocks();
  }
};

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
  options.data.key = std::make_shared<const Credentials>(Key::generate().value());
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

TEST_F(TransferParametersTest, RefusePortsThatAreNone) {
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

}  // namespace
}  // namespace udtcat::gridftp
