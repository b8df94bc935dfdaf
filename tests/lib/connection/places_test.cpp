#include "lib/connection/places.hpp"

#include <gtest/gtest.h>

namespace udtcat::connection {
namespace {

constexpr core::Prefix kFlood = 1;
constexpr core::Prefix kElsewhere = 2;

class PlacesTest : public testing::Test {
 protected:
  std::optional<Places::Id> come(bool proved, core::Prefix prefix) { return places.take(next++, proved, prefix); }
  void flood() {
    while (!places.full_of_strangers()) EXPECT_FALSE(come(false, kFlood));
  }
  Places places;
  Places::Id next = 1;
};

TEST_F(PlacesTest, OfStrangersGoToTheNewest) {
  flood();
  EXPECT_EQ(come(false, kFlood), 1U);
  EXPECT_EQ(come(false, kFlood), 2U);
}

TEST_F(PlacesTest, AreTakenFromThePrefixThatHoldsTheMost) {
  const auto first = come(false, kElsewhere);
  EXPECT_FALSE(first);
  flood();
  for (int i = 0; i < 100; ++i) EXPECT_NE(come(false, kFlood), 1U) << "the one from elsewhere, though it is the oldest";
}

TEST_F(PlacesTest, AreSharedAmongPrefixes) {
  flood();
  for (std::size_t i = 0; i < kMaxStrangerPlaces / 2; ++i)
    EXPECT_LE(come(false, kElsewhere).value(), kMaxStrangerPlaces);
  EXPECT_GT(come(false, kElsewhere).value(), kMaxStrangerPlaces) << "no more than its share";
}

TEST_F(PlacesTest, OfThoseThatProvedTheKeyAreNotForStrangers) {
  flood();
  EXPECT_FALSE(come(true, kFlood));
  const auto proved = next - 1;
  for (int i = 0; i < 1000; ++i) EXPECT_NE(come(false, kFlood), proved);
}

TEST_F(PlacesTest, OfThoseThatProvedTheKeyAreBoundedToo) {
  for (std::size_t i = 0; i < kMaxProvedPlaces; ++i) EXPECT_FALSE(come(true, kElsewhere));
  EXPECT_EQ(come(true, kElsewhere), 1U);
}

TEST_F(PlacesTest, AreFreeAgainWhenSomebodyLeaves) {
  flood();
  places.leave(5);
  EXPECT_FALSE(places.full_of_strangers());
  EXPECT_FALSE(come(false, kElsewhere));
}

}  // namespace
}  // namespace udtcat::connection
