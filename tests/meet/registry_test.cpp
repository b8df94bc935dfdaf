// SPDX-License-Identifier: Apache-2.0
#include "meet/registry.hpp"

#include <list>

#include <gtest/gtest.h>

namespace udtcat::meet {
namespace {

PublicKey name_of(std::size_t number) {
  std::array<std::byte, PublicKey::kBytes> bytes{};
  for (std::size_t i = 0; i < 4; ++i) bytes[i] = static_cast<std::byte>(number >> (8 * i));
  return PublicKey(bytes);
}

TEST(Registry, FindsTheLatestByANameAndThenThoseBeforeIt) {
  Registry registry;
  const RegisteredListener first;
  const RegisteredListener second;
  EXPECT_EQ(registry.find(name_of(1)), nullptr);
  registry.add(name_of(1), first);
  registry.add(name_of(1), second);
  EXPECT_EQ(registry.find(name_of(1)), &second);
  registry.remove(name_of(1), second);
  EXPECT_EQ(registry.find(name_of(1)), &first);
  registry.remove(name_of(1), first);
  EXPECT_EQ(registry.find(name_of(1)), nullptr);
}

TEST(Registry, FindsOneOfTenThousand) {
  constexpr std::size_t kCount = 10'000;
  Registry registry;
  std::list<RegisteredListener> all;
  for (std::size_t i = 0; i < kCount; ++i) registry.add(name_of(i), all.emplace_back());
  std::size_t i = 0;
  for (const RegisteredListener& each : all) ASSERT_EQ(registry.find(name_of(i++)), &each);
  EXPECT_EQ(registry.find(name_of(kCount)), nullptr);
}

}  // namespace
}  // namespace udtcat::meet
