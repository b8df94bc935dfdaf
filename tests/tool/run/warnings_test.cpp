// SPDX-License-Identifier: Apache-2.0
#include "tool/run/warnings.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <udtcat/key_pair.hpp>

#include "support/temp_dir.hpp"
#include "tool/identity/peer_line.hpp"
#include "tool/identity/peers_file.hpp"

namespace udtcat::tool {
namespace {

using testing::HasSubstr;

TEST(ProtectionWarning, IsNoneForPrivate) { EXPECT_FALSE(protection_warning(Protection::private_)); }

TEST(ProtectionWarning, SaysWhatIsNotProtected) {
  EXPECT_THAT(protection_warning(Protection::safe).value_or(""), HasSubstr("can read"));
  EXPECT_THAT(protection_warning(Protection::auth).value_or(""), HasSubstr("read and change"));
}

TEST(ProtectionWarning, IsAWarningAtClear) {
  EXPECT_THAT(protection_warning(Protection::clear).value_or(""), HasSubstr("WARNING"));
}

using namespace std::chrono_literals;

TEST(RefusalLog, CountsPeersByTheKindOfReason) {
  boost::asio::io_context io;
  RefusalLog refusals(io);
  for (const char* text : {"one text", "another"}) refusals.add({}, {Errc::authentication_failed, "TLS", text});
  refusals.add({}, {Errc::parameters_refused, "agree", "purpose"});
  const auto snapshots = refusals.snapshots();
  ASSERT_EQ(snapshots.size(), 2U);
  EXPECT_EQ(snapshots[0].count + snapshots[1].count, 3U);
  EXPECT_THAT(snapshots, testing::Contains(testing::Field(&RefusalSnapshot::reason, "the keys do not match")));
  EXPECT_LT(snapshots[0].ago, 60s);
  EXPECT_THAT(snapshots[0].last + snapshots[1].last, HasSubstr("TLS: another"));
}

TEST(RefusalLog, TellsAnUnlistedKeyFromAnotherSharedKey) {
  boost::asio::io_context io;
  RefusalLog refusals(io);
  refusals.add({}, {Errc::authentication_failed, std::string(kAdmitKey) + "KEY", "peers has no line with it"});
  refusals.add({}, {Errc::authentication_failed, "TLS", "bad record"});
  EXPECT_EQ(refusals.snapshots().size(), 2U);
  EXPECT_THAT(refusals.snapshots(),
              testing::Contains(testing::Field(&RefusalSnapshot::reason, "the peers file does not let this key in")));
}

TEST(RefusalLog, TellsAKeyThatDoesNotCountNowFromEndsThatDisagree) {
  const test::TempDir folder;
  const PublicKey alice = KeyPair::generate()->public_key();
  SystemTime now{};
  const auto peers = PeersFile::load(
      folder.write("peers", "alice " + alice.to_string() + " pipe valid-after=2026-12-01 valid-before=2027-01-01\n"),
      [&] { return now; });
  ASSERT_TRUE(peers) << peers.error().message();
  boost::asio::io_context io;
  RefusalLog refusals(io);
  for (const char* date : {"2026-11-30", "2026-12-15", "2027-01-02"}) {
    now = parse_date(date).value();
    refusals.add({}, (*peers)->recognise(alice, "rsh").error());
  }
  std::map<std::string, std::uint64_t> counts;
  for (const RefusalSnapshot& kind : refusals.snapshots()) counts[kind.reason] = kind.count;
  EXPECT_EQ(counts, (std::map<std::string, std::uint64_t>{{"the peers file does not let this key in at this time", 2},
                                                          {"the two ends ask for different things", 1}}));
}

}  // namespace
}  // namespace udtcat::tool
