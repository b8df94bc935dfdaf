// SPDX-License-Identifier: Apache-2.0
// Any bytes as a line of a manifest, and as a whole one with the end that they have and with one that fits: lines that
// encode to the same, or an error with a cause.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

#include "files/whole_io.hpp"
#include "trees/disk/manifest.hpp"

namespace fuzz_manifest {

namespace {

using namespace udtcat::trees;

void read_line(const std::string& text) {
  const auto entry = parse_line(text);
  if (entry && (encode_line(*entry) != text || !is_manifest_entry(*entry))) __builtin_trap();
  if (!entry && entry.error().cause.empty()) __builtin_trap();
  const auto end = parse_end_line(text);
  if (end && encode_line(*end) != text) __builtin_trap();
}

void read_manifest(const std::string& text) {
  udtcat::bridge::Descriptor file(::memfd_create("manifest", MFD_CLOEXEC));
  if (!udtcat::files::write_whole(file, std::as_bytes(std::span(text)), "manifest")) __builtin_trap();
  if (::lseek(file.number(), 0, SEEK_SET) != 0) __builtin_trap();
  auto reader = ManifestReader::of(std::move(file), "manifest");
  if (!reader) return;
  std::string lines = "udtcat manifest 1\n";
  ManifestEnd end;
  for (;;) {
    const auto entry = reader->next();
    if (!entry) return;
    if (!*entry) break;
    lines += encode_line(**entry) + '\n';
    ++end.entries;
  }
  end.digest = udtcat::files::digest_of({std::as_bytes(std::span(lines))});
  if (lines + encode_line(end) + '\n' != text) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  read_line(text.substr(0, text.find('\n')));
  read_manifest(text);
  const ManifestEnd end{static_cast<std::uint64_t>(std::max<std::ptrdiff_t>(std::ranges::count(text, '\n'), 1)) - 1,
                        udtcat::files::digest_of({std::as_bytes(std::span(text))})};
  read_manifest(text + encode_line(end) + '\n');
  return 0;
}

}  // namespace fuzz_manifest
