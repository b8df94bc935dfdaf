// SPDX-License-Identifier: Apache-2.0
/// ignore_crypto_configuration() of credentials. Each test is a process: OpenSSL reads its configuration once.
#include <udtcat/credentials.hpp>

#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include <udtcat/key.hpp>

#include "support/temp_dir.hpp"

namespace udtcat {
namespace {

/// Wants algorithms of a provider that is not there.
const char* const kHostile =
    "openssl_conf = all\n[all]\nalg_section = algorithms\n[algorithms]\ndefault_properties = fips=yes\n";

TEST(CryptoSetupDeathTest, WorksUnderAConfigurationThatTakesTheAlgorithmsAway) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const test::TempDir dir;
  const std::string file = dir.path() / "openssl.cnf";
  std::ofstream(file) << kHostile;
  const auto make_key = [&] {
    ::setenv("OPENSSL_CONF", file.c_str(), 1);
    ignore_crypto_configuration();
    ::_exit(Key::generate() ? 0 : 99);
  };
  EXPECT_EXIT(make_key(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace udtcat
