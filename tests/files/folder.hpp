// SPDX-License-Identifier: Apache-2.0
/// A directory of a test's own.
#pragma once

#include <string>

#include "lib/bridge/loop.hpp"
#include "support/temp_dir.hpp"

namespace udtcat::files {

using bridge::Bytes;
using bridge::bytes_of;
using bridge::random_bytes;
using bridge::run_ready;
using bridge::run_until;

class Folder : public test::TempDir {
 public:
  [[nodiscard]] std::string operator/(const std::string& name) const { return TempDir::operator/(name); }
  std::string write(const std::string& name, const Bytes& content) const {
    return TempDir::write(name, test::text_of(content));
  }
  [[nodiscard]] Bytes read(const std::string& name) const { return bytes_of(test::read_file(*this / name)); }
};

}  // namespace udtcat::files
