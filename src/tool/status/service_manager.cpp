// SPDX-License-Identifier: Apache-2.0
#include "tool/status/service_manager.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include "tool/cli/process_setup.hpp"

namespace udtcat::tool {

bool is_journal(int descriptor) {
  const auto stream = environment("JOURNAL_STREAM");
  struct stat about {};
  if (!stream || ::fstat(descriptor, &about) != 0) return false;
  return *stream == fmt::format("{}:{}", about.st_dev, about.st_ino);
}

}  // namespace udtcat::tool
