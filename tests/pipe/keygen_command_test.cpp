// SPDX-License-Identifier: Apache-2.0
#include "pipe/commands.hpp"

#include <filesystem>
#include <fstream>

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
  EXPECT_FALSE(make_pair_of_files(file_, ""));
  EXPECT_EQ(test::read_file(file_), secret);
  std::filesystem::remove(file_);
  const auto refused = make_pair_of_files(file_, "");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("not overwritten"));
}

TEST_F(KeygenPair, WritesThePublicHalfThatIsMissing) {
  const auto line = make_pair_of_files(file_, "me@here");
  ASSERT_TRUE(line);
  const std::string secret = test::read_file(file_);
  std::filesystem::remove(public_file_);
  EXPECT_EQ(make_pair_of_files(file_, "me@here").value(), *line);
  EXPECT_EQ(test::read_file(public_file_), *line);
  EXPECT_EQ(test::read_file(file_), secret);
}

TEST_F(KeygenPair, TakesNoFileForItsSecretThatIsNone) {
  std::filesystem::create_directories(file_.parent_path());
  std::ofstream(file_) << "something of the user's\n";
  const auto refused = make_pair_of_files(file_, "");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("not overwritten"));
  EXPECT_FALSE(std::filesystem::exists(public_file_));
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
