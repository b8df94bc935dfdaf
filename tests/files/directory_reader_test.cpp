// SPDX-License-Identifier: Apache-2.0
#include "files/directory_reader.hpp"

#include <filesystem>
#include <set>
#include <thread>

#include <fcntl.h>

#include "files/folder.hpp"
#include "support/failing_calls.hpp"

namespace udtcat::files {
namespace {

DirectoryReader reader_of(const std::string& path) {
  return DirectoryReader(bridge::Descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
}

TEST(DirectoryReaderTest, GivesAllNamesBeyondOneAnswerOfTheKernel) {
  const Folder folder;
  std::set<std::string> made;
  for (int number = 0; number < 1'000; ++number)
    folder.write(*made.insert("a rather long name of a file, number " + std::to_string(number)).first, {});
  DirectoryReader reader = reader_of(folder.path());
  std::set<std::string> found;
  for (auto name = reader.next().value(); name; name = reader.next().value()) EXPECT_TRUE(found.insert(*name).second);
  EXPECT_EQ(found, made);
  EXPECT_EQ(reader.next().value(), std::nullopt) << "once more";
}

TEST(DirectoryReaderTest, EndsInADirectoryThatWasRemoved) {
  const Folder folder;
  std::filesystem::create_directory(folder / "gone");
  DirectoryReader reader = reader_of(folder / "gone");
  std::filesystem::remove(folder / "gone");
  EXPECT_EQ(reader.next().value(), std::nullopt);
}

TEST(DirectoryReaderTest, TakesTheSameErrorOfADirectoryThatIsThereForAnError) {
  const Folder folder;
  folder.write("a", {});
  std::thread([&] {
    DirectoryReader reader = reader_of(folder.path());
    test::fail_calls({SYS_getdents64}, ENOENT);
    const auto name = reader.next();
    ASSERT_FALSE(name);
    EXPECT_EQ(name.error(), ENOENT);
  }).join();
}

}  // namespace
}  // namespace udtcat::files
