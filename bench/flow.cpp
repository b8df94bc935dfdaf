// SPDX-License-Identifier: Apache-2.0
// A source that never waits and a sink that counts, to stand before and behind a program that is measured.
//
//   flow source SECONDS        zeros on stdout, as fast as they are taken, until so long after the first were; the end
//   flow sink                  reads stdin to its end, and prints on stderr one JSON line: bytes after the first read,
//                              seconds from there to the last of them, what had come by each half second, and its own
//                              CPU seconds
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "cpu_seconds.hpp"

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kChunkBytes = 1 << 20;
constexpr double kSampleSeconds = 0.5;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

int source(double seconds) {
  std::signal(SIGPIPE, SIG_IGN);
  fcntl(STDOUT_FILENO, F_SETPIPE_SZ, kChunkBytes);  // where it is no pipe, nothing is lost
  const std::vector<char> zeros(kChunkBytes);
  // A filled pipe is not a taken one: the consumer may still be connecting. The second chunk waits for it.
  auto start = Clock::now();
  for (int chunk = 0; chunk < 2 || seconds_since(start) < seconds; ++chunk) {
    if (write(STDOUT_FILENO, zeros.data(), zeros.size()) < 0) return 1;
    if (chunk == 1) start = Clock::now();
  }
  return 0;
}

int sink() {
  fcntl(STDIN_FILENO, F_SETPIPE_SZ, kChunkBytes);
  std::vector<char> chunk(kChunkBytes);
  std::string samples;
  long long bytes = 0;
  double last = 0;
  double next_sample = kSampleSeconds;
  bool started = false;
  Clock::time_point start;
  for (;;) {
    const ssize_t got = read(STDIN_FILENO, chunk.data(), chunk.size());
    if (got <= 0) break;
    if (!started) {  // the time of these is before them
      started = true;
      start = Clock::now();
      continue;
    }
    bytes += got;
    last = seconds_since(start);
    for (; last >= next_sample; next_sample += kSampleSeconds)
      samples += (samples.empty() ? "[" : ", [") + std::to_string(next_sample) + ", " + std::to_string(bytes) + "]";
  }
  std::fprintf(stderr, "{\"bytes\": %lld, \"seconds\": %.6f, \"cpu_seconds\": %.3f, \"samples\": [%s]}\n", bytes, last,
               cpu_seconds(), samples.c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "source") == 0) return source(std::atof(argv[2]));
  if (argc == 2 && std::strcmp(argv[1], "sink") == 0) return sink();
  std::fprintf(stderr, "usage: flow source SECONDS | flow sink\n");
  return 2;
}
