// SPDX-License-Identifier: Apache-2.0
#include "trees/disk/entry_path.hpp"

#include <string>

#include <gtest/gtest.h>

namespace udtcat::trees {
namespace {

TEST(EntryPath, HasWordsOrIsTheDirectoryItself) {
  for (const std::string& path : {std::string("."), std::string("a"), std::string("a/b/c"), std::string(" \n\xff/..."),
                                  std::string(".udtcat-parts2"), std::string("a/.udtcat-parts-/b"),
                                  std::string(255, 'x') + '/' + std::string(255, 'y')})
    EXPECT_TRUE(is_entry_path(path)) << path;
}

TEST(EntryPath, NeverLeadsOutside) {
  for (const std::string& path :
       {std::string(), std::string(".."), std::string("/a"), std::string("a/"), std::string("a//b"), std::string("./a"),
        std::string("a/."), std::string("a/../b"), std::string("a\0b", 3), std::string(256, 'x'), std::string("/"),
        std::string(".udtcat-parts"), std::string(".udtcat-parts/1/x"), std::string("a/.udtcat-parts"),
        std::string("a/.udtcat-parts-1000/b"), std::string("a/b/.udtcat-parts-1000-2")})
    EXPECT_FALSE(is_entry_path(path)) << path;
}

TEST(PartsName, IsReservedAtAnyDepth) {
  for (const char* word : {".udtcat-parts", ".udtcat-parts-0", ".udtcat-parts-1000", ".udtcat-parts-1000-12"}) {
    EXPECT_TRUE(is_parts_name(word)) << word;
    EXPECT_TRUE(has_parts_name("a/" + std::string(word) + "/b")) << word;
  }
  for (const char* word :
       {"", ".udtcat-part", ".udtcat-parts2", ".udtcat-parts-", ".udtcat-parts-a", ".udtcat-parts-1-",
        ".udtcat-parts-1-2-3", ".udtcat-parts-1a", "x.udtcat-parts", ".udtcat-parts--1"}) {
    EXPECT_FALSE(is_parts_name(word)) << word;
    EXPECT_FALSE(has_parts_name("a/" + std::string(word) + "/b")) << word;
  }
}

/// Proves: trees.entry-path-length
TEST(EntryPath, HasALengthLimit) {
  std::string path = "ab";
  while (path.size() < 4096) path += "/x";
  EXPECT_EQ(path.size(), 4096U);
  EXPECT_TRUE(is_entry_path(path));
  EXPECT_FALSE(is_entry_path(path + 'x'));
}

TEST(LinkTarget, IsAnyTextWithinItsLimit) {
  EXPECT_TRUE(is_link_target("../../etc//passwd"));
  EXPECT_TRUE(is_link_target(std::string(kMaxLinkTargetBytes, 'x')));
  EXPECT_FALSE(is_link_target(std::string(kMaxLinkTargetBytes + 1, 'x')));
  EXPECT_FALSE(is_link_target(""));
  EXPECT_FALSE(is_link_target({"a\0b", 3}));
}

}  // namespace
}  // namespace udtcat::trees
