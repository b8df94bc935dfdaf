// SPDX-License-Identifier: Apache-2.0
#include "tool/identity/credential_lookup.hpp"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/temp_dir.hpp"
#include "tool/support/pipe.hpp"
#include "tool/support/user_files.hpp"

namespace udtcat::tool {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kKeyText =
    "udtcat1-AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh9jDc0p";  // docs/spec/handshake.md §1

class KeyFile : public testing::Test {
 protected:
  [[nodiscard]] std::string write(const std::string& text, mode_t mode = 0600) const {
    return folder_.write("key", text, mode);
  }
  void expect_refused(const std::string& path, const std::string& why) const {
    const auto key = Key::from_file(path);
    ASSERT_FALSE(key);
    EXPECT_EQ(key.error().code, Errc::bad_argument);
    EXPECT_THAT(key.error().what, HasSubstr(path));
    EXPECT_THAT(key.error().cause, HasSubstr(why));
    EXPECT_THAT(key.error().message(), Not(HasSubstr("AAECAw")));
  }

  const test::TempDir folder_;
  const std::filesystem::path path_ = folder_ / "key";
};

TEST_F(KeyFile, IsReadWithWhiteSpaceAroundTheKey) {
  const auto key = Key::from_file(write(std::string("\n  ") + kKeyText + "\n\n"));
  ASSERT_TRUE(key) << key.error().message();
  EXPECT_EQ(key->reveal_text(), kKeyText);
}

TEST_F(KeyFile, ThatOnlyItsOwnerCanReadIsTaken) {
  for (const mode_t mode : {0600U, 0400U, 0700U}) EXPECT_TRUE(Key::from_file(write(kKeyText, mode))) << mode;
}

TEST_F(KeyFile, ThatOthersCanUseInAnyWayIsRefused) {
  for (const mode_t mode : {0640U, 0604U, 0620U, 0602U, 0610U, 0601U, 0644U, 0666U, 0777U})
    expect_refused(write(kKeyText, mode), "too open");
  expect_refused(write(kKeyText, 0644), "0644");
}

TEST_F(KeyFile, OfAnotherUserIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  const std::string path = write(kKeyText);
  constexpr uid_t kSomebody = 12345;
  ASSERT_EQ(::chown(path.c_str(), kSomebody, static_cast<gid_t>(-1)), 0);
  expect_refused(path, "another user");
}

TEST_F(KeyFile, ThatIsNotThereIsRefused) { expect_refused(path_.string(), "no such file"); }
TEST_F(KeyFile, ThatIsADirectoryIsRefused) { expect_refused("/", ""); }
TEST_F(KeyFile, WithATypingErrorIsRefusedWithoutQuotingIt) {
  std::string text = kKeyText;
  text.back() = 'q';
  expect_refused(write(text), "");
}
TEST_F(KeyFile, WithoutAKeyIsRefused) { expect_refused(write(""), ""); }
TEST_F(KeyFile, ThatIsHugeIsRefused) { expect_refused(write(std::string(1 << 20, 'x')), ""); }

TEST_F(KeyFile, ThatIsAPipeIsReadToTheEndOfItsLineAndNoFurther) {
  Pipe pipe;
  pipe.write(std::string(kKeyText) + "\ndata");
  const auto key = Key::from_file("/proc/self/fd/" + std::to_string(pipe.reader()));
  ASSERT_TRUE(key) << key.error().message();
  EXPECT_EQ(key->reveal_text(), kKeyText);
  EXPECT_EQ(pipe.drain(), "data");
}

TEST_F(KeyFile, ThatHasToBeRegularIsNotWaitedFor) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  const auto key = Key::from_file(path_.string(), Key::FromFile::regular_only);
  ASSERT_FALSE(key);
  EXPECT_THAT(key.error().message(), HasSubstr("no regular file"));
  EXPECT_FALSE(Key::from_file("/dev/zero", Key::FromFile::regular_only));
  std::filesystem::remove(path_);
  EXPECT_TRUE(Key::from_file(write(kKeyText), Key::FromFile::regular_only));
}

class EnvironmentKey : public testing::Test {
 protected:
  EnvironmentKey() { ::unsetenv(kKeyVariable); }
  ~EnvironmentKey() override { ::unsetenv(kKeyVariable); }
};

