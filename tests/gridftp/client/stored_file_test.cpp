// SPDX-License-Identifier: Apache-2.0
#include "gridftp/client/stored_file.hpp"

#include <gtest/gtest.h>

namespace udtcat::gridftp {
namespace {

std::optional<ListedFile> listed(std::vector<std::string> lines, int code = 250) {
  return parse_listed_file(Reply{code, std::move(lines)});
}

TEST(ListedFiles, AreReadAsServersWriteThem) {
  const auto globus = listed({"status of f", " Type=file;Size=5;Modify=20261126000000; /top/w/a b", "End."});
  ASSERT_TRUE(globus);
  EXPECT_EQ(globus->path, "/top/w/a b");
  EXPECT_EQ(globus->bytes, 5U);
  const auto other = listed({"Begin", "size=18446744073709551615;type=file; \xc3\xbc", "End"});
  ASSERT_TRUE(other);
  EXPECT_EQ(other->path, "\xc3\xbc");
  EXPECT_EQ(other->bytes, ~std::uint64_t{0});
}

TEST(ListedFiles, NeedNotSayTheSize) {
  for (const char* facts : {"Type=dir;", "Unique=;", "MySize=5;", "Size=;", "Size=x;", ""}) {
    const auto without = listed({"Begin", ' ' + std::string(facts) + " name", "End"});
    ASSERT_TRUE(without) << facts;
    EXPECT_FALSE(without->bytes) << facts;
  }
}

TEST(ListedFiles, AreNoneWhereNothingIsNamed) {
  EXPECT_FALSE(listed({"550 none"}, 550));
  EXPECT_FALSE(listed({"Begin", " Size=5; name", "End"}, 500));
  EXPECT_FALSE(listed({"Begin", "End"}));
  for (const char* line : {"", " ", "Size=5;", "Size=5; "}) EXPECT_FALSE(listed({"Begin", line, "End"})) << line;
}

TEST(Paths, AreComparedAsFarAsBothGo) {
  for (const char* said : {"/top/w/d\xc3\xbcr/x", "d\xc3\xbcr/x", "x", "/./d\xc3\xbcr//x", ""})
    EXPECT_TRUE(is_same_path(said, "w/d\xc3\xbcr/x")) << said;
  EXPECT_TRUE(is_same_path("/a/d\xc3\xbcr", "/a/b/../d\xc3\xbcr"));
  EXPECT_TRUE(is_same_path("/home/u/d\xc3\xbcr", "/~/d\xc3\xbcr"));
  EXPECT_TRUE(is_same_path("/link's/target/x", "/link/x")) << "names in ASCII are not changed";
  std::string far = "x";
  for (int step = 0; step < 500'000; ++step) far += "/.";
  EXPECT_TRUE(is_same_path(far, "w/x"));
  for (const char* said : {"/top/w/dr/x", "dr/x", "/top/w/y/x"})
    EXPECT_FALSE(is_same_path(said, "w/d\xc3\xbcr/x")) << said;
}

}  // namespace
}  // namespace udtcat::gridftp
