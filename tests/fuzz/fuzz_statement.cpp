// SPDX-License-Identifier: Apache-2.0
// Any bytes as the statement of a server: one that encodes to the same, or none.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "gridftp/mode_e/statement.hpp"

namespace fuzz_statement {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace udtcat::gridftp;
  const auto all = std::as_bytes(std::span(data, size));
  if (size < kStatementPrefixBytes) return 0;
  const auto bytes = statement_body_bytes(all.first<kStatementPrefixBytes>());
  const auto body = all.subspan(kStatementPrefixBytes);
  if (!bytes || *bytes != body.size()) return 0;
  const auto statement = decode_statement_body(body);
  if (!statement) return 0;
  if (!std::ranges::equal(encode(*statement), all)) __builtin_trap();
  const auto differs = compare({Statement::Action::sent, "/x", std::nullopt, 0}, *statement);
  if (!differs && differs.error().message().empty()) __builtin_trap();
  return 0;
}

}  // namespace fuzz_statement
