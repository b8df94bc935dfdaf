// SPDX-License-Identifier: Apache-2.0
#include "trees/incoming_file.hpp"

#include <climits>
#include <future>

#include <gmock/gmock.h>
#include <sys/syscall.h>

#include "files/whole_io.hpp"
#include "support/failing_calls.hpp"
#include "trees/ends.hpp"

namespace udtcat::trees {
namespace {

/// A file whose transfer is over once that was asked so many times.
class IncomingFilesOfAnTransferOutcome : public testing::Test {
 protected:
  IncomingFilesOfAnTransferOutcome() { folder.write("f", kContent); }

  /// The file at "f", or its part, with all of its chunks.
  [[nodiscard]] BasisFile basis(bool is_part) {
    BasisFile basis;
    basis.is_part = is_part;
    if (is_part) {
      EXPECT_TRUE(files::write_whole_at(parts.top().take("f").value(), 0, kContent, "f"));
    }
    const auto file = open_basis(destination, "f", basis).value();
    EXPECT_EQ(::fstat(file.number(), &basis.status), 0);
    for (std::uint64_t chunk = 0; chunk < kChunks; ++chunk) basis.chunks.add(chunk_of(0, kContent, chunk).digest);
    return basis;
  }
  [[nodiscard]] IncomingFile incoming(bool has_part = false) {
    return {destination, file_at("f", kContent.size()), basis(has_part), false};
  }
  void expect_cut(const ScopedStatus& taken, int asked) {
    ASSERT_FALSE(taken);
    EXPECT_EQ(taken.error().error.code, Errc::connection_broken) << taken.error().message();
    EXPECT_FALSE(taken.error().is_of_name) << "it is no error of the file";
    EXPECT_EQ(asked_, asked) << "it goes on to the next chunk";
  }

  int asked_ = 0;
  int over_at_ = 2;
  Folder folder;
  const files::FileTree tree = files::FileTree::open(folder.path()).value();
  const PartialFiles parts = PartialFiles::open(tree, kJob).value();
  WrittenNames written{std::nullopt, std::nullopt, [](const std::string& /*line*/) {}};
  Destination destination{tree, parts, written, false, [this] { return ++asked_ >= over_at_; }};
};

TEST_F(IncomingFilesOfAnTransferOutcome, AreNotCopiedToTheirEnd) {
  IncomingFile file = incoming();
  ASSERT_TRUE(file.take(CopyChunks{0, 0, 2}));
  Bytes changed = kContent;
  changed.back() ^= std::byte{1};
  expect_cut(file.take(chunk_of(0, changed, 2)), 2);
  EXPECT_TRUE(parts.top().of("f").exists()) << "the next transfer goes on with it";
}

TEST_F(IncomingFilesOfAnTransferOutcome, AreNotHashedToTheirEnd) {
  IncomingFile file = incoming();
  ASSERT_TRUE(file.take(CopyChunks{0, 0, kChunks}));
  expect_cut(file.take(FileDone{0, root_of(kContent), {}}), 2);
}

TEST_F(IncomingFilesOfAnTransferOutcome, AreNotFilledWithZerosToTheirEnd) {
  auto taken = std::async(std::launch::async, [&] {
    IncomingFile file = incoming(true);
    test::fail_calls({SYS_fallocate}, EOPNOTSUPP);
    return file.take(Zeros{0, 0, kChunks});
  });
  expect_cut(taken.get(), 2);
}

TEST_F(IncomingFilesOfAnTransferOutcome, HaveNothingOfAnOlderPartThatCannotBeRemoved) {
  over_at_ = INT_MAX;
  ASSERT_TRUE(files::write_whole_at(parts.top().take("f").value(), 0, kContent, "f"));
  std::async(std::launch::async, [&] {
    IncomingFile file(destination, file_at("f", kContent.size()), std::nullopt, false);
    test::fail_calls({SYS_unlinkat}, EIO);
    EXPECT_TRUE(file.take(Zeros{0, 0, kChunks}));
    EXPECT_TRUE(file.take(FileDone{0, root_of(Bytes(kContent.size())), {}}));
  }).get();
  EXPECT_EQ(parts.top().of("f").size(), kContent.size());
  Bytes content(kContent.size());
  ASSERT_TRUE(files::read_exactly_at(parts.top().take("f").value(), 0, content, "f"));
  EXPECT_EQ(content, Bytes(kContent.size()));
}

TEST_F(IncomingFilesOfAnTransferOutcome, AreNotCopiedForAHardLink) {
  auto made = std::async(std::launch::async, [&] {
    test::fail_calls({SYS_linkat}, EPERM);
    return destination.make_hard_link("link", "f", *destination.look("f").value());
  });
  expect_cut(made.get(), 2);
  EXPECT_FALSE(folder.has("link"));
}

}  // namespace
}  // namespace udtcat::trees
