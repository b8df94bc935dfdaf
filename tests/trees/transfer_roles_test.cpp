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

class TransferRoles : public testing::Test {
 protected:
  TransferRoles() {
    std::filesystem::create_directories(folder / "out/d");
    folder.write("out/d/file", kContent);
    folder.write("out/other", bytes_of("other"));
    std::filesystem::create_directory(folder / "in");
  }

  using End = std::function<Status(BlockingStream&, TransferCounters&)>;
  struct Results {
    Status connector;
    Status listener;
  };
  /// Both ends, until both are over; each cuts its stream where it has failed, as a Transfer does.
  Results run(const End& connector, const End& listener) {
    JoinedStreams streams;
    const auto begin = [](BlockingStream& stream, const End& end) {
      return std::async(std::launch::async, [&stream, &end] {
        RecordedErrors recorded;
        const Status over = end(stream, recorded.counters);
        if (!over) stream.cut();
        return over;
      });
    };
    auto here = begin(streams.here, connector);
    auto there = begin(streams.there, listener);
    return {here.get(), there.get()};
  }
  End sends(const std::vector<std::string>& paths, const std::string& place = "") {
    return [=, this](BlockingStream& stream, TransferCounters& counters) {
      return send_as_connector(stream, {.paths = paths}, place, options, counters);
    };
  }
  End receives(const std::vector<std::string>& paths) {
    return [=, this](BlockingStream& stream, TransferCounters& counters) {
      return receive_as_connector(stream, paths, folder / "in", options, {}, counters);
    };
  }
  End takes() {
    return [this](BlockingStream& stream, TransferCounters& counters) {
      return receive_as_listener(stream, {.directory = folder / "in"}, options, {}, active, counters);
    };
  }
  End serves() {
    return [this](BlockingStream& stream, TransferCounters& counters) {
      return send_as_listener(stream, {.directory = folder / "out"}, counters);
    };
  }
  End serves_account() {
    return [this](BlockingStream& stream, TransferCounters& counters) {
      return serve_account(stream, options, {}, counters);
    };
  }
  End receives_for_login() {
    return [this](BlockingStream& stream, TransferCounters& counters) {
      return receive_for_login(stream, folder / "in", options, {}, counters);
    };
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
  TransferOptions options;
  ActiveTransfers active;
};

TEST_F(TransferRoles, SendFromAConnector) {
  expect_both(run(sends({folder / "out/d", folder / "out/other"}), takes()));
  EXPECT_THAT(names(), ElementsAre("d", "other"));
  EXPECT_EQ(folder.read("in/d/file"), kContent);
}

TEST_F(TransferRoles, ReceiveAtAConnector) {
  expect_both(run(receives({"d/file"}), serves()));
  EXPECT_THAT(names(), ElementsAre("file"));
  expect_both(run(receives({}), serves()));
  EXPECT_THAT(names(), ElementsAre("d", "file", "other"));
}

TEST_F(TransferRoles, OfALoginReceiveBelowItsDirectoryAlone) {
  expect_both(run(sends({folder / "out/other"}), receives_for_login()));
  expect_both(run(sends({folder / "out/other"}, "~/./a//b/"), receives_for_login()));
  EXPECT_THAT(names(), ElementsAre("a", "other"));
  EXPECT_EQ(folder.read("in/a/b/other"), bytes_of("other"));
  for (const char* place : {"/tmp", "..", "a/../../out", "~/../x"})
    expect_refused(run(sends({folder / "out/other"}, place), receives_for_login()), "below a directory of its own");
  expect_refused(run(receives({folder / "out/other"}), receives_for_login()), "may only receive");
  std::filesystem::create_directory_symlink(folder / "out", folder / "in/link");
  EXPECT_FALSE(run(sends({folder / "in/other"}, "link"), receives_for_login()).listener) << "no link leads out";
}

TEST_F(TransferRoles, TakePathsOfAnAccountAsAShellDoes) {
  expect_both(run(sends({folder / "out/."}, folder / "in/new"), serves_account()));
  EXPECT_EQ(folder.read("in/new/other"), bytes_of("other"));
  expect_both(run(receives({folder / "out/d", folder / "out/d/.."}), serves_account()));
  EXPECT_EQ(folder.read("in/other"), bytes_of("other"));
}

TEST_F(TransferRoles, StayBelowTheDirectoryOfAListener) {
  for (const char* path : {"../out/other", "/etc/passwd", "d/../../in"})
    expect_refused(run(receives({path}), serves()), "paths are those below the directory that is served");
  EXPECT_THAT(names(), IsEmpty());
  expect_refused(run(sends({folder / "out"}, "/tmp"), takes()), "the listener has a directory of its own");
}

TEST_F(TransferRoles, RefuseTwoSendersAndTwoReceivers) {
  expect_refused(run(sends({folder / "out"}), serves()), "the listener sends, too");
  expect_refused(run(receives({}), takes()), "the listener receives, too");
}

TEST_F(TransferRoles, BeginWithHello) {
  const End stranger = [](BlockingStream& stream, TransferCounters& /*unused*/) {
    const Status said = stream.write(bytes_of("GET / HTTP/1.1\r\n\r\n"));
    stream.finish();
    return said;
  };
  EXPECT_EQ(run(stranger, takes()).listener.error().code, Errc::protocol_violated);
  EXPECT_EQ(run(stranger, serves()).listener.error().code, Errc::protocol_violated);
  const End silent = [](BlockingStream& stream, TransferCounters& /*unused*/) {
    stream.finish();
    return Status();
  };
  EXPECT_EQ(run(silent, takes()).listener.error().code, Errc::protocol_violated);
}

TEST_F(TransferRoles, BeginWithHelloAlsoWhereTotalsAreCounted) {
  options.wants_totals = true;
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

TEST_F(TransferRoles, ReportTwoPathsOfOneName) {
  std::filesystem::create_directories(folder / "out/b");
  folder.write("out/b/other", bytes_of("another"));
  const Results results = run(receives({"other", "b/other"}), serves());
  ASSERT_FALSE(results.connector);
  EXPECT_EQ(results.connector.error().code, Errc::stream_refused);
  EXPECT_THAT(results.connector.error().message(), HasSubstr("two files named \"other\""));
}

TEST_F(TransferRoles, ReportAMissingPath) {
  const Results results = run(receives({"none/none"}), serves());
  EXPECT_EQ(results.listener.error().code, Errc::local_read_failed);
  EXPECT_EQ(results.connector.error().code, Errc::remote_read_failed);
}

TEST_F(TransferRoles, WriteManifestsAtBothEnds) {
  const auto sends_with_manifest = [&](BlockingStream& stream, TransferCounters& counters) {
    TransferOptions own = options;
    own.manifest = folder / "sent";
    return send_as_connector(stream, {.paths = {folder / "out/d"}}, "", own, counters);
  };
  options.manifest = folder / "received";
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

TEST_F(TransferRoles, SendNamesOfAList) {
  folder.write("list",
               bytes_of(folder / "out/other" + '\0' + (folder / "out/other") + '\0' + (folder / "out/none") + '\0'));
  RecordedErrors at_sender;
  JoinedStreams streams;
  auto receiving = std::async(std::launch::async, [&] {
    RecordedErrors recorded;
    return receive_as_listener(streams.there, {.directory = folder / "in"}, options, {}, active, recorded.counters);
  });
  EXPECT_TRUE(send_as_connector(streams.here, {.paths = {}, .list = folder / "list"}, "", options, at_sender.counters));
  EXPECT_TRUE(receiving.get());
  EXPECT_EQ(folder.read("in/" + (folder / "out/other").substr(1)), bytes_of("other"));
  EXPECT_THAT(at_sender.lines(), ElementsAre(HasSubstr("no such file or directory"))) << "the rest arrives";
}

TEST_F(TransferRoles, RefuseAMissingListAndAListOfLines) {
  folder.write("lines", bytes_of("out/other\nout/d\n"));
  for (const auto& [list, code] : {std::pair("none", Errc::local_read_failed), {"lines", Errc::bad_argument}}) {
    const End sends_listed = [&, name = list](BlockingStream& stream, TransferCounters& counters) {
      return send_as_connector(stream, {.paths = {}, .list = folder / name}, "", options, counters);
    };
    const Results results = run(sends_listed, takes());
    ASSERT_FALSE(results.connector);
    EXPECT_EQ(results.connector.error().code, code) << results.connector.error().message();
    EXPECT_FALSE(results.listener);
  }
}

TEST_F(TransferRoles, MakeAHashCacheOfTheDirectory) {
  options.caches = folder / "caches";
  for (int i = 0; i < 2; ++i) expect_both(run(sends({folder / "out/d"}), takes()));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder / "caches"), {}), 1);
}

}  // namespace
}  // namespace udtcat::trees
