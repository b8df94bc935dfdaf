#include "gridftp/restart_journal.hpp"

#include "gridftp/words.hpp"

namespace udtcat::gridftp {
namespace {

const ByteRanges kHave = ByteRanges::parse("0-4096,8192-12288").value();

TEST(RestartJournal, ComesBackAsItWasSaved) {
  const Folder folder;
  const RestartJournal journal(FilePlace(folder / "file.part.have"), "ftp://host/file 5 6");
  EXPECT_TRUE(journal.load().empty()) << "before it was saved";
  EXPECT_TRUE(journal.save(ByteRanges::parse("0-1").value()));
  EXPECT_TRUE(journal.save(kHave));
  EXPECT_EQ(journal.load().ranges(), kHave.ranges());
  EXPECT_TRUE(RestartJournal(FilePlace(folder / "file.part.have"), "ftp://host/file 5 7").load().empty());
  EXPECT_FALSE(folder.has("file.part.have.new"));
  journal.remove();
  EXPECT_TRUE(journal.load().empty());
}

TEST(RestartJournal, HoldsForOneSourceAndOneStartOfTheMachine) {
  const std::string text = RestartJournal::to_text("boot", "source", kHave);
  EXPECT_EQ(RestartJournal::parse(text, "boot", "source").ranges(), kHave.ranges());
  EXPECT_TRUE(RestartJournal::parse(text, "other", "source").empty());
  EXPECT_TRUE(RestartJournal::parse(text, "boot", "other").empty());
  EXPECT_TRUE(RestartJournal::parse(RestartJournal::to_text("", "source", kHave), "", "source").empty())
      << "where the system does not tell one start from another";
}

TEST(RestartJournal, OfWhichSomethingIsMissingSaysNothing) {
  const std::string text = RestartJournal::to_text("boot", "source", kHave);
  for (std::size_t bytes = 0; bytes < text.size(); ++bytes)
    EXPECT_TRUE(RestartJournal::parse(text.substr(0, bytes), "boot", "source").empty()) << bytes;
}

TEST(RestartJournal, ThatIsNoneSaysNothing) {
  const std::string head = RestartJournal::to_text("boot", "source", {});
  for (const std::string& wrong : {std::string("\n"), head + head, head.substr(0, head.size() - 1) + "5-4\n",
                                   head.substr(0, head.size() - 1) + "a-b\n", std::string(100, '\0') + '\n'})
    EXPECT_TRUE(RestartJournal::parse(wrong, "boot", "source").empty()) << wrong;
}

TEST(RestartJournal, TellsWhereItCannotBeWritten) {
  const RestartJournal journal(FilePlace("/no/such/place"), "source");
  EXPECT_EQ(journal.save(kHave).error().code, Errc::local_write_failed);
}

TEST(RestartJournal, IsNotADirectoryOfThatName) {
  const Folder folder;
  std::filesystem::create_directory(folder / "journal");
  EXPECT_TRUE(RestartJournal(FilePlace(folder / "journal"), "source").load().empty());
}

}  // namespace
}  // namespace udtcat::gridftp
