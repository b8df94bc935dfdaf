// SPDX-License-Identifier: Apache-2.0
#include "gridftp/mode_e/statement.hpp"

#include <gmock/gmock.h>

#include "support/spec_example.hpp"

namespace udtcat::gridftp {
namespace {

using testing::HasSubstr;

std::span<const std::byte> body_of(const std::vector<std::byte>& message) {
  return std::span(message).subspan(kStatementPrefixBytes);
}

Result<std::size_t> prefix_says(std::uint16_t bytes) {
  const std::array<std::byte, kStatementPrefixBytes> prefix{static_cast<std::byte>(bytes >> 8),
                                                            static_cast<std::byte>(bytes & 0xff)};
  return statement_body_bytes(prefix);
}

const Statement kSent{Statement::Action::sent, 0, 5'000'000, 5'000'000, "/x"};
const StatementRequest kAskedForAll{Statement::Action::sent, "/x", std::nullopt, 5'000'000};

TEST(Statement, HasTheBytesOfTheSpec) {
  const test::SpecExample example("gridftp.md", "statement");
  const Statement statement{Statement::Action::published, 0, 5'000'000, 5'000'000, example.text("path")};
  EXPECT_EQ(test::to_hex(encode(statement)), test::to_hex(example.bytes("statement")));
  EXPECT_EQ(decode_statement_body(body_of(example.bytes("statement"))).value(), statement);
}

TEST(Statement, SurvivesItsEncoding) {
  const std::uint64_t most = ~std::uint64_t{0};
  for (const Statement& statement :
       {kSent, Statement{Statement::Action::stored, most, most, most, std::string(kMaxStatementPathBytes, '/')},
        Statement{Statement::Action::published, 1, 2, 3, std::string("\0\n", 2)}}) {
    const auto message = encode(statement);
    EXPECT_EQ(prefix_says(static_cast<std::uint16_t>(message.size() - kStatementPrefixBytes)).value(),
              body_of(message).size());
    EXPECT_EQ(decode_statement_body(body_of(message)).value(), statement);
  }
}

TEST(Statement, IsAnotherOneOrNoneAtEveryTruncationAndWithEveryByteChanged) {
  const auto message = encode(kSent);
  const auto body = body_of(message);
  for (std::size_t bytes = 0; bytes < body.size(); ++bytes) {
    const auto read = decode_statement_body(body.first(bytes));
    EXPECT_TRUE(!read || *read != kSent) << bytes;
  }
  for (std::size_t at = 0; at < body.size(); ++at) {
    std::vector<std::byte> changed(body.begin(), body.end());
    changed[at] ^= std::byte{0x81};
    const auto read = decode_statement_body(changed);
    EXPECT_TRUE(!read || *read != kSent) << at;
  }
}

TEST(Statement, HasItsLimits) {
  EXPECT_FALSE(prefix_says(0));
  EXPECT_FALSE(prefix_says(26)) << "no path";
  EXPECT_TRUE(prefix_says(27));
  EXPECT_TRUE(prefix_says(4122));
  EXPECT_FALSE(prefix_says(4123));
}

TEST(Statement, ProvesWhatWasAskedFor) {
  EXPECT_TRUE(compare(kAskedForAll, kSent));
  const StatementRequest part{Statement::Action::stored, "/x", files::ByteRange{1000, 3000}, 2000};
  EXPECT_TRUE(compare(part, {Statement::Action::stored, 1000, 2000, kUnknownFileBytes, "/x"}));
  EXPECT_TRUE(compare({Statement::Action::sent, "//a/../x", std::nullopt, 5'000'000}, kSent))
      << "another way to say it";
}

TEST(Statement, ProvesNothingElse) {
  for (const Statement& other : {Statement{Statement::Action::published, 0, 5'000'000, 5'000'000, "/x"},
                                 Statement{Statement::Action::sent, 1, 5'000'000, 5'000'000, "/x"},
                                 Statement{Statement::Action::sent, 0, 4'999'999, 5'000'000, "/x"},
                                 Statement{Statement::Action::sent, 0, 5'000'000, 5'000'001, "/x"},
                                 Statement{Statement::Action::sent, 0, 5'000'000, 5'000'000, "/y"}})
    EXPECT_EQ(compare(kAskedForAll, other).error().code, Errc::protocol_violated);
  const StatementRequest lesser{Statement::Action::sent, "/x", std::nullopt, 100'000};
  EXPECT_FALSE(compare(lesser, kSent)) << "less came than was sent";
  const StatementRequest part{Statement::Action::sent, "/x", files::ByteRange{0, 100}, 100};
  EXPECT_FALSE(compare(part, {Statement::Action::sent, 0, 50, 5'000'000, "/x"}));
}

TEST(Statement, IsShownBesideWhatWasAskedFor) {
  const auto error = compare(kAskedForAll, {Statement::Action::sent, 0, 100'000, 5'000'000, "/x\n"}).error().message();
  EXPECT_THAT(error, HasSubstr("all of /x was to be sent, and 5000000 bytes moved"));
  EXPECT_THAT(error, HasSubstr("the server sent 100000 bytes from 0 on of /x?, which has 5000000"));
}

}  // namespace
}  // namespace udtcat::gridftp
