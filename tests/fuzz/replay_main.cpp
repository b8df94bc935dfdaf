// SPDX-License-Identifier: Apache-2.0
/// Runs a fuzz target over its corpus without libFuzzer: each seed, each truncation of it, and each single-byte change.
///
/// usage   udtcat_replay NAME CORPUS_DIRECTORY [--unchanged]     the seeds alone, for those that a fuzzer has found
/// exit    0 all inputs were survived; 1 the corpus is missing, empty or too large, or there is no such target. A
///         defect aborts.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

#include "fuzz/targets.hpp"

namespace udtcat::test::fuzz {
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

std::size_t replay_changed(const Target& target, const Bytes& seed) {
  const auto run = [&target](const Bytes& input) { target.run(input.data(), input.size()); };
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

std::size_t replay_unchanged(const Target& target, const Bytes& seed) {
  target.run(seed.data(), seed.size());
  return 1;
}

int replay_corpus(const Target& target, const char* corpus, std::size_t (*replay)(const Target&, const Bytes&)) {
  std::error_code error;
  std::filesystem::directory_iterator seeds(corpus, error);
  if (error) return std::fprintf(stderr, "%s: %s\n", corpus, error.message().c_str()), 1;

  std::size_t inputs = 0;
  for (const auto& entry : seeds) {
    const auto seed = read_seed(entry.path());
    if (!seed)
      return std::fprintf(stderr, "%s: unreadable, or above %zu bytes\n", entry.path().c_str(), kMaxSeedBytes), 1;
    inputs += replay(target, *seed);
  }
  if (inputs == 0) return std::fprintf(stderr, "%s: no seeds\n", corpus), 1;
  std::printf("%zu inputs\n", inputs);
  return 0;
}

}  // namespace
}  // namespace udtcat::test::fuzz

int main(int argc, char** argv) {
  using namespace udtcat::test::fuzz;
  const bool is_unchanged = argc == 4 && argv[3] == std::string_view("--unchanged");
  if (argc != 3 && !is_unchanged)
    return std::fprintf(stderr, "usage: %s NAME CORPUS_DIRECTORY [--unchanged]\n", argv[0]), 1;
  const auto all = targets();
  const auto target = std::ranges::find(all, std::string_view(argv[1]), &Target::name);
  if (target == all.end()) return std::fprintf(stderr, "%s: no such target\n", argv[1]), 1;
  return replay_corpus(*target, argv[2], is_unchanged ? replay_unchanged : replay_changed);
}
