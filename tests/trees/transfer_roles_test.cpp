// SPDX-License-Identifier: Apache-2.0
#include "trees/transfer_roles.hpp"

#include <filesystem>
#include <future>
#include <sstream>

#include <gmock/gmock.h>
#include <sched.h>

#include "trees/ends.hpp"

namespace udtcat::trees {
namespace {

using testing::ElementsAre;
using testing::Gt;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class Work : public testing::Test {
 protected:
  Work() {
    std::filesystem::create_directories(folder / "out/d");
    folder.write("out/d/file", kContent);
    folder.write("out/other", bytes_of("other"));
    std::filesystem::create_directory(folder / "in");
  }

  using End = std::function<Status(Wire&, Tally&)>;
  struct Results {
    Status connector;
    Status listener;
  };
  /// Both ends, until both are over; each cuts its wire where it has failed, as a Transfer does.
  Results run(const End& connector, const End& listener) {
    JoinedWires wires;
    const auto begin = [](Wire& wire, const End& end) {
      return std::async(std::launch::async, [&wire, &end] {
        Troubles troubles;
        const Status over = end(wire, troubles.tally);
        if (!over) wire.cut();
        return over;
      });
    };
    auto here = begin(wires.here, connector);
    auto there = begin(wires.there, listener);
    return {here.get(), there.get()};
  }
  End sends(const std::vector<std::string>& paths, const std::string& place = "") {
    return
        [=, this](Wire& wire, Tally& tally) { return send_as_connector(wire, {.paths = paths}, place, wishes, tally); };
  }
  End receives(const std::vector<std::string>& paths) {
    return [=, this](Wire& wire, Tally& tally) {
      return receive_as_connector(wire, paths, folder / "in", wishes, {}, tally);
    };
  }
  End takes() {
    return [this](Wire& wire, Tally& tally) {
      return receive_as_listener(wire, folder / "in", wishes, {}, claims, tally);
    };
  }
  End serves() {
    return [this](Wire& wire, Tally& tally) { return send_as_listener(wire, folder / "out", tally); };
  }
  End serves_account() {
    return [this](Wire& wire, Tally& tally) { return serve_account(wire, wishes, {}, tally); };
  }
  static void expect_both(const Results& results) {
    EXPECT_TRUE(results.connector) << results.connector.error().message();
    EXPECT_TRUE(results.listener) << results.listener.error().message();
  }
  static void expect_refused(const Results& results, const std::string& cause) {
    for (const Status& each : {results.connector, results.listener}) {
      ASSERT_FALSE(each);
      EXPECT_EQ(each.error().code, Errc::stream_refused) << each.error().message();
      EXPECT_THAT(each.error().message(), HasSubstr(cause)) << "both know why";
    }
  }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& each : std::filesystem::directory_iterator(folder / "in")) found.push_back(each.path().filename());
    std::ranges::sort(found);
    return found;
  }

  Folder folder;
  Wishes wishes;
  TransferClaims claims;
};

TEST_F(Work, BringsWhatAConnectorSends) {
  expect_both(run(sends({folder / "out/d", folder / "out/other"}), takes()));
  EXPECT_THAT(names(), ElementsAre("d", "other"));
  EXPECT_EQ(folder.read("in/d/file"), kContent);
}

TEST_F(Work, BringsWhatAConnectorAsksFor) {
  expect_both(run(receives({"d/file"}), serves()));
  EXPECT_THAT(names(), ElementsAre("file"));
  expect_both(run(receives({}), serves()));
  EXPECT_THAT(names(), ElementsAre("d", "file", "other"));
}

TEST_F(Work, OfAnAccountTakesPlacesAsAShellDoes) {
  expect_both(run(sends({folder / "out/."}, folder / "in/new"), serves_account()));
  EXPECT_EQ(folder.read("in/new/other"), bytes_of("other"));
  expect_both(run(receives({folder / "out/d", folder / "out/d/.."}), serves_account()));
  EXPECT_EQ(folder.read("in/other"), bytes_of("other"));
}

TEST_F(Work, OfAListenerStaysBelowItsDirectory) {
  for (const char* path : {"../out/other", "/etc/passwd", "d/../../in"})
    expect_refused(run(receives({path}), serves()), "paths are those below the directory that is served");
  EXPECT_THAT(names(), IsEmpty());
  expect_refused(run(sends({folder / "out"}, "/tmp"), takes()), "the listener has a directory of its own");
}

TEST_F(Work, OfTwoEndsOfOneKindIsNone) {
  expect_refused(run(sends({folder / "out"}), serves()), "the listener sends, too");
  expect_refused(run(receives({}), takes()), "the listener receives, too");
}

