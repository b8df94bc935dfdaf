#include "gridftp/dialogue/peer_path.hpp"

#include <gtest/gtest.h>

namespace udtcat::gridftp {
namespace {

TEST(PeerPath, IsFromTheRootOrFromWhereThePeerStands) {
  EXPECT_EQ(peer_path("/a", "/x/y"), "/x/y");
  EXPECT_EQ(peer_path("/a", "x/y"), "/a/x/y");
  EXPECT_EQ(peer_path("/", "x"), "/x");
  EXPECT_EQ(peer_path("/a/b", ""), "/a/b");
  EXPECT_EQ(peer_path("/a/b", ".."), "/a");
}

TEST(PeerPath, EndsAtTheRoot) {
  for (const char* path : {"..", "/..", "../..", "/../../..", "a/../../..", "/./..", "//..//", "~/..", "/~/../.."})
    EXPECT_EQ(peer_path("/", path), "/") << path;
  EXPECT_EQ(peer_path("/a", "../../../etc/passwd"), "/etc/passwd");
}

TEST(PeerPath, KnowsTheHomeOfGlobus) {
  EXPECT_EQ(peer_path("/a", "~"), "/");
  EXPECT_EQ(peer_path("/a", "~/x"), "/x");
  EXPECT_EQ(peer_path("/a", "/~/x"), "/x");
  EXPECT_EQ(peer_path("/a", "~x"), "/a/~x") << "a name like any other";
}

TEST(PeerPath, KeepsNamesThatOnlyLookStrange) { EXPECT_EQ(peer_path("/", "/...//.. /\xc3\xa9"), "/.../.. /\xc3\xa9"); }

}  // namespace
}  // namespace udtcat::gridftp
