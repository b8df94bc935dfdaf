// SPDX-License-Identifier: Apache-2.0
#include "gridftp/disk/restart_journal.hpp"

#include "gridftp/support.hpp"

namespace udtcat::gridftp {
namespace {

const files::ByteRanges kHave = files::ByteRanges::parse("0-4096,8192-12288").value();

TEST(RestartJournal, SurvivesASaveAndLoad) {
  const Folder folder;
  const RestartJournal journal(files::FileLocation(folder / "file.part.have"), "ftp://host/file 5 6");
  EXPECT_FALSE(journal.load()) << "before it was saved";
  EXPECT_TRUE(journal.save(files::ByteRanges::parse("0-1").value()));
  EXPECT_TRUE(journal.save(kHave));
  EXPECT_EQ(journal.load()->ranges(), kHave.ranges());
  EXPECT_FALSE(RestartJournal(files::FileLocation(folder / "file.part.have"), "ftp://host/file 5 7").load());
  EXPECT_FALSE(folder.has("file.part.have.new"));
  journal.remove();
  EXPECT_FALSE(journal.load());
}

TEST(RestartJournal, IsValidForOneSourceAndOneBoot) {
  const std::string text = RestartJournal::to_text("boot", "source", kHave);
  EXPECT_EQ(RestartJournal::parse(text, "boot", "source")->ranges(), kHave.ranges());
  EXPECT_FALSE(RestartJournal::parse(text, "other", "source"));
  EXPECT_FALSE(RestartJournal::parse(text, "boot", "other"));
}

TEST(RestartJournal, IsIgnoredWhenTruncated) {
  const std::string text = RestartJournal::to_text("boot", "source", kHave);
  for (std::size_t bytes = 0; bytes < text.size(); ++bytes)
    EXPECT_FALSE(RestartJournal::parse(text.substr(0, bytes), "boot", "source")) << bytes;
}

TEST(RestartJournal, OfOtherTextIsIgnored) {
  const std::string head = RestartJournal::to_text("boot", "source", {});
  for (const std::string& wrong : {std::string("\n"), head + head, head.substr(0, head.size() - 1) + "5-4\n",
                                   head.substr(0, head.size() - 1) + "a-b\n", std::string(100, '\0') + '\n'})
    EXPECT_FALSE(RestartJournal::parse(wrong, "boot", "source")) << wrong;
}

TEST(RestartJournal, BelongsToOneFileAndIsReadWhereItBelongsToNone) {
  const std::string text = RestartJournal::to_text("boot", "source", kHave, "5.000000001");
  EXPECT_EQ(text, "udtcat restart 1\nboot boot\nof source\npart 5.000000001\nhave 0-4096,8192-12288\n");
  EXPECT_EQ(RestartJournal::parse(text, "boot", "source")->ranges(), kHave.ranges());
  for (std::size_t bytes = 0; bytes < text.size(); ++bytes)
    EXPECT_FALSE(RestartJournal::parse(text.substr(0, bytes), "boot", "source")) << bytes;
  const Folder folder;
  const files::FileLocation location(folder / "journal");
  EXPECT_FALSE(RestartJournal::proves(location, "5.000000001"));
  ASSERT_TRUE(RestartJournal(location, "source", "5.000000001").begin());
  EXPECT_TRUE(RestartJournal::proves(location, "5.000000001")) << "before there are ranges";
  ASSERT_TRUE(RestartJournal(location, "source", "5.000000001").save(kHave));
  EXPECT_TRUE(RestartJournal::proves(location, "5.000000001"));
  EXPECT_FALSE(RestartJournal::proves(location, "5.000000002"));
  ASSERT_TRUE(RestartJournal(location, "source").save(kHave));
  EXPECT_TRUE(RestartJournal::proves(location, "5.000000002")) << "its file system does not tell";
}

TEST(RestartJournal, LeavesAUsersFilesAlone) {
  const Folder folder;
  const RestartJournal journal(files::FileLocation(folder / "journal"), "source");
  const Bytes mine(10, std::byte{1});
  for (const char* name : {"journal", "journal.new"}) {
    folder.write(name, mine);
    EXPECT_FALSE(journal.save(kHave)) << name;
    EXPECT_FALSE(journal.begin()) << name;
    journal.remove();
    EXPECT_TRUE(folder.read(name) == mine) << name;
    std::filesystem::remove(folder / name);
  }
  folder.write("other", mine);
  std::filesystem::create_symlink("other", folder / "journal.new");
  EXPECT_FALSE(journal.save(kHave));
  EXPECT_TRUE(folder.read("other") == mine);
  std::filesystem::remove(folder / "journal.new");
  EXPECT_TRUE(journal.save(kHave));
  std::filesystem::create_hard_link(folder / "journal", folder / "second");
  EXPECT_FALSE(journal.load()) << "under two names it may be anybody's";
}

TEST(RestartJournal, IsWrittenAgainAfterAKillInTheMiddleOfIt) {
  const Folder folder;
  const RestartJournal journal(files::FileLocation(folder / "journal"), "source");
  ASSERT_TRUE(journal.save(kHave));
  folder.write("journal.new", {});
  EXPECT_TRUE(RestartJournal::may_be_at(files::FileLocation(folder / "journal")));
  EXPECT_TRUE(journal.save(files::ByteRanges::parse("0-1").value()));
  EXPECT_EQ(journal.load()->to_text(), "0-1");
}

TEST(RestartJournal, IsWrittenAgainWhereAPowerCutHasLeftZeros) {
  const Folder folder;
  const files::FileLocation location(folder / "journal");
  const RestartJournal journal(location, "source");
  for (const char* name : {"journal", "journal.new"}) {
    folder.write(name, Bytes(100, std::byte{0}));
    EXPECT_TRUE(RestartJournal::proves(location, files::FileLocation(folder / name).birth())) << name;
    EXPECT_TRUE(RestartJournal::proves(location, "86.100000000")) << "before the clock was set";
    EXPECT_FALSE(RestartJournal::proves(location, "9999999999.000000000")) << "a file that was made later is a user's";
    EXPECT_TRUE(journal.save(kHave)) << name;
    EXPECT_EQ(journal.load()->ranges(), kHave.ranges()) << name;
    journal.remove();
  }
  Bytes other(100, std::byte{0});
  other.back() = std::byte{1};
  folder.write("journal", other);
  EXPECT_FALSE(RestartJournal::proves(location, "5.000000001")) << "it is a user's";
  EXPECT_FALSE(journal.save(kHave));
}

TEST(RestartJournal, KeepsItsProofWhileItBeginsAgain) {
  const Folder folder;
  const RestartJournal journal(files::FileLocation(folder / "journal"), "source", "12.000000001");
  ASSERT_TRUE(journal.begin());
  ASSERT_FALSE(folder.has("journal"));
  ASSERT_TRUE(journal.begin());
  EXPECT_TRUE(RestartJournal::proves(files::FileLocation(folder / "journal"), "12.000000001"));
  EXPECT_FALSE(folder.has("journal"));
}

TEST(RestartJournal, TellsWhereItCannotBeWritten) {
  const RestartJournal journal(files::FileLocation("/no/such/place"), "source");
  EXPECT_EQ(journal.save(kHave).error().code, Errc::local_write_failed);
}

TEST(RestartJournal, IsNotADirectoryOfThatName) {
  const Folder folder;
  std::filesystem::create_directory(folder / "journal");
  EXPECT_FALSE(RestartJournal(files::FileLocation(folder / "journal"), "source").load());
}

}  // namespace
}  // namespace udtcat::gridftp
