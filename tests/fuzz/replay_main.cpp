// SPDX-License-Identifier: Apache-2.0
/// Runs a fuzz target over its corpus without libFuzzer: each seed, each truncation of it, and each single-byte change.
///
/// usage   replay_NAME CORPUS_DIRECTORY
/// exit    0 all inputs were survived; 1 the corpus is missing, empty or too large. A defect aborts.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Bytes = std::vector<std::uint8_t>;

// guess: the inputs of one seed cost the square of its size; 4 KiB keep a corpus well under a second.
constexpr std::size_t kMaxSeedBytes = 4096;

std::optional<Bytes> read_seed(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  Bytes seed{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad() || seed.size() > kMaxSeedBytes) return std::nullopt;
  return seed;
}

void run(const Bytes& input) { LLVMFuzzerTestOneInput(input.data(), input.size()); }

std::size_t replay(const Bytes& seed) {
  for (std::size_t length = 0; length <= seed.size(); ++length)
    // A block of its own for each length, so that the address sanitizer sees a read past the end.
    run(Bytes(seed.begin(), seed.begin() + static_cast<std::ptrdiff_t>(length)));
  Bytes changed = seed;
  for (auto& byte : changed) {
    byte ^= 0xff;
    run(changed);
    byte ^= 0xff;
  }
  return 2 * seed.size() + 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::error_code error;
  std::filesystem::directory_iterator seeds(argc == 2 ? argv[1] : "", error);
  if (error) return std::fprintf(stderr, "usage: %s CORPUS_DIRECTORY: %s\n", argv[0], error.message().c_str()), 1;

  std::size_t inputs = 0;
  for (const auto& entry : seeds) {
    const auto seed = read_seed(entry.path());
    if (!seed)
      return std::fprintf(stderr, "%s: unreadable, or above %zu bytes\n", entry.path().c_str(), kMaxSeedBytes), 1;
    inputs += replay(*seed);
  }
  if (inputs == 0) return std::fprintf(stderr, "%s: no seeds\n", argv[1]), 1;
  std::printf("%zu inputs\n", inputs);
  return 0;
}
