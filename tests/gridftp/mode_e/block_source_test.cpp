// SPDX-License-Identifier: Apache-2.0
#include "gridftp/mode_e/block_source.hpp"

#include "gridftp/support.hpp"

namespace udtcat::gridftp {
namespace {

using Given = Result<std::optional<files::ByteRange>>;

class FileSources : public testing::Test {
 protected:
  FileSource source(std::vector<files::ByteRange> ranges) {
    return {io, BlockStore::open_to_read(files::FileLocation(path)).value(), std::move(ranges)};
  }
  std::optional<files::ByteRange> next(FileSource& from) { return run(io, from.next(into)).value(); }

  boost::asio::io_context io;
  Folder folder;
  const Bytes content = random_bytes(1000);
  const std::string path = folder.write("file", content);
  Bytes into = Bytes(300);
};

TEST_F(FileSources, GiveTheirRangesInOrderInPieces) {
  FileSource from = source({{0, 400}, {500, 500}, {600, 700}});
  EXPECT_EQ(next(from), (files::ByteRange{0, 300}));
  EXPECT_TRUE(std::ranges::equal(into, std::span(content).first(300)));
  EXPECT_EQ(next(from), (files::ByteRange{300, 400}));
  EXPECT_EQ(next(from), (files::ByteRange{600, 700}));
  EXPECT_TRUE(std::ranges::equal(std::span(into).first(100), std::span(content).subspan(600, 100)));
  EXPECT_EQ(next(from), std::nullopt);
  EXPECT_EQ(next(from), std::nullopt) << "and so it stays";
}

TEST_F(FileSources, EndWhereTheFileEnds) {
  FileSource from = source({{900, 2000}, {3000, 4000}});
  EXPECT_EQ(next(from), (files::ByteRange{900, 1000}));
  EXPECT_EQ(next(from), std::nullopt);
  FileSource beyond = source({{1000, 2000}});
  EXPECT_EQ(next(beyond), std::nullopt);
}

TEST_F(FileSources, DoNotTakeAFileThatHasBecomeShorterForWhole) {
  FileSource from = source({{0, 1000}});
  EXPECT_EQ(next(from), (files::ByteRange{0, 300}));
  std::filesystem::resize_file(path, 500);
  EXPECT_EQ(run(io, from.next(into)).error().code, Errc::local_read_failed);
}

TEST_F(FileSources, DoNotTakeAFileThatHasChangedForWhole) {
  FileSource from = source({{0, 300}});
  EXPECT_EQ(next(from), (files::ByteRange{0, 300}));
  std::filesystem::last_write_time(path, std::filesystem::last_write_time(path) + std::chrono::seconds(1));
  const auto end = run(io, from.next(into));
  ASSERT_FALSE(end);
  EXPECT_NE(end.error().message().find("changed"), std::string::npos);
}

TEST_F(FileSources, DoNotTakeAFileForWholeThatHoldsMoreThanItsSize) {
  FileSource none(io, BlockStore::open_to_read(files::FileLocation("/proc/self/status")).value(), {});
  const auto end = run(io, none.next(into));
  ASSERT_FALSE(end);
  EXPECT_NE(end.error().message().find("holds more"), std::string::npos) << end.error().message();
}

TEST_F(FileSources, DoNotTakeAFileForWholeThatHoldsLessThanItsSize) {
  // A file of sysfs has the size of a page, and holds a line.
  const files::FileLocation less("/sys/kernel/mm/transparent_hugepage/enabled");
  const auto size = less.size();
  if (!size || *size < 100) GTEST_SKIP() << "this system has no such file";
  FileSource file(io, BlockStore::open_to_read(less).value(), {{0, *size}});
  const auto end = run(io, file.next(into));
  ASSERT_FALSE(end);
  EXPECT_NE(end.error().message().find("its size tells of"), std::string::npos) << end.error().message();
}

TEST_F(FileSources, OfNothingGiveNothing) {
  FileSource from = source({});
  EXPECT_EQ(next(from), std::nullopt);
}

class PipeSources : public testing::Test {
 protected:
  PipeSources() {
    auto ends = bridge::make_stream_pair(io, "pipe");
    writer = std::move(ends.second);
    source = std::make_unique<PipeSource>(io, std::move(ends.first));
  }

  boost::asio::io_context io;
  std::unique_ptr<LocalStream> writer;
  std::unique_ptr<PipeSource> source;
};

TEST_F(PipeSources, GiveEachByteOnce) {
  const Bytes all = random_bytes(1000);
  std::vector<Bytes> into(4, Bytes(300));
  std::vector<Outcome<Given>> given;
  for (Bytes& each : into) given.push_back(begin(io, source->next(each)));
  EXPECT_FALSE(bridge::write_all(io, *writer, all));
  EXPECT_FALSE(bridge::finish(io, *writer));
  Bytes back(1000);
  for (std::size_t i = 0; i < into.size(); ++i) {
    const auto range = await(io, given[i]).value();
    ASSERT_TRUE(range);
    std::copy_n(into[i].begin(), range->bytes(), back.begin() + static_cast<std::ptrdiff_t>(range->begin));
  }
  EXPECT_TRUE(back == all);
  EXPECT_EQ(run(io, source->next(into.front())).value(), std::nullopt);
}

TEST_F(PipeSources, GiveNothingOfAnEmptyPipe) {
  Bytes into(10);
  const auto one = begin(io, source->next(into));
  const auto other = begin(io, source->next(into));
  const auto finished = bridge::finish(io, *writer);
  EXPECT_FALSE(finished);
  EXPECT_EQ(await(io, one).value(), std::nullopt);
  EXPECT_EQ(await(io, other).value(), std::nullopt);
}

TEST_F(PipeSources, TellThatThePipeBrokeAndEndForAll) {
  Bytes into(10);
  const auto one = begin(io, source->next(into));
  const auto other = begin(io, source->next(into));
  run_ready(io);
  writer.reset();
  EXPECT_EQ(await(io, one).error().code, Errc::local_read_failed);
  EXPECT_EQ(await(io, other).value(), std::nullopt);
}

}  // namespace
}  // namespace udtcat::gridftp
