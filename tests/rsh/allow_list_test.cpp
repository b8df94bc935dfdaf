// SPDX-License-Identifier: Apache-2.0
#include "rsh/allow_list.hpp"

#include <gmock/gmock.h>

namespace udtcat::rsh {
namespace {

using testing::ElementsAre;

constexpr const char* kList = R"(# the daemon's
rsync --server --daemon .  =  /usr/bin/rsync --server --daemon '--config=/etc/my rsyncd.conf' .

uptime = uptime
)";

TEST(AllowLists, RunTheProgramOfTheLineThatIsAskedFor) {
  const auto list = AllowList::parse(kList, "/etc/list").value();
  const auto program = list.program_for(ssh::RunCommand{"rsync --server --daemon ."});
  ASSERT_TRUE(program);
  EXPECT_EQ(program->program, "/usr/bin/rsync");
  EXPECT_THAT(program->words,
              ElementsAre("/usr/bin/rsync", "--server", "--daemon", "--config=/etc/my rsyncd.conf", "."));
}

TEST(AllowLists, RunNothingElse) {
  const auto list = AllowList::parse(kList, "/etc/list").value();
  for (const char* text :
       {"uptime ", "uptime; id", "uptime -p", "Uptime", "/usr/bin/uptime", "sh", "", "#", "# the daemon's"})
    EXPECT_FALSE(list.program_for(ssh::RunCommand{text})) << text;
  EXPECT_FALSE(list.program_for(ssh::RunSubsystem{"uptime"}));
  EXPECT_FALSE(list.program_for(ssh::Exited{0}));
}

TEST(AllowLists, NameTheLineThatCannotBeParsed) {
  for (const char* text : {"uptime", "uptime =", "= uptime", "\n\nuptime=uptime", "a = b\na = c"}) {
    const auto list = AllowList::parse(text, "/etc/list");
    ASSERT_FALSE(list) << text;
    EXPECT_NE(list.error().message().find("/etc/list, line "), std::string::npos);
  }
}

}  // namespace
}  // namespace udtcat::rsh
