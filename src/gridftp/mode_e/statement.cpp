// SPDX-License-Identifier: Apache-2.0
#include "gridftp/mode_e/statement.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "gridftp/dialogue/url.hpp"
#include "lib/core/byte_order.hpp"
#include "lib/core/printable.hpp"
#include "lib/core/text.hpp"

namespace udtcat::gridftp {

namespace {

constexpr std::byte kVersion{1};      // spec: docs/spec/gridftp.md §8
constexpr std::size_t kActionAt = 1;  // spec: docs/spec/gridftp.md §8
constexpr std::size_t kOffsetAt = 2;  // spec: docs/spec/gridftp.md §8
constexpr std::size_t kMovedAt = kOffsetAt + 8;
constexpr std::size_t kFileAt = kMovedAt + 8;
constexpr std::size_t kPathAt = kFileAt + 8;

tl::unexpected<Error> no_statement(std::string why) {
  return fail(Errc::protocol_violated, "read what the server says that it did", std::move(why));
}

std::string_view name_of(Statement::Action action) {
  switch (action) {
    case Statement::Action::sent:
      return "sent";
    case Statement::Action::stored:
      return "stored in place";
    case Statement::Action::published:
      break;
  }
  return "published";
}

std::string text_of(const Statement& said) {
  const std::string whole = said.file_bytes == kUnknownFileBytes ? "" : fmt::format(", which has {}", said.file_bytes);
  return fmt::format("the server {} {} bytes from {} on of {}{}", name_of(said.action), said.moved_bytes, said.offset,
                     core::printable(said.path, core::kShownBytes), whole);
}

std::string text_of(const StatementRequest& asked, const std::string& path) {
  const std::string part =
      asked.range ? fmt::format("bytes {} to {}", asked.range->begin, asked.range->end) : std::string("all");
  return fmt::format("{} of {} was to be {}, and {} bytes moved", part, core::printable(path, core::kShownBytes),
                     name_of(asked.action), asked.moved_bytes);
}

}  // namespace

std::vector<std::byte> encode(const Statement& statement) {
  const std::string_view path = std::string_view(statement.path).substr(0, kMaxStatementPathBytes);
  std::vector<std::byte> message(kStatementPrefixBytes + kPathAt + path.size());
  const auto body = std::span(message).subspan(kStatementPrefixBytes);
  core::store_be(std::span(message), static_cast<std::uint16_t>(body.size()));
  body[0] = kVersion;
  body[kActionAt] = static_cast<std::byte>(statement.action);
  core::store_be(body.subspan(kOffsetAt), statement.offset);
  core::store_be(body.subspan(kMovedAt), statement.moved_bytes);
  core::store_be(body.subspan(kFileAt), statement.file_bytes);
  const auto bytes = std::as_bytes(std::span(path));
  std::ranges::copy(bytes, body.begin() + kPathAt);
  return message;
}

Result<std::size_t> statement_body_bytes(std::span<const std::byte, kStatementPrefixBytes> prefix) {
  const std::size_t bytes = core::load_be<std::uint16_t>(prefix);
  if (bytes <= kPathAt || bytes > kPathAt + kMaxStatementPathBytes)
    return no_statement(fmt::format("{} bytes are none", bytes));
  return bytes;
}

Result<Statement> decode_statement_body(std::span<const std::byte> body) {
  if (body.size() <= kPathAt || body.size() > kPathAt + kMaxStatementPathBytes) return no_statement("it is cut off");
  if (body[0] != kVersion) return no_statement(fmt::format("its version is {}", std::to_integer<int>(body[0])));
  const auto action = std::to_integer<std::uint8_t>(body[kActionAt]);
  if (action < static_cast<std::uint8_t>(Statement::Action::sent) ||
      action > static_cast<std::uint8_t>(Statement::Action::published))
    return no_statement("it says neither sent nor stored");
  Statement statement;
  statement.action = static_cast<Statement::Action>(action);
  statement.offset = core::load_be<std::uint64_t>(body.subspan(kOffsetAt));
  statement.moved_bytes = core::load_be<std::uint64_t>(body.subspan(kMovedAt));
  statement.file_bytes = core::load_be<std::uint64_t>(body.subspan(kFileAt));
  statement.path = core::as_text(body.subspan(kPathAt));
  return statement;
}

Statements peer_statements(const StreamIo& stream) {
  const auto said = static_cast<Statements>(stream.peer_application_data());
  return said == Statements::made || said == Statements::wanted ? said : Statements::none;
}

Status compare(const StatementRequest& asked, const Statement& said) {
  const std::string path = absolute_path("/", asked.path);
  const std::uint64_t wanted_bytes = asked.range ? asked.range->bytes() : said.file_bytes;
  if (said.action == asked.action && said.path == path && said.offset == (asked.range ? asked.range->begin : 0) &&
      said.moved_bytes == wanted_bytes && said.moved_bytes == asked.moved_bytes)
    return {};
  return fail(Errc::protocol_violated, "believe the control connection",
              fmt::format("{}; {}", text_of(asked, path), text_of(said)));
}

}  // namespace udtcat::gridftp
