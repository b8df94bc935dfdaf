// SPDX-License-Identifier: Apache-2.0
#include "gridftp/mode_e/block_sink.hpp"

#include <cerrno>
#include <chrono>
#include <filesystem>

#include "gridftp/disk/failing_calls.hpp"
#include "gridftp/support.hpp"

namespace udtcat::gridftp {
namespace {

class FileSinks : public testing::Test {
 protected:
  RestartJournal journal() { return {files::FileLocation(folder / "file.part.have"), "of a test"}; }
  std::unique_ptr<FileSink> sink(bool with_journal = true, files::ByteRanges have = {}) {
    auto store = BlockStore::open_to_write(files::FileLocation(folder / "file"));
    return std::make_unique<FileSink>(io, std::move(*store), std::move(have),
                                      with_journal ? std::optional(journal()) : std::nullopt);
  }
  Status put(FileSink& to, std::uint64_t offset, const Bytes& bytes) { return run(io, to.store(offset, bytes)); }

  boost::asio::io_context io;
  Folder folder;
};

/// In a directory with a limit, where nothing else is.
class LimitedFileSinks : public FileSinks {
 protected:
  static constexpr std::uint64_t kLimit = 1'000'000;

  LimitedFileSinks() { EXPECT_TRUE(limit.await_count()); }
  /// As a server makes it.
  std::unique_ptr<FileSink> limited_sink(std::optional<std::uint64_t> at = {}) {
    const files::FileLocation location(folder / "file");
    auto store = at ? BlockStore::open_in_place(location) : BlockStore::open_to_write(location);
    store->charge_to(limit.use);
    if (!at && store->size() == 0) limit.use->charge(store->new_bytes());
    auto kept = store->journal("of a test");
    auto there = kept ? kept->load().value_or(files::ByteRanges()) : files::ByteRanges();
    return std::make_unique<FileSink>(io, std::move(*store), std::move(there), std::move(kept), at.value_or(0), limit);
  }
  /// The bytes that may be written without counting.
  [[nodiscard]] std::uint64_t room() const { return kLimit - limit.use->used(); }
  /// The same, as a count finds it.
  [[nodiscard]] std::uint64_t room_on_disk() const {
    return kLimit - files::count_directory(tree, [] { return true; })->bytes;
  }
  void remove(const char* name) const { remove_in(limit.use, files::FileLocation(folder / name)); }