TEST_F(EnvironmentKey, IsTakenOutOfTheEnvironment) {
  ::setenv(kKeyVariable, kKeyText, 1);
  const auto text = take_environment_key();
  ASSERT_TRUE(text);
  EXPECT_EQ(text->view(), kKeyText);
  EXPECT_EQ(std::getenv(kKeyVariable), nullptr);
  EXPECT_FALSE(take_environment_key());
}

TEST_F(EnvironmentKey, IsErasedFromTheMemoryOfTheEnvironment) {
  // putenv() leaves the memory ours to look at.
  std::string entry = std::string(kKeyVariable) + "=" + kKeyText;
  ASSERT_EQ(::putenv(entry.data()), 0);
  ASSERT_TRUE(take_environment_key());
  const std::string value = entry.substr(std::strlen(kKeyVariable) + 1);
  EXPECT_EQ(value, std::string(value.size(), '\0'));
}

TEST_F(EnvironmentKey, ThatIsEmptyIsNone) {
  ::setenv(kKeyVariable, "", 1);
  EXPECT_FALSE(take_environment_key());
  EXPECT_EQ(std::getenv(kKeyVariable), nullptr);
}

class FindCredentials : public testing::Test {
 protected:
  [[nodiscard]] Result<FoundCredentials> find(std::optional<core::SecretText> environment = std::nullopt) {
    return find_credentials(options_,
                            {.environment = std::move(environment), .beside_configuration = beside_configuration_},
                            [this](const std::string& question) -> Result<core::SecretText> {
                              question_ = question;
                              if (typed_.empty()) return fail(Errc::bad_argument, "no key", "nobody to ask");
                              return core::SecretText(typed_);
                            });
  }
  void expect_key(const Result<FoundCredentials>& found) const {
    ASSERT_TRUE(found) << found.error().message();
    ASSERT_TRUE(found->credentials);
    EXPECT_EQ(found->credentials->shared()->reveal_text(), kKeyText);
    EXPECT_FALSE(found->generated);
    EXPECT_EQ(question_, "") << "nobody had to be asked";
  }

  const test::UserFiles user_;
  Options options_{.peer = {"example.org", 9000}};
  std::optional<std::string> beside_configuration_;
  std::string typed_;
  std::string question_;
};

TEST_F(FindCredentials, AsksAPersonWhereTheTerminalIsNamedAsTheFile) {
  user_.write("key", Key::generate()->reveal_text());
  options_.key_file = kTerminal;
  typed_ = kKeyText;
  const auto found = find(core::SecretText(Key::generate()->reveal_text()));
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(found->credentials->shared()->reveal_text(), kKeyText);
  EXPECT_EQ(question_, "Key of example.org:9000: ");
  EXPECT_EQ(key_in_words(*found), "the shared key of the terminal");
  options_.peers_file = "peers";
  EXPECT_FALSE(find()) << "which is for key pairs";
}

/// A user with a key pair in his directory.
class FindPairCredentials : public FindCredentials {
 protected:
  FindPairCredentials() { user_.write("identity", pair_.reveal_text()); }
  void know(const std::string& name) const { user_.write("peers", name + " " + db_.to_string() + "\n"); }
  void expect_pair_for_db(const Result<FoundCredentials>& found) const {
    ASSERT_TRUE(found) << found.error().message();
    const PairCredentials* pair = found->credentials->pair();
    ASSERT_NE(pair, nullptr);
    EXPECT_EQ(pair->own->public_key(), pair_.public_key());
    EXPECT_EQ(pair->listener, db_);
    EXPECT_TRUE(pair->peers->recognise(db_, "pipe"));
    EXPECT_FALSE(pair->peers->recognise(pair_.public_key(), "pipe"));
  }

  const KeyPair pair_ = KeyPair::generate().value();
  const PublicKey db_ = KeyPair::generate()->public_key();
};

TEST_F(FindPairCredentials, TakesTheUsersPairForAListenerWhoseKeyIsGiven) {
  options_.peer_key = db_;
  expect_pair_for_db(find());
}

TEST_F(FindPairCredentials, TakesTheUsersPairForAListenerInThePeersFile) {
  know("example.org");
  const auto found = find();
  expect_pair_for_db(found);
  EXPECT_THAT(key_in_words(*found), AllOf(HasSubstr("the key pair of "), HasSubstr("identity")));
}

