// SPDX-License-Identifier: Apache-2.0
/// A thread, where the system has one to give.
#pragma once

#include <system_error>
#include <thread>
#include <utility>

#include <udtcat/result.hpp>

#include "lib/core/user_text.hpp"

namespace udtcat::trees {

/// errors: Errc::out_of_resources
template <typename Work>
[[nodiscard]] Status start_thread(std::thread& thread, Work&& work) {
  try {
    thread = std::thread(std::forward<Work>(work));
  } catch (const std::system_error& error) {
    return core::fail_by_errno(Errc::out_of_resources, "start a thread for a transfer", error.code().value());
  }
  return {};
}

}  // namespace udtcat::trees