  files::DirectoryUses uses;
  const files::FileTree tree = files::FileTree::open(folder.path()).value();
  files::DirectoryLimit limit{.use = uses.of(tree).value(), .bytes = kLimit, .peer = "alice"};
};

TEST_F(LimitedFileSinks, CountWhatStandsThereAtEachStep) {
  auto file = limited_sink();
  EXPECT_EQ(room(), room_on_disk());
  EXPECT_TRUE(put(*file, 0, random_bytes(100'000)));
  EXPECT_TRUE(put(*file, 200'000, random_bytes(100'000)));
  EXPECT_EQ(room(), room_on_disk());
  run(io, file->set_aside());
  EXPECT_EQ(room(), room_on_disk()) << "with the journal";
  file = limited_sink();
  EXPECT_TRUE(put(*file, 100'000, random_bytes(100'000)));
  EXPECT_TRUE(run(io, file->publish()));
  EXPECT_EQ(room(), room_on_disk());
  file = limited_sink();
  EXPECT_TRUE(put(*file, 0, random_bytes(10'000)));
  EXPECT_TRUE(run(io, file->publish()));
  EXPECT_EQ(room(), kLimit - 10'000 - files::kNameBytes) << "a smaller file in the place of a larger one";
  EXPECT_EQ(room(), room_on_disk());
}

TEST_F(LimitedFileSinks, GiveNothingBackThatALimitHasRefused) {
  constexpr std::uint64_t kHeld = 600'000;
  const auto held = limit.reserve(kHeld, "hold");
  ASSERT_TRUE(held);
  auto file = limited_sink();
  EXPECT_TRUE(put(*file, 0, Bytes(1'000)));
  EXPECT_EQ(put(*file, std::uint64_t{1} << 40, Bytes(1)).error().code, Errc::stream_refused);
  EXPECT_EQ(put(*file, 1'000, Bytes(1)).error().code, Errc::stream_refused) << "those behind it neither";
  file.reset();
  EXPECT_EQ(room(), kLimit - kHeld);
  EXPECT_FALSE(folder.has("file.part") || folder.has("file.part.have"));
}

TEST_F(LimitedFileSinks, TakeTheirSpaceToTheEndWhateverBecomesOfTheirNames) {
  auto file = limited_sink();
  EXPECT_TRUE(put(*file, 0, random_bytes(400'000)));
  remove("file.part");
  EXPECT_LE(room(), kLimit - 400'000);
  EXPECT_TRUE(put(*file, 400'000, random_bytes(200'000)));
  EXPECT_LE(room(), kLimit - 600'000);
  EXPECT_EQ(put(*file, 600'000, random_bytes(500'000)).error().code, Errc::stream_refused);
  file.reset();
  remove("file.part.have");
  EXPECT_EQ(room(), kLimit);
}

TEST_F(LimitedFileSinks, GiveNothingBackOfAFileThatHasGotAnotherName) {
  auto file = limited_sink();
  EXPECT_TRUE(put(*file, 0, random_bytes(400'000)));
  EXPECT_TRUE(limit.use->rename(files::FileLocation(folder / "file.part"), files::FileLocation(folder / "elsewhere")));
  EXPECT_FALSE(run(io, file->publish()));
  file.reset();
  EXPECT_TRUE(folder.has("elsewhere"));
  EXPECT_LE(room(), room_on_disk());
}

TEST_F(LimitedFileSinks, WaitWhileItIsCountedAgain) {
  ASSERT_TRUE(limit.await_count());
  folder.write("gone", Bytes(900'000));
  limit.use->charge(900'000 + files::kNameBytes);
  std::filesystem::remove(folder / "gone");  // by somebody else
  auto file = limited_sink();
  EXPECT_TRUE(put(*file, 0, random_bytes(500'000)));
  EXPECT_EQ(room(), room_on_disk());
}

TEST_F(FileSinks, WriteTheBlocksAtTheirOffsets) {
  const Bytes bytes = random_bytes(1000);
  auto file = sink();
  EXPECT_TRUE(put(*file, 400, Bytes(bytes.begin() + 400, bytes.end())));
  EXPECT_TRUE(put(*file, 0, Bytes(bytes.begin(), bytes.begin() + 400)));
  EXPECT_TRUE(run(io, file->publish()));
  EXPECT_TRUE(folder.read("file") == bytes);
  EXPECT_FALSE(folder.has("file.part") || folder.has("file.part.have"));
}

TEST_F(FileSinks, KeepForTheNextAttemptWhatHasCome) {
  EXPECT_TRUE(put(*sink(), 100, Bytes(50)));
  EXPECT_EQ(journal().load()->to_text(), "100-150") << "also of a sink that is destroyed";
  auto file = sink();
  EXPECT_TRUE(put(*file, 100, Bytes(50)));
  run(io, file->set_aside());
  EXPECT_TRUE(folder.has("file.part"));
  EXPECT_EQ(journal().load()->to_text(), "100-150");
}

TEST_F(FileSinks, LeaveNothingWhereNothingHasCome) {
  const auto file = sink();
  run(io, file->set_aside());
  EXPECT_FALSE(folder.has("file.part") || folder.has("file.part.have"));
}

TEST_F(FileSinks, KeepWhatTheLastJournalSaysWhereThereIsNoRoomForAnother) {
  auto file = sink();
  EXPECT_TRUE(put(*file, 0, Bytes(FileSink::kJournalEveryBytes)));
  EXPECT_TRUE(put(*file, FileSink::kJournalEveryBytes, Bytes(100)));
  std::filesystem::create_directory(folder / "file.part.have.new");  // as a full disk: nothing can be written there
  run(io, file->set_aside());
  EXPECT_TRUE(folder.has("file.part"));
  EXPECT_EQ(journal().load()->bytes(), FileSink::kJournalEveryBytes);
}

TEST_F(FileSinks, ForgetWhatHasCome) {
  auto file = sink();
  EXPECT_TRUE(put(*file, 0, random_bytes(FileSink::kJournalEveryBytes)));
  EXPECT_TRUE(folder.has("file.part.have"));
  run(io, file->forget());
  EXPECT_FALSE(folder.has("file.part.have"));
  EXPECT_TRUE(put(*file, 0, Bytes(1000)));
  EXPECT_TRUE(run(io, file->publish()));
  EXPECT_TRUE(folder.read("file") == Bytes(1000)) << "nothing of the first";
  file = sink();
  EXPECT_TRUE(put(*file, 0, random_bytes(FileSink::kJournalEveryBytes)));
  run(io, file->forget());
  run(io, file->set_aside());
  EXPECT_FALSE(folder.has("file.part"));
}

TEST_F(FileSinks, AreBelievedWhereTheyEndInAHole) {
  auto file = sink();
  EXPECT_TRUE(put(*file, 0, random_bytes(1000)));
  EXPECT_TRUE(put(*file, 1000, Bytes(FileSink::kJournalEveryBytes)));
  EXPECT_GE(std::filesystem::file_size(folder / "file.part"), journal().load()->end());
}

TEST_F(FileSinks, LetTheLastWriteCountAlsoOfZeros) {
  auto file = sink();
  EXPECT_TRUE(put(*file, 0, random_bytes(10'000)));
  EXPECT_TRUE(put(*file, 0, Bytes(10'000)));
  EXPECT_TRUE(run(io, file->publish()));
  EXPECT_TRUE(folder.read("file") == Bytes(10'000));
}

TEST_F(FileSinks, BelieveNothingWhereCloseTellsOfAnError) {
  EXPECT_TRUE(holds_in_a_child([&] {
    auto file = sink();
    if (!put(*file, 0, random_bytes(FileSink::kJournalEveryBytes)) || !folder.has("file.part.have")) return false;
    if (!fail_calls(SYS_close, EDQUOT) || run(io, file->publish())) return false;
    run(io, file->set_aside());
    return !folder.has("file") && !folder.has("file.part") && !folder.has("file.part.have");
  }));
}

TEST_F(FileSinks, LeaveNothingThatNobodyCanGoOnWith) {
  auto file = sink(false);
  EXPECT_TRUE(put(*file, 0, Bytes(50)));
  run(io, file->set_aside());
  EXPECT_FALSE(folder.has("file.part"));
}

TEST_F(FileSinks, ForgetWhatAnEarlierFileOfTheNameHad) {
  ASSERT_TRUE(journal().save(files::ByteRanges::parse("0-5").value()));
  const auto file = sink();
  EXPECT_FALSE(journal().load());
}

TEST_F(FileSinks, CallDurableOnlyWhatTheJournalSays) {
  auto file = sink();
  EXPECT_TRUE(put(*file, 0, Bytes(1000)));
  EXPECT_TRUE(file->durable().empty());
  EXPECT_TRUE(put(*file, 1000, Bytes(FileSink::kJournalEveryBytes)));
  EXPECT_EQ(file->durable().bytes(), FileSink::kJournalEveryBytes + 1000);
  EXPECT_EQ(journal().load()->ranges(), file->durable().ranges());
}

TEST_F(FileSinks, WriteFromWhereTheyAreToldInPlace) {
  folder.write("file", Bytes(100));
  FileSink file(io, BlockStore::open_in_place(files::FileLocation(folder / "file")).value(), {}, std::nullopt, 40);
  EXPECT_TRUE(run(io, file.store(10, bytes_of("here"))));
  EXPECT_TRUE(run(io, file.publish()));
  Bytes expected(100);
  std::ranges::copy(bytes_of("here"), expected.begin() + 50);
  EXPECT_TRUE(folder.read("file") == expected);
}

class PipeSinks : public testing::Test {
 protected:
  PipeSinks() {
    auto ends = bridge::make_stream_pair(io, "pipe");
    reader = std::move(ends.second);
    sink = std::make_unique<PipeSink>(io, std::move(ends.first), 0);
  }
  Outcome<Status> put(std::uint64_t offset, std::size_t bytes) {
    return begin(io,
                 [](PipeSink& to, std::uint64_t at,
                    Bytes piece) -> Task<Status> {
                   co_return co_await to.store(at, piece);
                 }(*sink, offset,
                                 Bytes(all.begin() + static_cast<std::ptrdiff_t>(offset),
                                       all.begin() + static_cast<std::ptrdiff_t>(offset + bytes))));
  }
  Bytes taken() {
    const auto finished = begin(io, sink->finish());
    Bytes got = bridge::drain(io, *reader).bytes;
    EXPECT_TRUE(await(io, finished));
    return got;
  }
  [[nodiscard]] Bytes front(std::size_t bytes) const {
    return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(bytes)};
  }

  boost::asio::io_context io;
  const Bytes all = random_bytes(1000);
  std::unique_ptr<LocalStream> reader;
  std::unique_ptr<PipeSink> sink;
};

TEST_F(PipeSinks, GiveTheBytesInOrderHoweverTheyCome) {
  for (const std::uint64_t offset : {300U, 100U, 0U, 200U, 900U, 400U, 600U, 500U, 800U, 700U}) {
    const auto stored = put(offset, 100);
    run_ready(io);
  }
  EXPECT_TRUE(taken() == all);
}

TEST_F(PipeSinks, GiveEachByteOnceWhereBlocksOverlap) {
  put(0, 100);
  run_ready(io);
  put(0, 100);
  put(50, 150);
  put(300, 50);
  put(300, 100);
  put(300, 20);
  put(120, 180);
  run_ready(io);
  EXPECT_TRUE(taken() == front(400));
}

TEST_F(PipeSinks, LetCallersWaitThatAreTooFarAhead) {
  const Bytes large(PipeSink::kMaxEarlyBytes - PipeSink::kPieceCost);
  const auto first = begin(io, sink->store(1, large));
  run_ready(io);
  EXPECT_TRUE(first->has_value()) << "there is room for so much";
  const auto second = begin(io, sink->store(1 + large.size(), std::span(large).first(10)));
  run_ready(io);
  EXPECT_FALSE(second->has_value());
  const auto next = begin(io, sink->store(0, std::span(large).first(1)));
  Bytes piece(bridge::kPairBytes);
  std::size_t got = 0;
  while (got < 11 + large.size()) {
    run_ready(io);
    const auto read = reader->read_some(piece);
    if (read.state != LocalStream::ReadState::data) break;
    got += read.bytes;
  }
  EXPECT_EQ(got, 11 + large.size());
  EXPECT_TRUE(await(io, second));
  EXPECT_TRUE(await(io, next));
}

TEST_F(PipeSinks, AreBoundedAlsoWhereBytesComeAgainWhileNobodyReads) {
  const Bytes large(bridge::kPairBytes * 2);
  const auto stuck = begin(io, sink->store(0, large));
  run_ready(io);
  std::size_t accepted = 0;
  const Bytes again(1'000'000);
  for (std::uint64_t offset = 0; offset < 200; ++offset) {
    const auto stored = begin(io, sink->store(offset, again));
    run_ready(io);
    if (stored->has_value()) accepted += again.size();
  }
  EXPECT_LE(accepted, PipeSink::kMaxEarlyBytes);
}

TEST_F(PipeSinks, FailAllCallersWhenThePipeBreaks) {
  put(500, 100);
  run_ready(io);
  reader.reset();
  const auto next = put(0, 100);
  EXPECT_EQ(await(io, next).error().code, Errc::local_write_failed);
  EXPECT_EQ(await(io, put(700, 100)).error().code, Errc::local_write_failed);
  EXPECT_EQ(run(io, sink->finish()).error().code, Errc::local_write_failed);
}

TEST_F(PipeSinks, BeginWhereTheyAreTold) {
  auto ends = bridge::make_stream_pair(io, "pipe");
  reader = std::move(ends.second);
  sink = std::make_unique<PipeSink>(io, std::move(ends.first), 200);
  put(300, 100);
  put(200, 100);
  run_ready(io);
  EXPECT_TRUE(taken() == Bytes(all.begin() + 200, all.begin() + 400));
}

}  // namespace
}  // namespace udtcat::gridftp
