// SPDX-License-Identifier: Apache-2.0
/// Errors by what they cost: one name, or the transfer.
#pragma once

#include <string>
#include <utility>

#include <udtcat/result.hpp>

namespace udtcat::trees {

/// An error of exactly one name: the others can be had. It becomes no Error by itself: UDTCAT_TRY of one does not
/// compile where the caller returns a Result.
struct NameError {
  NameError(Error why) : error(std::move(why)) {}  // NOLINT(google-explicit-constructor): whatever a NameResult meets
  [[nodiscard]] std::string message() const { return error.message(); }
  Error error;
};
template <typename T>
using NameResult = tl::expected<T, NameError>;
using NameStatus = NameResult<void>;

/// An error of one name, or of the whole transfer. An Error has to be said to be one of them, by of_name() or
/// of_transfer(), and whoever returns a Result or a NameResult decides.
class ScopedError {
 public:
  ScopedError(NameError of_name)  // NOLINT(google-explicit-constructor): as UDTCAT_TRY hands it on
      : error(std::move(of_name.error)), is_of_name(true) {}
  ScopedError(Error) = delete;
  [[nodiscard]] std::string message() const { return error.message(); }
  [[nodiscard]] static ScopedError of_transfer(Error error) { return {std::move(error), false}; }

  Error error;
  bool is_of_name;

 private:
  ScopedError(Error why, bool costs_one_name) : error(std::move(why)), is_of_name(costs_one_name) {}
};
template <typename T>
using ScopedResult = tl::expected<T, ScopedError>;
using ScopedStatus = ScopedResult<void>;

[[nodiscard]] inline tl::unexpected<NameError> of_name(tl::unexpected<Error> failed) {
  return tl::unexpected(NameError(std::move(failed.value())));
}
template <typename T>
[[nodiscard]] NameResult<T> of_name(Result<T> result) {
  return std::move(result).map_error([](Error error) { return NameError(std::move(error)); });
}
[[nodiscard]] inline tl::unexpected<ScopedError> of_transfer(tl::unexpected<Error> failed) {
  return tl::unexpected(ScopedError::of_transfer(std::move(failed.value())));
}
template <typename T>
[[nodiscard]] ScopedResult<T> of_transfer(Result<T> result) {
  return std::move(result).map_error(ScopedError::of_transfer);
}

}  // namespace udtcat::trees
