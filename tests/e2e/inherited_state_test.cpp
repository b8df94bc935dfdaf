// SPDX-License-Identifier: Apache-2.0
/// src/tool/cli/process_setup.hpp: both ends of a pipe, started with what their parent has left them.
#include <gmock/gmock-matchers.h>

#include "e2e/support/udtcat_test.hpp"

namespace udtcat::test::e2e {
namespace {

struct State {
  const char* name;
  const char* before;  // in the shell that starts both ends
};
std::ostream& operator<<(std::ostream& out, const State& state) { return out << state.name; }

TEST(InheritedLimit, OfDescriptorsIsSaidWhereItIsTooLow) {
  if (kSanitized)
    GTEST_SKIP() << "UBSan checks memory by writing it to a pipe; with no descriptor left it calls each object invalid";
  // The loader needs the one that is left.
  const Ran ran =
      run({.argv = {"bash", "-c",
                    "for each in /proc/self/fd/*; do [ ${each##*/} -lt 3 ] || eval \"exec ${each##*/}>&-\"; "
                    "done; exec prlimit --nofile=4 " UDTCAT_BINARY " 127.0.0.1 9 --protect clear"}});
  EXPECT_EQ(ran.status, kReadOrWriteFailed);
  EXPECT_THAT(ran.errors, testing::EndsWith("\nudtcat: make an event loop: too many open files\n"));
}

class InheritedState : public UdtcatTest, public testing::WithParamInterface<State> {};

TEST_P(InheritedState, StopsNoPipe) {
  const TempDir home;
  const std::string port = std::to_string(free_port());
  const Ran ran =
      run({.argv = {"bash", "-c",
                    "out=" + (home / "out").string() + "; " + GetParam().before +
                        "; " UDTCAT_BINARY " -l 127.0.0.1:" + port +
                        " --protect clear --recv-only > \"$out\" & head -c 1000000 /dev/zero | " UDTCAT_BINARY
                        " 127.0.0.1 " +
                        port + " --protect clear --send-only; sent=$?; wait $!; echo $sent $?; wc -c < \"$out\""},
           .working_directory = home.path()});
  EXPECT_EQ(ran.output, "0 0\n1000000\n") << ran.errors;
}

INSTANTIATE_TEST_SUITE_P(Of, InheritedState,
                         testing::Values(State{"SmallStack", "ulimit -s 256"}, State{"FewDescriptors", "ulimit -Sn 16"},
                                         State{"NoHome", "unset HOME"},
                                         State{"HostileCrypto",
                                               "printf 'openssl_conf = all\\n[all]\\nalg_section = algorithms\\n"
                                               "[algorithms]\\ndefault_properties = fips=yes\\n' > cnf; "
                                               "export OPENSSL_CONF=$PWD/cnf"},
                                         State{"DirectoryThatIsGone", "mkdir gone; cd gone; rmdir ../gone"},
                                         State{"IgnoredSignals", "trap '' INT TERM QUIT HUP PIPE CHLD"},
                                         State{"ClosedErrors", "exec 2>&-"}),
                         [](const auto& chosen) { return std::string(chosen.param.name); });

}  // namespace
}  // namespace udtcat::test::e2e
