// SPDX-License-Identifier: Apache-2.0
#include "gridftp/mode_e/incoming_file.hpp"

#include <gmock/gmock.h>

namespace udtcat::gridftp {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kMost = ~std::uint64_t{0};

BlockHeader data(std::uint64_t offset, std::uint64_t count) { return {0, count, offset}; }
BlockHeader end_of_file(std::uint64_t connections) { return {BlockHeader::kEof | BlockHeader::kEod, 0, connections}; }

/// Proves: gridftp.eod-count
TEST(IncomingFile, IsCompleteWhenAsManyConnectionsHaveEndedAsWereSaid) {
  IncomingFile file(files::ByteRange{0, 20});
  EXPECT_TRUE(file.on_header(data(10, 10)));
  EXPECT_TRUE(file.on_stored({10, 20}));
  EXPECT_TRUE(file.on_header(end_of_file(2)));
  EXPECT_TRUE(file.on_end_of_data());
  EXPECT_FALSE(file.ended()) << "a connection is still on its way";
  EXPECT_TRUE(file.on_header(data(0, 10)));
  EXPECT_TRUE(file.on_stored({0, 10}));
  EXPECT_TRUE(file.on_end_of_data());
  EXPECT_TRUE(file.ended());
  EXPECT_TRUE(file.whole());
}

/// Proves: gridftp.eod-count
TEST(IncomingFile, IsNotWholeWhereTheSenderCountedTooFewConnections) {
  IncomingFile file(files::ByteRange{0, 20});
  EXPECT_TRUE(file.on_stored({0, 10}));
  EXPECT_TRUE(file.on_header(end_of_file(1)));
  EXPECT_TRUE(file.on_end_of_data());
  EXPECT_TRUE(file.ended());
  const Status whole = file.whole();
  ASSERT_FALSE(whole);
  EXPECT_THAT(whole.error().message(), HasSubstr("without bytes 10 to 20"));
}

TEST(IncomingFile, OfUnknownSizeHasNoGaps) {
  IncomingFile file(std::nullopt);
  EXPECT_TRUE(file.whole()) << "an empty one";
  EXPECT_TRUE(file.on_stored({10, 20}));
  EXPECT_FALSE(file.whole());
  EXPECT_TRUE(file.on_stored({0, 10}));
  EXPECT_TRUE(file.whole());
}

TEST(IncomingFile, RefusesHeadersThatCannotBeTrue) {
  IncomingFile file(files::ByteRange{100, 200});
  for (const auto& header :
       {data(99, 1), data(200, 1), data(150, 51), data(kMost, 1), data(150, kMost), data(kMost, kMost)})
    EXPECT_FALSE(file.on_header(header)) << header.offset << ' ' << header.count;
  EXPECT_TRUE(file.on_header(data(kMost, 0))) << "nothing, wherever it is";
  EXPECT_TRUE(file.on_header(data(100, 100)));
  IncomingFile unknown(std::nullopt);
  EXPECT_FALSE(unknown.on_header(data(IncomingFile::kMaxBytes, 1)));
  EXPECT_FALSE(unknown.on_header(data(1, kMost)));
}

TEST(IncomingFile, RefusesAnEndThatContradictsItself) {
  for (const std::uint64_t wrong : {std::uint64_t{0}, IncomingFile::kMaxConnections + 1, kMost})
    EXPECT_FALSE(IncomingFile(std::nullopt).on_header(end_of_file(wrong))) << wrong;
  IncomingFile file(std::nullopt);
  EXPECT_TRUE(file.on_header(end_of_file(2)));
  EXPECT_TRUE(file.on_header(end_of_file(2))) << "once more, as some do";
  EXPECT_FALSE(file.on_header(end_of_file(3)));
  EXPECT_TRUE(file.on_end_of_data());
  EXPECT_TRUE(file.on_end_of_data());
  EXPECT_FALSE(file.on_end_of_data());
  IncomingFile late(std::nullopt);
  EXPECT_TRUE(late.on_end_of_data());
  EXPECT_TRUE(late.on_end_of_data());
  EXPECT_FALSE(late.on_header(end_of_file(1)));
}

}  // namespace
}  // namespace udtcat::gridftp
