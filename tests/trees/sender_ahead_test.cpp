// SPDX-License-Identifier: Apache-2.0
/// src/trees/sender.cpp: how far ahead of the receiver's answers entries are sent.
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "trees/ends.hpp"

namespace udtcat::trees {
namespace {

/// Proves: trees.entries-ahead
TEST(SendersAhead, StopAt32768UnacknowledgedEntries) {
  const Folder folder;
  std::filesystem::create_directory(folder / "from");
  for (int i = 0; i < 33'000; ++i) folder.write("from/" + std::to_string(i), Bytes());
  SendingEnd end(Source::of_tree(files::FileTree::open(folder / "from").value(), {}).value(), false);
  for (int i = 0; i < 32'768; ++i) ASSERT_FALSE(end.peer.hear<Entry>().path.empty()) << i;
  end.peer.say(Failed{Errc::interrupted, "enough"});
  EXPECT_EQ(end.peer.count_out<Entry>(), 0U);
}

}  // namespace
}  // namespace udtcat::trees
