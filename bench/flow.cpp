// SPDX-License-Identifier: Apache-2.0
// A source that never waits and a sink that counts, to stand before and behind a program that is measured.
//
//   flow source SECONDS        zeros on stdout, as fast as they are taken, until so long after the first were; the end
//   flow source SECONDS BYTES  BYTES and the end; SECONDS is not used
//   flow source SECONDS BYTES EACH_SECONDS   so many again and again, for so long
//   flow sink [SAMPLE_SECONDS] reads stdin to its end, and prints on stderr one JSON line: bytes of the first read,
//                              when that was by the monotonic clock, bytes after it, seconds from there to the last of
//                              them, what had come by each half second or other sample, how long it took from the
//                              first to the last of those that came without a second's pause, the longest time in
//                              which nothing came and when that began, and its own CPU seconds
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "cpu_seconds.hpp"

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kChunkBytes = 1 << 20;
constexpr double kSampleSeconds = 0.5;  // where nothing else is said
constexpr double kPauseSeconds = 1;     // guess: shorter than the 5 s between bursts, longer than a stall

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

int source(double seconds) {
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

int burst(std::size_t bytes) {
  const std::vector<char> zeros(std::min(bytes, kChunkBytes));
  while (bytes > 0) {
    const ssize_t put = write(STDOUT_FILENO, zeros.data(), std::min(bytes, zeros.size()));
    if (put < 0) return 1;
    bytes -= static_cast<std::size_t>(put);
  }
  return 0;
}

int bursts(double seconds, std::size_t bytes, double each_seconds) {
  const auto start = Clock::now();
  for (double next = 0; next < seconds; next += each_seconds) {
    std::this_thread::sleep_until(start +
                                  std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(next)));
    if (burst(bytes) != 0) return 1;
  }
  return 0;
}

/// A JSON list.
class List {
 public:
  void add(const std::string& item) { text_ += (text_.empty() ? "" : ", ") + item; }
  [[nodiscard]] std::string text() const { return "[" + text_ + "]"; }

 private:
  std::string text_;
};

int sink(double sample_seconds) {
  fcntl(STDIN_FILENO, F_SETPIPE_SZ, kChunkBytes);
  std::vector<char> chunk(kChunkBytes);
  List samples, burst_seconds;
  double burst_start = 0;
  long long first_bytes = 0;
  long long bytes = 0;
  double last = 0;
  double next_sample = sample_seconds;
  double longest_pause = 0;
  double longest_pause_at = 0;
  bool started = false;
  Clock::time_point start;
  for (;;) {
    const ssize_t got = read(STDIN_FILENO, chunk.data(), chunk.size());
    if (got <= 0) break;
    if (!started) {  // the time of these is before them
      started = true;
      first_bytes = got;
      start = Clock::now();
      continue;
    }
    bytes += got;
    const double now = seconds_since(start);
    if (now - last > kPauseSeconds) {
      burst_seconds.add(std::to_string(last - burst_start));
      burst_start = now;
    }
    if (now - last > longest_pause) {
      longest_pause = now - last;
      longest_pause_at = last;
    }
    last = now;
    for (; last >= next_sample; next_sample += sample_seconds)
      samples.add("[" + std::to_string(next_sample) + ", " + std::to_string(bytes) + "]");
  }
  burst_seconds.add(std::to_string(last - burst_start));
  std::fprintf(stderr,
               "{\"first_bytes\": %lld, \"bytes\": %lld, \"seconds\": %.6f, \"cpu_seconds\": %.3f, \"began\": %.6f, "
               "\"longest_pause\": %.6f, \"longest_pause_at\": %.6f, \"bursts\": %s, \"samples\": %s}\n",
               first_bytes, bytes, last, cpu_seconds(), std::chrono::duration<double>(start.time_since_epoch()).count(),
               longest_pause, longest_pause_at, burst_seconds.text().c_str(), samples.text().c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  if (argc == 3 && std::strcmp(argv[1], "source") == 0) return source(std::atof(argv[2]));
  if (argc == 4 && std::strcmp(argv[1], "source") == 0) return burst(std::strtoull(argv[3], nullptr, 10));
  if (argc == 5 && std::strcmp(argv[1], "source") == 0)
    return bursts(std::atof(argv[2]), std::strtoull(argv[3], nullptr, 10), std::atof(argv[4]));
  if (argc == 2 && std::strcmp(argv[1], "sink") == 0) return sink(kSampleSeconds);
  if (argc == 3 && std::strcmp(argv[1], "sink") == 0 && std::atof(argv[2]) > 0) return sink(std::atof(argv[2]));
  std::fprintf(stderr, "usage: flow source SECONDS [BYTES [EACH_SECONDS]] | flow sink [SAMPLE_SECONDS]\n");
  return 2;
}
