// SPDX-License-Identifier: Apache-2.0
#include "lib/net/http_proxy.hpp"

#include <gmock/gmock.h>

namespace udtcat::net {
namespace {

using State = ProxyAnswer::State;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

ProxyAnswer decoded(std::string_view text) { return decode_proxy_answer(std::as_bytes(std::span(text))); }

constexpr std::string_view kConnected = "HTTP/1.1 200 Connection established\r\nProxy-agent: tinyproxy/1.11.1\r\n\r\n";

TEST(ProxyAnswers, AreReadToTheEmptyLine) {
  const ProxyAnswer answer = decoded(std::string(kConnected) + "more");
  ASSERT_EQ(answer.state, State::complete);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.reason, "Connection established");
  EXPECT_EQ(answer.header_bytes, kConnected.size());
  EXPECT_TRUE(answer.is_connected());
}

TEST(ProxyAnswers, AreWaitedForAtEachTruncation) {
  for (std::size_t length = 0; length < kConnected.size(); ++length)
    EXPECT_EQ(decoded(kConnected.substr(0, length)).state, State::incomplete) << length;
}

TEST(ProxyAnswers, AreRefusedWithAChangedStatusLine) {
  constexpr std::string_view kChecked = "HTTP/1.1 200";
  for (std::size_t at = 0; at < kChecked.size(); ++at)
    for (int value = 0; value < 256; ++value) {
      std::string changed(kConnected);
      changed[at] = static_cast<char>(value);
      const ProxyAnswer answer = decoded(changed);
      const bool is_digit = value >= '0' && value <= '9' && (at == 7 || at > 9 || (at == 9 && value > '0'));
      if (changed == kConnected || is_digit)
        EXPECT_NE(answer.state, State::malformed) << at << ' ' << value;
      else
        EXPECT_EQ(answer.state, State::malformed) << at << ' ' << value;
    }
}

TEST(ProxyAnswers, HaveTheFormsOfOlderProxies) {
  EXPECT_EQ(decoded("HTTP/1.0 200\r\n\r\n").status, 200);
  EXPECT_EQ(decoded("HTTP/1.0 200 \n\n").status, 200);
  EXPECT_EQ(decoded("HTTP/1.1 403 Forbidden\r\nA: b\n\r\n<html>").status, 403);
}

TEST(ProxyAnswers, FollowInterimOnes) {
  const ProxyAnswer answer =
      decoded("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: a\r\n\r\n" + std::string(kConnected));
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(decoded("HTTP/1.1 100 Continue\r\n\r\nHTT").state, State::incomplete);
  EXPECT_EQ(decoded("HTTP/1.1 100 Continue\r\n\r\nSSH").state, State::malformed);
}

/// Proves: tcp.proxy-answer-length
TEST(ProxyAnswers, HaveALimit) {
  std::string endless = "HTTP/1.1 200 OK\r\n";
  endless.append(16'384, 'a');
  EXPECT_EQ(decoded(endless).state, State::malformed);
  EXPECT_EQ(decoded(endless.substr(0, 16'384)).state, State::incomplete);
}

TEST(ProxyUrls, NameAHostAPortAndAUser) {
  const auto plain = parse_proxy("http://proxy.example.org:3128");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->at.host, "proxy.example.org");
  EXPECT_EQ(plain->at.port, 3128);
  EXPECT_THAT(plain->credentials, IsEmpty());
  EXPECT_EQ(parse_proxy("proxy:1/").value().at.host, "proxy");
  EXPECT_EQ(parse_proxy("HTTP://[2001:db8::1]:8080").value().at.host, "2001:db8::1");
  const auto user = parse_proxy("http://alice:p%40ss:w%3ard@proxy:1");
  ASSERT_TRUE(user);
  EXPECT_EQ(user->credentials, "alice:p@ss:w:rd");
}

TEST(ProxyUrls, AreRefusedOtherwiseWithoutThePassword) {
  for (const char* url : {"", "proxy", "http://", "http://proxy", "https://proxy:1", "socks5://proxy:1", "http://u@p:1",
                          "http://u:secret%@p:1", "http://u:secret%zz@p:1", "http://u:secret%0a@p:1",
                          "http://u:secret@p", "http://u:secret@p:1/path", "http://u:secret@p:99999"}) {
    const auto parsed = parse_proxy(url);
    ASSERT_FALSE(parsed) << url;
    EXPECT_THAT(parsed.error().message(), Not(HasSubstr("secret")));
  }
}

TEST(ProxyExceptions, AreNamesAddressesAndPrefixes) {
  HttpProxy proxy;
  proxy.exceptions = parse_proxy_exceptions("intranet.example, .other.example ,192.0.2.1,,10.0.0.0/9,2001:db8::/32");
  EXPECT_THAT(proxy.exceptions,
              ElementsAre("intranet.example", ".other.example", "192.0.2.1", "10.0.0.0/9", "2001:db8::/32"));
  for (const char* host : {"intranet.example", "a.Intranet.example", "other.example", "a.other.example", "192.0.2.1",
                           "10.127.0.1", "2001:db8:1::2", "[2001:db8:1::2]"})
    EXPECT_FALSE(goes_by(proxy, host)) << host;
  for (const char* host : {"notintranet.example", "example", "192.0.2.10", "10.128.0.1", "2001:db9::1", "", "0.0.0.0"})
    EXPECT_TRUE(goes_by(proxy, host)) << host;
  proxy.exceptions = {"*"};
  EXPECT_FALSE(goes_by(proxy, "anybody.example"));
  proxy.exceptions = {"", ".", "/", "10.0.0.0/", "10.0.0.0/33", "::/999"};
  EXPECT_TRUE(goes_by(proxy, "10.0.0.1"));
  EXPECT_TRUE(goes_by(proxy, "a.example"));
}

TEST(ProxyExceptions, AreThisHostAlways) {
  for (const char* host : {"localhost", "LOCALHOST", "127.0.0.1", "127.1.2.3", "::1", "[::1]"})
    EXPECT_FALSE(goes_by(HttpProxy{}, host)) << host;
}

TEST(ProxyRequests, NameTheTargetAndTheUser) {
  HttpProxy proxy{.at = {"proxy", 1}};
  EXPECT_EQ(connect_request(proxy, {"2001:db8::1", 9000}),
            "CONNECT [2001:db8::1]:9000 HTTP/1.1\r\nHost: [2001:db8::1]:9000\r\n\r\n");
  proxy.credentials = "Aladdin:open sesame";  // RFC 7617 §2
  EXPECT_THAT(connect_request(proxy, {"a.example", 443}),
              HasSubstr("\r\nProxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n\r\n"));
  proxy.credentials = "a:b";
  EXPECT_THAT(connect_request(proxy, {"a.example", 443}), HasSubstr("Basic YTpi\r\n"));
  proxy.credentials = "a:bc";
  EXPECT_THAT(connect_request(proxy, {"a.example", 443}), HasSubstr("Basic YTpiYw==\r\n"));
}

TEST(ProxyRefusals, SayWhatWouldHelp) {
  HttpProxy proxy{.at = {"proxy", 3128}};
  const HostPort target{"a.example", 9000};
  const auto text = [&](int status, std::string reason) {
    return refusal_text(proxy, target, {.state = State::complete, .status = status, .reason = std::move(reason)});
  };
  EXPECT_THAT(text(403, "Forbidden"), testing::StartsWith(kProxyRefuses));
  EXPECT_THAT(text(403, "Forbidden"), HasSubstr("proxy:3128 answers 403 Forbidden to a connection to a.example:9000"));
  EXPECT_THAT(text(403, "Forbidden"), HasSubstr("udtcat meet -l 443"));
  EXPECT_THAT(text(407, ""), HasSubstr("http://USER:PASSWORD@HOST:PORT"));
  EXPECT_THAT(text(403, "\x1b[2J"), Not(HasSubstr("\x1b")));
  EXPECT_THAT(text(502, "Bad Gateway"), Not(testing::StartsWith(kProxyRefuses)));
  proxy.credentials = "u:secret";
  EXPECT_THAT(text(407, ""), testing::AllOf(HasSubstr("does not take"), Not(HasSubstr("secret"))));
}

}  // namespace
}  // namespace udtcat::net