TEST_F(Work, BeginsWithAHello) {
  const End stranger = [](Wire& wire, Tally& /*unused*/) {
    const Status said = wire.write(bytes_of("GET / HTTP/1.1\r\n\r\n"));
    wire.finish();
    return said;
  };
  EXPECT_EQ(run(stranger, takes()).listener.error().code, Errc::protocol_violated);
  EXPECT_EQ(run(stranger, serves()).listener.error().code, Errc::protocol_violated);
  const End silent = [](Wire& wire, Tally& /*unused*/) {
    wire.finish();
    return Status();
  };
  EXPECT_EQ(run(silent, takes()).listener.error().code, Errc::protocol_violated);
}

TEST_F(Work, BeginsWithItsHelloAlsoWhereItCountsBesides) {
  wishes.wants_totals = true;
  // On one processor a thread that is begun often runs before the one that has begun it goes on.
  cpu_set_t all;
  ASSERT_EQ(::sched_getaffinity(0, sizeof all, &all), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  for (int time = 0; time < 1'000 && !HasFailure(); ++time) expect_both(run(sends({folder / "out/other"}), takes()));
  EXPECT_EQ(::sched_setaffinity(0, sizeof all, &all), 0);
}

TEST_F(Work, SaysThatTwoPathsWouldHaveOnePlace) {
  std::filesystem::create_directories(folder / "out/b");
  folder.write("out/b/other", bytes_of("another"));
  const Results results = run(receives({"other", "b/other"}), serves());
  ASSERT_FALSE(results.connector);
  EXPECT_EQ(results.connector.error().code, Errc::stream_refused);
  EXPECT_THAT(results.connector.error().message(), HasSubstr("two files named \"other\""));
}

TEST_F(Work, SaysWhatIsNotThere) {
  const Results results = run(receives({"none/none"}), serves());
  EXPECT_EQ(results.listener.error().code, Errc::local_read_failed);
  EXPECT_EQ(results.connector.error().code, Errc::remote_read_failed);
}

TEST_F(Work, WritesManifestsOfBothEnds) {
  const auto sends_with_manifest = [&](Wire& wire, Tally& tally) {
    Wishes own = wishes;
    own.manifest = folder / "sent";
    return send_as_connector(wire, {.paths = {folder / "out/d"}}, "", own, tally);
  };
  wishes.manifest = folder / "received";
  expect_both(run(sends_with_manifest, takes()));
  const auto sorted_lines = [&](const char* name) {
    std::istringstream text(test::text_of(folder.read(name)));
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    std::ranges::sort(lines);
    return lines;
  };
  EXPECT_THAT(sorted_lines("sent"), SizeIs(Gt(2U)));
  EXPECT_EQ(sorted_lines("sent"), sorted_lines("received"));
}

TEST_F(Work, TakesNamesOfAList) {
  folder.write("list",
               bytes_of(folder / "out/other" + '\0' + (folder / "out/other") + '\0' + (folder / "out/none") + '\0'));
  Troubles at_sender;
  JoinedWires wires;
  auto receiving = std::async(std::launch::async, [&] {
    Troubles troubles;
    return receive_as_listener(wires.there, folder / "in", wishes, {}, claims, troubles.tally);
  });
  EXPECT_TRUE(send_as_connector(wires.here, {.paths = {}, .list = folder / "list"}, "", wishes, at_sender.tally));
  EXPECT_TRUE(receiving.get());
  EXPECT_EQ(folder.read("in/" + (folder / "out/other").substr(1)), bytes_of("other"));
  EXPECT_THAT(at_sender.lines(), ElementsAre(HasSubstr("it is not there"))) << "the rest arrives";
}

TEST_F(Work, OfAListThatIsNotThereOrHasLinesIsRefused) {
  folder.write("lines", bytes_of("out/other\nout/d\n"));
  for (const auto& [list, code] : {std::pair("none", Errc::local_read_failed), {"lines", Errc::bad_argument}}) {
    const End sends_listed = [&, name = list](Wire& wire, Tally& tally) {
      return send_as_connector(wire, {.paths = {}, .list = folder / name}, "", wishes, tally);
    };
    const Results results = run(sends_listed, takes());
    ASSERT_FALSE(results.connector);
    EXPECT_EQ(results.connector.error().code, code) << results.connector.error().message();
    EXPECT_FALSE(results.listener);
  }
}

TEST_F(Work, MakesABookOfItsDirectory) {
  wishes.books = folder / "books";
  for (int i = 0; i < 2; ++i) expect_both(run(sends({folder / "out/d"}), takes()));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder / "books"), {}), 1);
}

}  // namespace
}  // namespace udtcat::trees
