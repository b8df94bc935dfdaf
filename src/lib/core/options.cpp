// SPDX-License-Identifier: Apache-2.0
#include <udtcat/options.hpp>
#include <udtcat/udtcat.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include "lib/core/invariant.hpp"
#include "lib/core/user_text.hpp"

namespace udtcat {

namespace {

template <typename Value, std::size_t Count>
using Names = std::array<std::pair<Value, std::string_view>, Count>;

constexpr Names<Protection, 4> kProtections{{{Protection::clear, "clear"},
                                             {Protection::auth, "auth"},
                                             {Protection::safe, "safe"},
                                             {Protection::private_, "private"}}};
constexpr Names<Cipher, 3> kCiphers{{{Cipher::aes_256_gcm, "aes-256-gcm"},
                                     {Cipher::aes_128_gcm, "aes-128-gcm"},
                                     {Cipher::chacha20_poly1305, "chacha20-poly1305"}}};
constexpr Names<TransportKind, 4> kTransports{{{TransportKind::automatic, "auto"},
                                               {TransportKind::native, "native"},
                                               {TransportKind::libudt, "libudt"},
                                               {TransportKind::tcp, "tcp"}}};
constexpr Names<CongestionKind, 3> kCongestions{
    {{CongestionKind::bbr, "bbr"}, {CongestionKind::udt, "udt"}, {CongestionKind::fixed, "fixed"}}};

template <typename Value, std::size_t Count>
std::string_view name_of(Value value, const Names<Value, Count>& names) {
  for (const auto& [known, name] : names)
    if (known == value) return name;
  UDTCAT_INVARIANT(false, "decoders and parsers make only values that have a name");
}

template <typename Value, std::size_t Count>
std::optional<Value> value_of(std::string_view text, const Names<Value, Count>& names) {
  for (const auto& [value, name] : names)
    if (name == text) return value;
  return std::nullopt;
}

}  // namespace

std::string_view to_string(Protection protection) { return name_of(protection, kProtections); }
std::string_view to_string(Cipher cipher) { return name_of(cipher, kCiphers); }
std::string_view to_string(TransportKind kind) { return name_of(kind, kTransports); }
std::string_view to_string(CongestionKind kind) { return name_of(kind, kCongestions); }

bool is_service_name(std::string_view text) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  };
  return !text.empty() && text.size() <= kMaxServiceNameBytes && std::ranges::all_of(text, allowed);
}

bool is_end_name(std::string_view text) {
  const auto printable = [](char c) { return c > ' ' && c <= '~'; };
  return !text.empty() && text.size() <= kMaxEndNameBytes && std::ranges::all_of(text, printable);
}

const char* version() noexcept { return UDTCAT_VERSION; }

}  // namespace udtcat

namespace udtcat::core {

std::optional<Protection> parse_protection(std::string_view name) { return value_of(name, kProtections); }
std::optional<Cipher> parse_cipher(std::string_view name) { return value_of(name, kCiphers); }
std::optional<TransportKind> parse_transport(std::string_view name) { return value_of(name, kTransports); }
std::string_view protocol_of(TransportKind kind) { return kind == TransportKind::tcp ? "tcp" : "udp"; }
std::optional<CongestionKind> parse_congestion(std::string_view name) { return value_of(name, kCongestions); }

}  // namespace udtcat::core