TEST_F(FindPairCredentials, TakesTheUsersPairForAnAddressInThePeersFileOnly) {
  know("example.org:9000");
  expect_pair_for_db(find());
  user_.write("key", kKeyText);
  options_.peer.port = 9001;
  const auto found = find();
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_NE(found->credentials->shared(), nullptr) << "a listener of its own, of which nothing is known";
}

TEST_F(FindPairCredentials, TakesTheLineOfAnAddressBeforeThatOfItsHost) {
  user_.write("peers", "example.org " + KeyPair::generate()->public_key().to_string() + "\nexample.org:9000 " +
                           db_.to_string() + "\n");
  expect_pair_for_db(find());
}

TEST_F(FindPairCredentials, TakesTheUsersPairForAListenerByItsName) {
  know("db");
  options_.session.expected_peer = "db";
  expect_pair_for_db(find());
}

TEST_F(FindPairCredentials, TakesASharedKeyForAListenerThatIsNotNamed) {
  know("example.net");
  typed_ = kKeyText;
  const auto found = find();
  ASSERT_TRUE(found);
  EXPECT_NE(found->credentials->shared(), nullptr);
}

TEST_F(FindPairCredentials, TakesNoSharedKeyWhereThePeersFileIsALinkToNothing) {
  user_.write("key", kKeyText);
  std::filesystem::create_symlink("on/another/disk", user_.path_of("peers"));
  const auto found = find();
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message(), HasSubstr(user_.path_of("peers")));
}

TEST_F(FindPairCredentials, TakesASharedKeyWithItsNames) {
  know("example.net");
  options_.session.expected_peer = "beta";
  expect_key(find(core::SecretText(kKeyText)));
}

TEST_F(FindPairCredentials, SaysThatThePeersFileLacksTheNameForWhichASharedKeyIsTaken) {
  const std::string file = user_.write("key", kKeyText);
  know("example.net");
  options_.session.expected_peer = "dbhost";
  const std::string unlisted = user_.path_of("peers") + " has no line dbhost, so the shared key of ";
  EXPECT_THAT(find()->doubt,
              AllOf(HasSubstr(unlisted + file), HasSubstr("dbhost PUBLIC-KEY"), Not(HasSubstr("--trust-first"))));
  EXPECT_THAT(find(core::SecretText(kKeyText))->doubt, HasSubstr(unlisted + "$"));
  options_.key_file = file;
  EXPECT_EQ(find()->doubt, "") << "the user has named it";
  options_.key_file = user_.path_of("identity");
  EXPECT_THAT(find().error().message(), HasSubstr("peers has no line dbhost: write dbhost PUBLIC-KEY into it"));
  options_.key_file.reset();
  options_.session.expected_peer.clear();
  EXPECT_EQ(find()->doubt, "") << "a host is no name of a line";
}

TEST_F(FindPairCredentials, SaysOfAPublicKeyThatItIsOne) {
  options_.key_file = user_.write("identity.pub", pair_.public_key().to_string() + " me@here\n");
  for (const auto mode : {0644, 0600}) {
    std::filesystem::permissions(*options_.key_file, std::filesystem::perms(mode));
    const auto found = find();
    ASSERT_FALSE(found);
    EXPECT_THAT(found.error().message(), AllOf(HasSubstr("identity.pub"), HasSubstr("it holds a public key")));
  }
}

TEST_F(FindPairCredentials, TakesNoSharedKeyWhereAnOptionWantsAPair) {
  options_.trust_on_first_use = true;
  const auto found = find(core::SecretText(kKeyText));
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message(), AllOf(HasSubstr("--trust-first"), HasSubstr(kKeyVariable)));
}

TEST_F(FindPairCredentials, NeedsAPeersFileForAListener) {
  options_.listens = true;
  options_.key_file = user_.path_of("identity");
  const auto found = find();
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message(), HasSubstr("--peers FILE"));
  know("db");
  options_.peers_file = user_.path_of("peers");
  const auto listed = find();
  ASSERT_TRUE(listed) << listed.error().message();
  EXPECT_EQ(listed->peers->list().find("db")->key, db_);
  EXPECT_EQ(listed->credentials->pair()->peers, listed->peers);
}

