// SPDX-License-Identifier: Apache-2.0
#include "lib/core/duplicate.hpp"

#include <memory>

#include <gtest/gtest.h>

namespace udtcat::core {
namespace {

struct Secret {
  explicit Secret(int of) : value(of) {}
  Secret(Secret&&) = default;
  [[nodiscard]] Secret duplicate() const { return Secret(value); }
  int value;
};

TEST(Duplicate, CopiesAValueThatIsThere) {
  EXPECT_EQ(duplicate(std::optional<Secret>(42))->value, 42);
  EXPECT_EQ(duplicate(std::make_shared<const Secret>(42))->value, 42);
  EXPECT_FALSE(duplicate(std::optional<Secret>()));
  EXPECT_FALSE(duplicate(std::shared_ptr<const Secret>()));
}

}  // namespace
}  // namespace udtcat::core
