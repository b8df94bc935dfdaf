#include "gridftp/server/listing_source.hpp"

#include <set>
#include <sstream>

#include "gridftp/words.hpp"

namespace udtcat::gridftp {
namespace {

class ListingSources : public testing::Test {
 protected:
  ListingSource source() { return {io, root.list("/").value(), ListingForm::names, true}; }
  /// All of it, in blocks of at most so many bytes.
  std::string all_of(ListingSource& from, std::size_t block_bytes) {
    std::string text;
    Bytes into(block_bytes);
    while (const auto block = run(io, from.next(into)).value()) {
      EXPECT_EQ(block->begin, text.size());
      // SAFETY: any byte is a char.
      text.append(reinterpret_cast<const char*>(into.data()), block->bytes());
    }
    return text;
  }

  boost::asio::io_context io;
  Folder folder;
  const ServedRoot root = ServedRoot::open(folder.path()).value();
};

TEST_F(ListingSources, NameEveryEntryOnceOverManySlices) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < 3 * ListingSource::kSliceEntries; ++i) {
    names.insert("file" + std::to_string(i));
    folder.write("file" + std::to_string(i), {});
  }
  for (const std::size_t block_bytes : {std::size_t{7}, std::size_t{1'000}, std::size_t{1'000'000}}) {
    ListingSource from = source();
    std::istringstream lines(all_of(from, block_bytes));
    std::multiset<std::string> listed;
    for (std::string line; std::getline(lines, line);) listed.insert(line.substr(0, line.size() - 1));
    EXPECT_TRUE(std::ranges::equal(listed, names)) << block_bytes;
  }
}

TEST_F(ListingSources, OfNothingGiveNothing) {
  ListingSource from = source();
  EXPECT_EQ(all_of(from, 100), "");
  EXPECT_EQ(all_of(from, 100), "") << "and so it stays";
}

TEST_F(ListingSources, OfAFileGiveThatFile) {
  folder.write("file", {});
  ListingSource from(io, root.facts_of("/file").value(), ListingForm::names, true);
  EXPECT_EQ(all_of(from, 3), "/file\r\n");
}

TEST_F(ListingSources, GiveEachByteToOneOfThoseWhoAsk) {
  for (int i = 0; i < 100; ++i) folder.write(std::to_string(i), {});
  ListingSource from = source();
  Bytes one(150);
  Bytes other(150);
  const auto first = begin(io, from.next(one));
  const auto second = begin(io, from.next(other));
  EXPECT_EQ(await(io, first).value(), (ByteRange{0, 150}));
  EXPECT_EQ(await(io, second).value(), (ByteRange{150, 300}));
}

}  // namespace
}  // namespace udtcat::gridftp
