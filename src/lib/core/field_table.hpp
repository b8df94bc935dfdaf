// SPDX-License-Identifier: Apache-2.0
/// Tables of the fields of statistics. A struct that has one is added up, compared, sent and shown by visits to it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace udtcat::core {

/// A counter only grows; a gauge is what holds at the moment; info is no number.
enum class FieldKind : std::uint8_t { counter, gauge, info };

enum class FieldUnit : std::uint8_t { none, bytes, packets, blocks, streams, seconds, bits_per_second };

/// The documents that show a field, as bits.
inline constexpr unsigned kNowhere = 0;
inline constexpr unsigned kInStats = 1;            ///< `--stats json`
inline constexpr unsigned kInStatus = 2;           ///< `udtcat status --json`
inline constexpr unsigned kInBenchOfSender = 4;    ///< `udtcat bench`: asked of both ends, shown of the sender
inline constexpr unsigned kInBenchOfReceiver = 8;  ///< likewise, of the receiver
inline constexpr unsigned kInBench = kInBenchOfSender | kInBenchOfReceiver;
inline constexpr unsigned kEverywhere = ~0U;

/// One row.
template <FieldKind kFieldKind, unsigned kShownIn, typename Struct, typename Value>
struct Field {
  static constexpr FieldKind kKind = kFieldKind;
  static constexpr unsigned kShown = kShownIn;

  std::string_view name;
  Value Struct::*member;
  FieldUnit unit;
  void (*combine)(Value& total, const Value& latest);  ///< makes one of two
};

/// A tuple of the struct's rows, made by counter(), gauge() and info(); by default there is none.
template <typename Struct>
inline constexpr std::tuple<> kFields{};

template <typename Struct>
concept HasFields = !std::is_same_v<decltype(kFields<Struct>), const std::tuple<>>;

/// Calls `visit` with each row of a table that is shown in one of `kShownIn`.
template <unsigned kShownIn, typename... Rows, typename Visit>
constexpr void for_each_row(const std::tuple<Rows...>& rows, Visit&& visit) {
  const auto visit_if_shown = [&](const auto& row) {
    if constexpr (kShownIn == kEverywhere || (std::remove_cvref_t<decltype(row)>::kShown & kShownIn) != 0) visit(row);
  };
  std::apply([&](const auto&... each) { (visit_if_shown(each), ...); }, rows);
}

template <HasFields Struct, typename Visit>
constexpr void for_each_field(Visit&& visit) {
  for_each_row<kEverywhere>(kFields<Struct>, visit);
}

/// Calls `visit` with each number in a value: of a struct its fields', of an array its elements'. Where there are
/// `same`, other values of that type, with theirs as well.
template <typename Visit, typename First, typename... Same>
constexpr void for_each_number(Visit&& visit, First& first, Same&... same) {
  if constexpr (HasFields<std::remove_const_t<First>>) {
    for_each_field<std::remove_const_t<First>>(
        [&](const auto& field) { for_each_number(visit, first.*field.member, same.*field.member...); });
  } else if constexpr (requires { std::tuple_size<First>::value; }) {
    for (std::size_t i = 0; i < first.size(); ++i) for_each_number(visit, first[i], same[i]...);
  } else {
    visit(first, same...);
  }
}

template <HasFields Struct>
consteval std::size_t number_count() {
  std::size_t count = 0;
  constexpr Struct kAny{};
  for_each_number([&](const auto&) { ++count; }, kAny);
  return count;
}

// ---- How two are made one

inline constexpr auto kAdded = [](auto& total, const auto& latest) {
  for_each_number([](auto& to, const auto& more) { to = to + more; }, total, latest);
};
inline constexpr auto kLargest = [](auto& total, const auto& latest) { total = std::max(total, latest); };
/// Of those that are known.
inline constexpr auto kLeastKnown = [](auto& total, const auto& latest) {
  if (latest) total = std::min(total.value_or(*latest), *latest);
};
inline constexpr auto kLatest = [](auto& total, const auto& latest) { total = latest; };

/// Each field as its row says: counters are added mostly, gauges are the latest's.
template <HasFields Stats>
[[nodiscard]] Stats sum(Stats total, const Stats& latest) {
  for_each_field<Stats>([&](const auto& field) { field.combine(total.*field.member, latest.*field.member); });
  return total;
}

/// Lessens each number by what it was; to 0 where it was more.
template <typename Value>
void subtract(Value& now, const Value& before) {
  for_each_number([](auto& number, const auto& was) { number -= std::min(number, was); }, now, before);
}

/// Counters by their growth, the rest as it is now.
template <HasFields Stats>
[[nodiscard]] Stats growth(const Stats& before, Stats now) {
  for_each_field<Stats>([&](const auto& field) {
    if constexpr (std::remove_cvref_t<decltype(field)>::kKind == FieldKind::counter)
      subtract(now.*field.member, before.*field.member);
  });
  return now;
}

// ---- Rows

template <typename Value>
using Combine = void (*)(std::type_identity_t<Value>& total, const std::type_identity_t<Value>& latest);

template <unsigned kShown = kNowhere, typename Struct, typename Value>
constexpr Field<FieldKind::counter, kShown, Struct, Value> counter(std::string_view name, Value Struct::*member,
                                                                   FieldUnit unit, Combine<Value> combine = kAdded) {
  return {name, member, unit, combine};
}

template <unsigned kShown = kNowhere, typename Struct, typename Value>
constexpr Field<FieldKind::gauge, kShown, Struct, Value> gauge(std::string_view name, Value Struct::*member,
                                                               FieldUnit unit, Combine<Value> combine = kLatest) {
  return {name, member, unit, combine};
}

template <typename Struct, typename Value>
constexpr Field<FieldKind::info, kNowhere, Struct, Value> info(std::string_view name, Value Struct::*member) {
  return {name, member, FieldUnit::none, kLatest};
}

// ---- Whether a table has all

/// Initialises a member of any type; never called.
struct AnyMember {
  template <typename Member>
  operator Member() const;  // NOLINT(google-explicit-constructor): for this alone
};

/// Of an aggregate; each of its bases counts as one.
template <typename Struct, typename... Found>
consteval std::size_t member_count() {
  if constexpr (requires { Struct{Found{}..., AnyMember{}}; })
    return member_count<Struct, Found..., AnyMember>();
  else
    return sizeof...(Found);
}

/// No member of the struct is missing from its table. `Bases` are those of its bases that have members.
template <typename Struct, typename... Bases>
consteval bool lists_all_members() {
  constexpr auto rows = []<typename Each>(std::type_identity<Each>) {
    return std::tuple_size_v<std::remove_const_t<decltype(kFields<Each>)>>;
  };
  return rows(std::type_identity<Struct>()) ==
         member_count<Struct>() - sizeof...(Bases) + (std::size_t{0} + ... + rows(std::type_identity<Bases>()));
}

}  // namespace udtcat::core
