// SPDX-License-Identifier: Apache-2.0
#include "lib/core/field_table.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace udtcat::core {

struct ExampleBase {
  std::uint64_t packets = 0;
};
struct Example : ExampleBase {
  std::optional<std::chrono::microseconds> rtt;
  std::size_t flows = 0;
};

template <>
inline constexpr std::tuple kFields<ExampleBase>{
    counter<kInStats>("packets", &ExampleBase::packets, FieldUnit::packets)};
template <>
inline constexpr auto kFields<Example> =
    std::tuple_cat(kFields<ExampleBase>, std::tuple{gauge("rtt", &Example::rtt, FieldUnit::seconds),
                                                    gauge<kInStatus>("flows", &Example::flows, FieldUnit::none)});

namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

struct ExampleWithMore : Example {
  std::uint64_t forgotten = 0;
};

}  // namespace

template <>
inline constexpr auto kFields<ExampleWithMore> = kFields<Example>;

namespace {

TEST(Fields, OfATableThatLacksAMemberAreNotAll) {
  static_assert(lists_all_members<ExampleBase>());
  static_assert(lists_all_members<Example, ExampleBase>());
  static_assert(!lists_all_members<ExampleWithMore, Example>());
}

TEST(Fields, AreVisitedInTheirOrderWhereTheyAreShown) {
  std::vector<std::string> names;
  const auto take = [&](const auto& field) { names.emplace_back(field.name); };
  for_each_field<Example>(take);
  EXPECT_THAT(names, ElementsAre("packets", "rtt", "flows"));
  names.clear();
  for_each_row<kInStats | kInStatus>(kFields<Example>, take);
  EXPECT_THAT(names, ElementsAre("packets", "flows"));
}

TEST(Fields, AreAddedAndGrowAsTheirRowsSay) {
  const Example first{{.packets = 5}, 7us, 1};
  const Example second{{.packets = 8}, std::nullopt, 2};
  EXPECT_EQ(sum(first, second).packets, 13U);
  EXPECT_EQ(sum(first, second).rtt, std::nullopt);
  EXPECT_EQ(growth(first, second).packets, 3U);
  EXPECT_EQ(growth(second, first).packets, 0U) << "no counter falls";
  EXPECT_EQ(growth(second, first).flows, 1U) << "a gauge is what it is";
}

}  // namespace
}  // namespace udtcat::core
