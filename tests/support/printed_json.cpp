// SPDX-License-Identifier: Apache-2.0
#include "support/printed_json.hpp"

#include <sstream>
#include <string>
#include <tuple>

#include <fcntl.h>
#include <unistd.h>

#include "support/descriptor.hpp"

namespace udtcat::test {

namespace {

/// Of a process that was killed the last line may be cut off.
bool is_document(std::string_view line) {
  if (line.starts_with('[')) line.remove_prefix(1);
  return line.starts_with("{\"") && (line.ends_with('}') || line.ends_with("},") || line.ends_with("}]"));
}

}  // namespace

void keep_printed_json(std::string_view text) {
  std::string kept;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);)
    if (is_document(line)) kept += line + '\n';
  if (kept.empty()) return;
  const Descriptor file(::open(UDTCAT_PRINTED_JSON, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  // One call, so that the lines of two processes do not mix.
  std::ignore = ::write(file.fd(), kept.data(), kept.size());
}

}  // namespace udtcat::test
