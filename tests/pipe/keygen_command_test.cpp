// SPDX-License-Identifier: Apache-2.0
#include "pipe/commands.hpp"

#include <gmock/gmock.h>

#include "support/temp_dir.hpp"

namespace udtcat::pipe {
namespace {

using testing::HasSubstr;

class KeygenPair : public testing::Test {
 protected:
  const test::TempDir home_;
  const std::filesystem::path file_ = home_ / "own/identity";
  const std::filesystem::path public_file_ = home_ / "own/identity.pub";
};

TEST_F(KeygenPair, WritesBothHalvesOfOnePair) {
  const auto line = make_pair_of_files(file_, "me@here");
  ASSERT_TRUE(line) << line.error().message();
  const auto pair = KeyPair::from_file(file_.string());
  ASSERT_TRUE(pair) << pair.error().message();
  EXPECT_EQ(*line, pair->public_key().to_string() + " me@here\n");
  EXPECT_EQ(test::read_file(public_file_), *line);
}

TEST_F(KeygenPair, OverwritesNeitherHalf) {
  ASSERT_TRUE(make_pair_of_files(file_, ""));
  const std::string secret = test::read_file(file_);
  for (const auto& taken_away : {public_file_, file_}) {
    EXPECT_FALSE(make_pair_of_files(file_, ""));
    EXPECT_EQ(test::read_file(file_), secret);
    std::filesystem::rename(taken_away, taken_away.string() + ".away");
    const auto refused = make_pair_of_files(file_, "");
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message(), HasSubstr("not overwritten"));
    std::filesystem::rename(taken_away.string() + ".away", taken_away);
  }
}

TEST_F(KeygenPair, TakesOneFileAtTheMost) {
  EXPECT_TRUE(keygen_pair_command().parse({}));
  EXPECT_TRUE(keygen_pair_command().parse({"file"}));
  EXPECT_EQ(*keygen_pair_command().parse({"--help"}), nullptr);
  EXPECT_FALSE(keygen_pair_command().parse({"one", "two"}));
  EXPECT_FALSE(keygen_pair_command().parse({"--lanes", "3"}));
}

}  // namespace
}  // namespace udtcat::pipe
