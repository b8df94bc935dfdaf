// SPDX-License-Identifier: Apache-2.0
// Question: how fast do lanes seal and open, by block size and number of threads?
//
//   bench/lanes        runs this beside `openssl speed` and prints the ratios
//
// Blocks go round in batches: a batch is sealed, then opened by the other end's pool, each timed on its own.
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include "lib/session/lanes.hpp"

namespace udtcat::session {
namespace {

constexpr std::size_t kLanes = 16;
constexpr std::size_t kBatchBytes = 24 * kMiB;  // long against a wake-up, small against the last-level cache

KeySchedule any_keys() {
  const crypto::SecretBytes<KeySchedule::kExporterBytes> exporter;
  return std::move(*KeySchedule::from_exporter(exporter));
}

std::shared_ptr<CipherThreads> threads(std::size_t count) {
  return count == 0 ? nullptr : CipherThreads::start(count).value();
}

/// Two ends of a session without a path between them.
class Pair {
 public:
  /// One of the two has threads, so that the other's are not asleep on the cores it wants.
  Pair(std::size_t block_bytes, std::size_t seal_threads, std::size_t open_threads)
      : block_bytes_(block_bytes), buffers_(buffer_bytes_for(block_bytes), kBatchBytes / block_bytes) {
    LaneSetup setup{Protection::private_, Cipher::aes_256_gcm, kLanes, threads(seal_threads), Role::connector};
    const auto keys = any_keys();
    const auto collect = [this](Result<Block> block) { finished_.push_back(std::move(*block)); };
    sealer_ = std::move(*LanePool::create(io_, setup, &keys, collect, collect));
    setup.role = Role::listener;
    setup.threads = threads(open_threads);
    opener_ = std::move(*LanePool::create(io_, setup, &keys, collect, collect));
    for (auto memory = buffers_.acquire(); memory; memory = buffers_.acquire())
      batch_.push_back(Block{std::move(*memory), 0, block_bytes});
  }

  double seal_seconds() {
    for (Block& block : batch_) {
      block.number = next_++;
      encode({Protection::private_, static_cast<std::uint16_t>(block.number % kLanes),
              static_cast<std::uint32_t>(block_bytes_), block.number},
             block.header());
    }
    return run(&LanePool::seal, *sealer_);
  }
  double open_seconds() { return run(&LanePool::open, *opener_); }

 private:
  double run(void (LanePool::*work)(Block), LanePool& pool) {
    const std::size_t count = batch_.size();
    const auto start = std::chrono::steady_clock::now();
    for (Block& block : batch_) (pool.*work)(std::move(block));
    while (finished_.size() < count) io_.run_one();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    batch_ = std::exchange(finished_, {});
    return elapsed.count();
  }

  const std::size_t block_bytes_;
  boost::asio::io_context io_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> stay_{io_.get_executor()};
  core::BufferPool buffers_;
  BlockNumber next_ = 0;
  std::vector<Block> batch_;
  std::vector<Block> finished_;
  std::unique_ptr<LanePool> sealer_;
  std::unique_ptr<LanePool> opener_;
};

void report_rate(benchmark::State& state) {
  const double bits = 8.0 * static_cast<double>(state.iterations()) * static_cast<double>(kBatchBytes);
  state.counters["Gbit/s"] = benchmark::Counter(bits / 1e9, benchmark::Counter::kIsRate);
}

void BM_Seal(benchmark::State& state) {
  Pair pair(static_cast<std::size_t>(state.range(0)), static_cast<std::size_t>(state.range(1)), 0);
  for (auto _ : state) state.SetIterationTime(pair.seal_seconds());
  report_rate(state);
}

void BM_Open(benchmark::State& state) {
  Pair pair(static_cast<std::size_t>(state.range(0)), 0, static_cast<std::size_t>(state.range(1)));
  for (auto _ : state) {
    pair.seal_seconds();
    state.SetIterationTime(pair.open_seconds());
  }
  report_rate(state);
}

void sizes_by_threads(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"block", "threads"})
      ->ArgsProduct({{4 << 10, 16 << 10, 64 << 10, 128 << 10, 256 << 10, 512 << 10, 1 << 20}, {0, 1, 2}})
      ->UseManualTime()
      ->MinTime(0.3);
}
BENCHMARK(BM_Seal)->Apply(sizes_by_threads);
BENCHMARK(BM_Open)->Apply(sizes_by_threads);

}  // namespace
}  // namespace udtcat::session
