// SPDX-License-Identifier: Apache-2.0
/// src/gridftp/server/served_transfers.hpp: what goes on behind bytes that are there, by APPE and by REST.
#include <gtest/gtest.h>

#include "gridftp/server/serving_fixture.hpp"

namespace udtcat::gridftp {
namespace {

class AppendingTransfer : public Served {
 protected:
  AppendingTransfer() {
    folder.write("file", content);
    serve();
    begin_blocks();
    EXPECT_EQ(ask("MODE S").code, 200);
  }
  /// In stream mode; `line` is a STOR or an APPE.
  int put_stream(const std::string& line, std::span<const std::byte> bytes) {
    ask_where();
    EXPECT_TRUE(send(line));
    const auto connection = run(io, path.single());
    EXPECT_TRUE(connection && run(io, (*connection)->write(bytes)) && run(io, (*connection)->finish()));
    return hear_end().code;
  }
  /// The client is killed within an upload.
  void put_the_first(std::size_t bytes) {
    ask_where();
    EXPECT_TRUE(send("STOR /x"));
    const auto connection = run(io, path.single());
    EXPECT_TRUE(connection && run(io, (*connection)->write(std::span(content).first(bytes))));
    EXPECT_TRUE(run_until(io, [&] { return server->moved().received == bytes; }));
    client->close();
    log_in();
    // Another client waits until that is noticed: this one has been told nothing.
    EXPECT_TRUE(run_until(io, [&] { return ask("SIZE /x").code == 213; }));
    client->close();
    log_in();
  }

  const Bytes content = random_bytes(100'000);
};

TEST_F(AppendingTransfer, PutsBytesBehindTheFile) {
  EXPECT_EQ(put_stream("APPE /x", std::span(content).first(40'000)), 226) << "a new one";
  EXPECT_EQ(put_stream("APPE /x", std::span(content).subspan(40'000)), 226);
  EXPECT_TRUE(folder.read("x") == content);
}

/// One byte fewer than there are: a client that has sent all still asks for the file.
TEST_F(AppendingTransfer, GoesOnWithAnUploadThatWasCutWhoseSizeIsTold) {
  put_the_first(60'000);
  EXPECT_EQ(ask("SIZE /x").text(), "59999");
  EXPECT_FALSE(std::filesystem::exists(folder / "x"));
  EXPECT_EQ(put_stream("APPE /x", std::span(content).subspan(59'999)), 226);
  EXPECT_TRUE(folder.read("x") == content);
}

TEST_F(AppendingTransfer, GoesOnBehindNothingThatItHasNotTold) {
  put_the_first(60'000);
  EXPECT_EQ(put_stream("APPE /x", content), 226);
  EXPECT_TRUE(folder.read("x") == content);
}

TEST_F(AppendingTransfer, GoesOnByRestBehindAWholeFileWithAsMuchAsWasAllocated) {
  EXPECT_EQ(ask("REST 100000").code, 350);
  EXPECT_EQ(ask("ALLO 100003").code, 200);
  EXPECT_EQ(put_stream("STOR /file", Bytes(2)), 426) << "one is missing";
  EXPECT_EQ(ask("REST " + std::to_string(folder.read("file").size())).code, 350);
  EXPECT_EQ(ask("ALLO 100003").code, 200);
  EXPECT_EQ(put_stream("STOR /file", Bytes(100'003 - folder.read("file").size())), 226);
  EXPECT_EQ(folder.read("file").size(), 100'003U);
}

/// The bytes that the client leaves out may be those of the upload.
TEST_F(AppendingTransfer, PutsNothingByRestBehindAFileOfWhichAnotherUploadWasCut) {
  EXPECT_EQ(ask("ALLO 150000").code, 200);
  EXPECT_EQ(put_stream("STOR /file", Bytes(60'000)), 426);
  ASSERT_TRUE(folder.has("file.part"));
  ask_where();
  EXPECT_EQ(ask("REST 100000").code, 350);
  EXPECT_TRUE(send("STOR /file"));
  EXPECT_EQ(hear_end().code, 550);
  EXPECT_TRUE(folder.read("file") == content);
}

TEST_F(AppendingTransfer, TellsTheSizeByWhichRestGoesOn) {
  put_the_first(60'000);
  EXPECT_EQ(ask("SIZE /x").text(), "59999");
  EXPECT_EQ(ask("REST 59999").code, 350);
  EXPECT_EQ(put_stream("STOR /x", std::span(content).subspan(59'999)), 226);
  EXPECT_TRUE(folder.read("x") == content);
}

}  // namespace
}  // namespace udtcat::gridftp
