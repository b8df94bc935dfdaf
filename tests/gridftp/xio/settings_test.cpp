// SPDX-License-Identifier: Apache-2.0
#include "gridftp/xio/settings.hpp"

#include <map>

#include <gmock/gmock.h>

#include "support/temp_dir.hpp"

namespace udtcat::gridftp::xio {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kNoFile = "/nonexistent/gridftp.key";

std::string make_key_text() { return Key::generate()->reveal_text(); }
std::string text_of(const Result<std::optional<Key>>& key) { return key && *key ? (*key)->reveal_text() : "none"; }

EnvironmentLookup environment(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
}

class FindKey : public testing::Test {
 protected:
  [[nodiscard]] std::string write(const std::string& text, mode_t mode = 0600) const {
    return folder_.write("key", text, mode);
  }

 private:
  const test::TempDir folder_;
};

TEST(Settings, TakesEveryOption) {
  Settings settings;
  ASSERT_TRUE(settings.set_all(
      "protection=safe;threads=3;lanes=4;rate=1G;blocksize=64KiB;keyfile=/some/file;as=here;peer=there;"));
  EXPECT_EQ(settings.session.own_name, "here");
  EXPECT_EQ(settings.session.expected_peer, "there");
  EXPECT_EQ(settings.session.protection, Protection::safe);
  EXPECT_EQ(settings.session.threads, 3U);
  EXPECT_EQ(settings.session.lanes, 4U);
  EXPECT_EQ(settings.transport.rate.bits_per_second(), 1'000'000'000U);
  EXPECT_EQ(settings.session.block_bytes, 64 * kKiB);
  EXPECT_EQ(settings.key_file, "/some/file");
  EXPECT_TRUE(settings.set_all("protection=none"));
  EXPECT_EQ(settings.session.protection, Protection::clear);
}

TEST(Settings, IsForDataConnections) { EXPECT_EQ(Settings().duplicate().session.application, "driver"); }

TEST(Settings, IsPrivateUnlessToldOtherwise) { EXPECT_EQ(Settings().session.protection, Protection::private_); }

TEST(Settings, KeepsTheFirstErrorSoThatNothingOpens) {
  for (const char* text : {"protection=nonsense", "protektion=none", "protection", "threads=0", "threads=x", "lanes=65",
                           "rate=fast", "blocksize=1", "key=udtcat1-short", "as=two words", "peer=", "safe"}) {
    Settings settings;
    EXPECT_FALSE(settings.set_all(text)) << text;
    EXPECT_FALSE(settings.set_all("protection=none")) << "a later option does not heal an earlier one";
    const auto key = find_key(settings.duplicate(), environment({}), "", kNoFile);
    ASSERT_FALSE(key) << text;
    EXPECT_THAT(key.error().message(), HasSubstr(std::string(text).substr(0, std::string(text).find('='))));
  }
}

TEST(Settings, NeverQuotesAKey) {
  Settings settings;
  std::string text = make_key_text();
  text[20] = text[20] == 'A' ? 'B' : 'A';
  const auto refused = settings.set_all("key=" + text);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), Not(HasSubstr(text.substr(8))));
}

TEST_F(FindKey, LooksInOrder) {
  const std::string by_option = make_key_text();
  const std::string by_file = make_key_text();
  const std::string by_variable = make_key_text();
  const std::string file = write(by_file + "\n");
  Settings settings;
  EXPECT_EQ(text_of(find_key(settings, environment({}), "", file)), by_file);
  EXPECT_EQ(text_of(find_key(settings, environment({}), by_variable, file)), by_variable);
  EXPECT_EQ(text_of(find_key(settings, environment({{"UDTCAT_KEY_FILE", file}}), by_variable, kNoFile)), by_file);
  ASSERT_TRUE(settings.set_all("key=" + by_option));
  EXPECT_EQ(text_of(find_key(settings.duplicate(), environment({}), by_variable, file)), by_option);
}

TEST_F(FindKey, NamesTheSourcesWhereThereIsNoKey) {
  const auto key = find_key(Settings(), environment({}), "", kNoFile);
  ASSERT_FALSE(key);
  EXPECT_THAT(key.error().message(), AllOf(HasSubstr("keyfile"), HasSubstr("UDTCAT_KEY_FILE"), HasSubstr(kNoFile)));
}

TEST_F(FindKey, RefusesAFileThatOthersCanRead) {
  const auto key = find_key(Settings(), environment({}), "", write(make_key_text(), 0644));
  ASSERT_FALSE(key);
  EXPECT_THAT(key.error().message(), HasSubstr("permissions"));
}

TEST_F(FindKey, RefusesAPipe) {
  const std::string pipe = write("") + ".pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  Settings settings;
  ASSERT_TRUE(settings.set_all("keyfile=" + pipe));
  for (const auto& key : {find_key(settings, environment({}), "", kNoFile),
                          find_key(Settings(), environment({{"UDTCAT_KEY_FILE", pipe}}), "", kNoFile),
                          find_key(Settings(), environment({}), "", pipe)}) {
    ASSERT_FALSE(key);
    EXPECT_THAT(key.error().message(), AllOf(HasSubstr(pipe), HasSubstr("no regular file")));
  }
  std::filesystem::remove(pipe);
}

TEST_F(FindKey, NeedsNoKeyAtClear) {
  Settings settings;
  ASSERT_TRUE(settings.set_all("protection=none"));
  const auto key = find_key(settings, environment({}), "rubbish", kNoFile);
  ASSERT_TRUE(key);
  EXPECT_FALSE(*key);
}

TEST(UdpPortRange, IsTwoPortsInOrder) {
  const auto range = parse_udp_port_range("50000,51000");
  ASSERT_TRUE(range);
  EXPECT_EQ(range->first, 50000);
  EXPECT_EQ(range->last, 51000);
  EXPECT_TRUE(parse_udp_port_range("50000 50000"));
  for (const char* text : {"", "50000", "50000,", ",50000", "51000,50000", "0,5", "1,70000", "1,2,3", "a,b"})
    EXPECT_FALSE(parse_udp_port_range(text)) << text;
}

}  // namespace
}  // namespace udtcat::gridftp::xio
