// SPDX-License-Identifier: Apache-2.0
/// Words for the room's tests: a folder of their own, besides those of tasks.
#pragma once

#include <string>

#include "coroutine/words.hpp"
#include "support/temp_dir.hpp"

namespace udtcat::files {

using bridge::Bytes;
using bridge::bytes_of;
using bridge::random_bytes;
using bridge::run_ready;
using bridge::run_until;
using coroutine::await;
using coroutine::begin;
using coroutine::Outcome;
using coroutine::run;
using coroutine::Task;

/// A directory of the test's own, where names are strings, contents are bytes.
class Folder : public test::TempDir {
 public:
  [[nodiscard]] std::string operator/(const std::string& name) const { return TempDir::operator/(name); }
  std::string write(const std::string& name, const Bytes& content) const {
    return TempDir::write(name, test::text_of(content));
  }
  [[nodiscard]] Bytes read(const std::string& name) const { return bytes_of(test::read_file(*this / name)); }
};

}  // namespace udtcat::files
