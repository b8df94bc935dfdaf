// SPDX-License-Identifier: Apache-2.0
/// JSON of statistics, as every document of ours writes and reads it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>

#include <nlohmann/json.hpp>

#include "lib/core/field_table.hpp"

namespace udtcat::tool {

using Json = nlohmann::ordered_json;

inline constexpr std::uint64_t kJsonVersion = 1;  // spec: docs/spec/json.md

/// One line. A name or a path may hold any bytes: what is no UTF-8 is replaced.
[[nodiscard]] inline std::string to_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

[[nodiscard]] inline double seconds_of(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

/// A time by its count, an enum by its name, null where an optional has no value.
template <typename Value>
[[nodiscard]] Json json_of(const Value& value) {
  if constexpr (requires { value.has_value(); })
    return value.has_value() ? json_of(*value) : Json(nullptr);
  else if constexpr (requires { value.count(); })
    return value.count();
  else if constexpr (std::is_enum_v<Value>)
    return to_string(value);
  else
    return value;
}

/// Null for an empty text, and for 0.
template <typename Value>
[[nodiscard]] Json or_null(const Value& value) {
  return value == Value{} ? Json(nullptr) : json_of(value);
}

template <typename Struct, typename Value>
[[nodiscard]] std::string key_of(std::string_view name, Value Struct::* /*member*/) {
  constexpr bool kIsTime = std::is_convertible_v<std::chrono::microseconds, Value>;
  return std::string(name) + (kIsTime ? "_us" : "");
}

/// Adds those of the fields that the document shows.
template <unsigned kDocument, typename... Rows, typename Stats>
void add_fields(Json& json, const std::tuple<Rows...>& rows, const Stats& stats) {
  core::for_each_row<kDocument>(
      rows, [&](const auto& field) { json[key_of(field.name, field.member)] = json_of(stats.*field.member); });
}

/// Reads the same.
/// number   gives the number that has a key
template <unsigned kDocument, typename... Rows, typename Stats, typename Number>
void read_fields(const std::tuple<Rows...>& rows, Stats& stats, const Number& number) {
  core::for_each_row<kDocument>(rows, [&](const auto& field) {
    auto& value = stats.*field.member;
    value = std::remove_reference_t<decltype(value)>(number(key_of(field.name, field.member)));
  });
}

}  // namespace udtcat::tool
