// SPDX-License-Identifier: Apache-2.0
#include "gridftp/server/limited_place.hpp"

#include <cerrno>
#include <thread>

#include <fcntl.h>
#include <sys/syscall.h>

#include "gridftp/coroutine/run_task.hpp"
#include "gridftp/support.hpp"
#include "support/failing_calls.hpp"

namespace udtcat::gridftp {
namespace {

class LimitedPlaces : public testing::Test {
 protected:
  static constexpr std::uint64_t kLimit = 100'000;

  /// Of a session of alice's.
  std::unique_ptr<LimitedPlace> enter(std::uint64_t limit = kLimit) {
    auto place = std::make_unique<LimitedPlace>(io, ServedRoot::open(folder.path()).value(), over);
    EXPECT_TRUE(place->enter({.name = "alice", .directory = "alice", .limit_bytes = limit}, false, uses));
    return place;
  }
  Status make_directory(LimitedPlace& place, const std::string& path) { return run(io, place.make_directory(path)); }
  static bool has_room(const LimitedPlace& place, std::uint64_t bytes) {
    return place.limit()->bytes - place.limit()->use->used() >= bytes;
  }

  boost::asio::io_context io;
  Folder folder;
  files::DirectoryUses uses;
  std::optional<Error> over;
};

TEST_F(LimitedPlaces, HaveSoManyNames) {
  const auto place = enter(3 * files::kNameBytes);
  for (const char* name : {"/a", "/b", "/a/c"}) EXPECT_TRUE(make_directory(*place, name));
  EXPECT_EQ(make_directory(*place, "/d").error().code, Errc::stream_refused);
  EXPECT_FALSE(make_directory(*place, "/a"));
  EXPECT_TRUE(place->remove("/a/c", true));
  EXPECT_FALSE(make_directory(*place, "/a")) << "it is there, and takes no space again";
  EXPECT_TRUE(make_directory(*place, "/d"));
}

TEST_F(LimitedPlaces, KeepTheSpaceOfAFileThatAnotherSessionReads) {
  const auto writer = enter(), reader = enter();
  folder.write("alice/f", Bytes(50'000));
  ASSERT_TRUE(run(io, writer->await_count()));
  auto opened = BlockStore::of(reader->root().open_to_read("/f").value(), "/f");
  reader->charge(*opened);
  EXPECT_TRUE(writer->remove("/f", false));
  EXPECT_FALSE(has_room(*writer, 60'000));
  EXPECT_TRUE(opened->close());
  EXPECT_TRUE(has_room(*writer, kLimit));
}

TEST_F(LimitedPlaces, GiveBackWhatIsRenamedOver) {
  const auto place = enter();
  folder.write("alice/f", Bytes(50'000));
  folder.write("alice/g", Bytes(1'000));
  ASSERT_TRUE(run(io, place->await_count()));
  EXPECT_TRUE(place->rename("/g", "/f"));
  EXPECT_TRUE(has_room(*place, kLimit - 1'000 - files::kNameBytes));
  EXPECT_FALSE(has_room(*place, kLimit - 1'000 - files::kNameBytes + 1));
  EXPECT_FALSE(place->rename("/g", "/f"));
}

TEST_F(LimitedPlaces, HaveNothingRenamedWhereTheNewNameCannotBeStored) {
  const auto place = enter();
  folder.write("alice/f", Bytes(5));
  ASSERT_TRUE(run(io, place->await_count()));
  std::thread([&] {
    test::fail_calls({SYS_fsync}, EIO);
    EXPECT_FALSE(place->rename("/f", "/g"));
  }).join();
}

TEST_F(LimitedPlaces, AreWaitedForAsLongAsSomebodyWaits) {
  const auto place = enter();
  over = Error{Errc::connection_broken, "serve", "gone"};
  EXPECT_EQ(run(io, place->await_count()).error().code, Errc::connection_broken);
}

TEST_F(LimitedPlaces, OfPeersWithoutALimitHaveNone) {
  LimitedPlace place(io, ServedRoot::open(folder.path()).value(), over);
  EXPECT_TRUE(place.enter({.name = "bob", .directory = "bob"}, false, uses));
  EXPECT_TRUE(make_directory(place, "/a"));
  EXPECT_FALSE(place.limit());
  EXPECT_TRUE(folder.has("bob/a"));
}

}  // namespace
}  // namespace udtcat::gridftp