TEST_F(FindPairCredentials, SaysWithWhichOptionAPairThatIsThereIsUsed) {
  const auto found = find();
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message(), AllOf(HasSubstr(user_.path_of("identity")), HasSubstr("--peer PUBLIC-KEY")));
  EXPECT_THAT(question_, HasSubstr("--peer PUBLIC-KEY")) << "before a key is typed in vain";
}

TEST_F(FindPairCredentials, TakesTheUsersPairBeforeASharedKeyWhereThePeerIsKnown) {
  user_.write("key", kKeyText);
  know("example.org");
  expect_pair_for_db(find());
}

TEST_F(FindCredentials, TakesTheKeyInTheUsersDirectoryByDefault) {
  const std::string file = user_.write("key", kKeyText);
  const auto found = find();
  expect_key(found);
  EXPECT_EQ(found->where, file);
  options_.listens = options_.shows_new_key = true;
  expect_key(find());
}

TEST_F(FindCredentials, TakesTheEnvironmentBeforeTheUsersDirectory) {
  user_.write("key", "no key");
  const auto found = find(core::SecretText(kKeyText));
  expect_key(found);
  EXPECT_EQ(found->where, "$UDTCAT_KEY");
}

TEST_F(FindCredentials, TakesTheKeyBesideAConfigurationBeforeTheUsersDirectory) {
  user_.write("key", "no key");
  beside_configuration_ = user_.write("db.key", kKeyText);
  const auto found = find();
  expect_key(found);
  EXPECT_EQ(found->where, *beside_configuration_);
}

TEST_F(FindCredentials, TakesTheEnvironmentBeforeTheKeyBesideAConfiguration) {
  beside_configuration_ = user_.write("db.key", "no key");
  expect_key(find(core::SecretText(kKeyText)));
}

TEST(KeyBesideAConfiguration, IsThatOfItsName) {
  const test::TempDir folder;
  const std::string key = folder.write("db.key", kKeyText);
  EXPECT_EQ(key_beside(folder / "db.conf"), key);
  EXPECT_EQ(key_beside(folder / "web.conf"), std::nullopt) << "it is not there";
  EXPECT_EQ(key_beside(folder / "db"), std::nullopt) << "no configuration's name";
}

TEST_F(FindCredentials, RefusesTheKeyInTheUsersDirectoryWhereOthersCanReadIt) {
  user_.write("key", kKeyText, 0644);
  const auto found = find();
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message(), AllOf(HasSubstr(user_.path_of("key")), HasSubstr("too open")));
}

TEST_F(FindCredentials, TakesTheEnvironmentBeforeItAsks) { expect_key(find(core::SecretText(kKeyText))); }

TEST_F(FindCredentials, TakesAFileBeforeTheEnvironment) {
  options_.key_file = "/nonexistent";
  const auto found = find(core::SecretText(kKeyText));
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message(), HasSubstr("/nonexistent"));
}

TEST_F(FindCredentials, AsksTheUserOfAConnector) {
  typed_ = kKeyText;
  const auto found = find();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->credentials->shared()->reveal_text(), kKeyText);
  EXPECT_EQ(question_, "Key of example.org:9000: ");
}

TEST_F(FindCredentials, FailsWhereNobodyCanBeAsked) { EXPECT_FALSE(find()); }

TEST_F(FindCredentials, GeneratesAKeyForAListenerWithoutAsking) {
  options_.shows_new_key = true;
  const auto found = find();
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->credentials && found->generated);
  EXPECT_EQ(question_, "");
}

TEST_F(FindCredentials, NeedsNoKeyAtClear) {
  options_.session.protection = Protection::clear;
  const auto found = find();
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->credentials);
}

TEST_F(FindCredentials, FailsWithoutAKeyAboveClear) {
  for (const Protection protection : {Protection::private_, Protection::safe, Protection::auth}) {
    options_.session.protection = protection;
    EXPECT_FALSE(find());
  }
}

TEST_F(FindCredentials, NeverQuotesABadKey) {
  std::string nearly = kKeyText;
  nearly.back() = 'q';
  const auto found = find(core::SecretText(nearly));
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message(), HasSubstr(kKeyVariable));
  EXPECT_THAT(found.error().message(), Not(HasSubstr("AAECAw")));
}

}  // namespace
}  // namespace udtcat::tool
