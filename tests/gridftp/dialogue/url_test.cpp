// SPDX-License-Identifier: Apache-2.0
#include "gridftp/dialogue/url.hpp"

#include <gmock/gmock.h>

namespace udtcat::gridftp {
namespace {

TEST(FtpUrl, NamesNothingThatACommandCannotCarry) {
  for (const char* path : {"a%0Ab", "a%0Db", "a%00b", "a%FFb"})
    EXPECT_EQ(parse_ftp_url(std::string("ftp://host/") + path).error().code, Errc::bad_argument) << path;
  EXPECT_TRUE(can_be_said("a b\t\xc3\xa9%") && !can_be_said("a\nb") && !can_be_said("a\xff"));
}

TEST(FtpUrl, HasTheDefaultsOfGlobus) {
  const FtpUrl url = parse_ftp_url("ftp://host/data/file").value();
  EXPECT_EQ(url.user, "anonymous");
  EXPECT_EQ(url.server.host, "host");
  EXPECT_EQ(url.server.port, 2811);
  EXPECT_EQ(url.path, "/data/file");
}

TEST(FtpUrl, TakesUserPortAndAddresses) {
  const FtpUrl url = parse_ftp_url("ftp://me%40home@[2001:db8::1]:2900/a%20b").value();
  EXPECT_EQ(url.user, "me@home");
  EXPECT_EQ(url.server.host, "2001:db8::1");
  EXPECT_EQ(url.server.port, 2900);
  EXPECT_EQ(url.path, "/a b");
  EXPECT_EQ(parse_ftp_url("ftp://[::1]/x").value().server.port, 2811);
  EXPECT_EQ(parse_ftp_url("ftp://host:2900/x").value().to_string(), "ftp://host:2900/x");
}

TEST(FtpUrl, NamesWhatIsWrong) {
  for (const char* wrong :
       {"http://host/x", "ftp://host", "ftp:///x", "ftp://@host/x", "ftp://a:b@host/x", "ftp://host/%0d%0aDELE x",
        "ftp://host/%2", "ftp://host/%zz", "ftp://host:0x10/x", "ftp://host:99999/x", "ftp://host/%00"}) {
    const auto url = parse_ftp_url(wrong);
    ASSERT_FALSE(url) << wrong;
    EXPECT_EQ(url.error().code, Errc::bad_argument);
    EXPECT_GT(url.error().message().size(), 10U);
  }
}

TEST(AbsolutePath, IsFromTheRootOrFromWhereThePeerStands) {
  EXPECT_EQ(absolute_path("/a", "/x/y"), "/x/y");
  EXPECT_EQ(absolute_path("/a", "x/y"), "/a/x/y");
  EXPECT_EQ(absolute_path("/", "x"), "/x");
  EXPECT_EQ(absolute_path("/a/b", ""), "/a/b");
  EXPECT_EQ(absolute_path("/a/b", ".."), "/a");
}

TEST(AbsolutePath, EndsAtTheRoot) {
  for (const char* path : {"..", "/..", "../..", "/../../..", "a/../../..", "/./..", "//..//", "~/..", "/~/../.."})
    EXPECT_EQ(absolute_path("/", path), "/") << path;
  EXPECT_EQ(absolute_path("/a", "../../../etc/passwd"), "/etc/passwd");
}

TEST(AbsolutePath, KnowsTheHomeOfGlobus) {
  EXPECT_EQ(absolute_path("/a", "~"), "/");
  EXPECT_EQ(absolute_path("/a", "~/x"), "/x");
  EXPECT_EQ(absolute_path("/a", "/~/x"), "/x");
  EXPECT_EQ(absolute_path("/a", "~x"), "/a/~x") << "a name like any other";
}

TEST(AbsolutePath, KeepsNamesThatOnlyLookStrange) {
  EXPECT_EQ(absolute_path("/", "/...//.. /\xc3\xa9"), "/.../.. /\xc3\xa9");
}

}  // namespace
}  // namespace udtcat::gridftp
