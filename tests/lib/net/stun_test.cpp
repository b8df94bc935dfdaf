// SPDX-License-Identifier: Apache-2.0
#include "lib/net/stun.hpp"

#include <gtest/gtest.h>

#include "support/spec_example.hpp"

namespace udtcat::net {
namespace {

TEST(BindingIndication, IsTheHeaderOfRfc8489WithoutAttributes) {
  EXPECT_EQ(binding_indication(), test::SpecExample("rsh.md", "check").bytes("check"));
  EXPECT_TRUE(is_binding_indication(binding_indication()));
}

TEST(BindingIndication, IsNothingElse) {
  const auto whole = binding_indication();
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes)
    EXPECT_FALSE(is_binding_indication(std::span(whole).first(bytes))) << bytes;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    auto changed = whole;
    changed[at] ^= std::byte{1};
    EXPECT_FALSE(is_binding_indication(changed)) << at;
  }
  auto longer = whole;
  longer.push_back(std::byte{0});
  EXPECT_FALSE(is_binding_indication(longer));
}

}  // namespace
}  // namespace udtcat::net
