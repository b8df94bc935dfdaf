// SPDX-License-Identifier: Apache-2.0
#include "tool/run/endpoint_setup.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipe/pipe_options.hpp"

namespace udtcat::tool {
namespace {

std::vector<Endpoint> endpoints(const std::vector<std::string>& hosts) {
  std::vector<Endpoint> found;
  for (const auto& host : hosts) found.push_back(resolve({host, 9000}, AddressFamily::any).value().front());
  return found;
}

std::string advertised(const std::vector<std::string>& locals, const std::vector<std::string>& interfaces) {
  return advertised_host(endpoints(locals), endpoints(interfaces));
}

TEST(ListenRequests, OfAPipeTakeOneSessionAndOfAForwardMany) {
  const auto limits_of = [](const Words& words) {
    return make_listen_request(pipe::parse_pipe_options(words).value(), std::nullopt).value().limits;
  };
  EXPECT_EQ(limits_of({"-l", "127.0.0.1:9000"}).peers, 1U);
  EXPECT_EQ(limits_of({"-l", "127.0.0.1:9000"}).sessions_per_peer, 1U);
  EXPECT_GT(limits_of({"-l", "127.0.0.1:9000", "--to", "localhost:80"}).sessions_per_peer, 1U);
}

TEST(AdvertisedHost, NamesTheAddressThatIsBound) {
  EXPECT_EQ(advertised({"127.0.0.1"}, {"192.0.2.1"}), "127.0.0.1");
  EXPECT_EQ(advertised({"2001:db8::1"}, {"192.0.2.1"}), "2001:db8::1");
}

TEST(AdvertisedHost, NamesAnAddressThatOthersCanReach) {
  EXPECT_EQ(advertised({"0.0.0.0", "::"}, {"127.0.0.1", "169.254.1.1", "192.0.2.1", "192.0.2.2"}), "192.0.2.1");
  EXPECT_EQ(advertised({"0.0.0.0", "::"}, {"::1", "fe80::1", "2001:db8::1"}), "2001:db8::1");
  EXPECT_EQ(advertised({"0.0.0.0"}, {"10.0.0.1"}), "10.0.0.1");
}

TEST(AdvertisedHost, NamesNoFamilyThatIsNotBound) {
  EXPECT_EQ(advertised({"::"}, {"192.0.2.1", "2001:db8::1"}), "2001:db8::1");
  EXPECT_EQ(advertised({"0.0.0.0"}, {"2001:db8::1", "192.0.2.1"}), "192.0.2.1");
}

TEST(AdvertisedHost, NamesLoopbackOnAHostWithoutNetwork) {
  EXPECT_EQ(advertised({"0.0.0.0", "::"}, {"127.0.0.1", "::1"}), "127.0.0.1");
  EXPECT_EQ(advertised({"::"}, {}), "::1");
}

TEST(AdvertisedHost, NamesNoWildcardAddress) {
  EXPECT_EQ(advertised_address(endpoints({"127.0.0.1"}).front()), "127.0.0.1:9000");
  EXPECT_EQ(advertised_address(endpoints({"::1"}).front()), "[::1]:9000");
  const std::string place = advertised_address(endpoints({"0.0.0.0"}).front());
  EXPECT_NE(place, "0.0.0.0:9000");
  EXPECT_EQ(place.substr(place.rfind(':')), ":9000");
}

TEST(AdvertisedHost, SaysThisHostForALoopbackListener) {
  EXPECT_THAT(counterpart_hint(endpoints({"127.0.0.1", "::1"})), testing::HasSubstr("run on this host, as no other"));
  for (const char* reached : {"0.0.0.0", "192.0.2.1", "::"})
    EXPECT_THAT(counterpart_hint(endpoints({reached})), testing::HasSubstr("run on the other host")) << reached;
  EXPECT_THAT(counterpart_hint(endpoints({"0.0.0.0"})), testing::HasSubstr("-k /dev/tty: even if it finds another"))
      << "it may have a key of its own";
}

class CounterpartCommand : public testing::Test {
 protected:
  [[nodiscard]] std::string command() const { return counterpart_command(options_, "192.0.2.1", 9000); }
  const std::string plain_ = "udtcat 192.0.2.1 9000";
  Options options_;
};

TEST_F(CounterpartCommand, HasNoUnneededOptions) { EXPECT_EQ(command(), plain_); }

TEST_F(CounterpartCommand, HasTheOptionsThatMustMatch) {
  options_.session.protection = Protection::safe;
  options_.session.cipher = Cipher::chacha20_poly1305;
  EXPECT_EQ(command(), plain_ + " --protect safe --cipher chacha20-poly1305");
}

TEST_F(CounterpartCommand, HasTheOtherDirectionOfAOneWayPipe) {
  options_.session.sends = false;
  EXPECT_EQ(command(), plain_ + " --send-only");
  options_.session.sends = true;
  options_.session.receives = false;
  EXPECT_EQ(command(), plain_ + " --recv-only");
}

TEST_F(CounterpartCommand, HasTheNamesExchanged) {
  options_.session.own_name = "here";
  options_.session.expected_peer = "it's";
  EXPECT_EQ(command(), plain_ + " --as 'it'\\''s' --peer here");
  options_.session.protection = Protection::safe;
  options_.counterpart = "udtcat other --port {port}{names} {host} COMMAND";
  EXPECT_EQ(command(), "udtcat other --port 9000 --as 'it'\\''s' --peer here 192.0.2.1 COMMAND");
}

TEST_F(CounterpartCommand, ForAServiceListensOnAnUnprivilegedPort) {
  options_ = pipe::parse_pipe_options({"-l", "9000", "--to", "db:5432"}).value();
  EXPECT_EQ(command(), plain_ + " --from 5432");
  options_ = pipe::parse_pipe_options({"-l", "9000", "--to", "web:80"}).value();
  EXPECT_EQ(command(), plain_ + " --from 8080");
}

TEST_F(CounterpartCommand, IsAccepted) {
  options_.session.protection = Protection::safe;
  std::istringstream words(command());
  const Words all{std::next(std::istream_iterator<std::string>(words)), {}};
  const auto parsed = pipe::parse_pipe_options(all);
  ASSERT_TRUE(parsed) << parsed.error().message();
  EXPECT_EQ(parsed->peer.host, "192.0.2.1");
  EXPECT_EQ(parsed->session.protection, Protection::safe);
}

TEST(ListenAddresses, TakeOneAddressOfEachFamily) {
  EXPECT_EQ(one_per_family(endpoints({"192.0.2.1", "::1", "192.0.2.2"})), endpoints({"192.0.2.1", "::1"}));
}

TEST(ListenAddresses, FailWithoutAnAddress) {
  const Options options{.peer = {"nowhere.invalid", 9000}};
  const auto request = make_dial_request(options, std::nullopt);
  ASSERT_FALSE(request);
  EXPECT_EQ(request.error().code, Errc::cannot_resolve);
}

}  // namespace
}  // namespace udtcat::tool
