#include "lib/session/lane_pool.hpp"

#include <optional>
#include <system_error>

#include <boost/asio/post.hpp>

namespace udtcat::session {

using session::Block;
using session::Direction;
using session::Role;

// To wake the io thread costs a worker the time of a hundred kilobytes. While it has more to do it does so once in a while;
// whoever finds nothing more to do always does.
constexpr std::size_t kAnnounceBytes = 1 * kMiB;  // measured: bench/lanes, ADR-0010; at 10 Gbit/s the wire takes longer

/// A block on its way: its place in the order, and what became of it.
struct LanePool::Job {
  Block block;
  Status outcome;
  std::atomic<bool> done{false};
};

/// A lane and the blocks that wait for it. At most one thread has it: it is in ready_, or with a thread, or has no work.
struct LanePool::Worked {
  Lane lane;
  bool seals;
  std::deque<Job*> waiting{};  // guarded by mutex_; the front is being worked

  void run(Job& job) { job.outcome = seals ? lane.seal(job.block) : lane.open(job.block); }
};

/// One direction. Confined to the io thread but for the lanes' waiting queues.
struct LanePool::Pipeline {
  BlockHandler handler;
  std::vector<std::unique_ptr<Worked>> lanes{};
  std::deque<std::unique_ptr<Job>> in_order{};
};

Result<std::unique_ptr<LanePool>> LanePool::create(boost::asio::io_context& io, const LaneSetup& setup,
                                                   const session::KeySchedule* keys, BlockHandler on_sealed,
                                                   BlockHandler on_opened) {
  std::unique_ptr<LanePool> pool(new LanePool(io, std::move(on_sealed), std::move(on_opened)));
  if (keys == nullptr) return pool;
  const bool connector = setup.role == Role::connector;
  const Direction ours = connector ? Direction::from_connector : Direction::from_listener;
  const Direction theirs = connector ? Direction::from_listener : Direction::from_connector;
  for (std::size_t i = 0; i < setup.lanes; ++i) {
    for (const bool seals : {true, false}) {
      auto secret = keys->lane_secret(seals ? ours : theirs, static_cast<std::uint16_t>(i));
      if (!secret) return tl::unexpected(secret.error());
      auto lane = Lane::create(setup.protection, setup.cipher,
                               seals ? crypto::AeadDirection::seal : crypto::AeadDirection::open, std::move(*secret));
      if (!lane) return tl::unexpected(lane.error());
      (seals ? pool->sealing_ : pool->opening_)
          .lanes.push_back(std::make_unique<Worked>(Worked{std::move(*lane), seals}));
    }
  }
  if (auto started = pool->start_threads(setup.threads); !started) return tl::unexpected(started.error());
  return pool;
}

LanePool::LanePool(boost::asio::io_context& io, BlockHandler on_sealed, BlockHandler on_opened)
    : io_(io),
      sealing_owner_(std::make_unique<Pipeline>(Pipeline{std::move(on_sealed)})),
      opening_owner_(std::make_unique<Pipeline>(Pipeline{std::move(on_opened)})),
      sealing_(*sealing_owner_),
      opening_(*opening_owner_),
      guarded_delivery_(lifetime_.guard([this] { deliver(); })) {}

LanePool::~LanePool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_there_.notify_all();
  for (auto& thread : threads_) thread.join();
}

Status LanePool::start_threads(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    try {
      threads_.emplace_back([this] { work(); });
    } catch (const std::system_error& e) {
      if (threads_.empty()) return fail(Errc::out_of_resources, "start a cipher thread", e.what());
      break;  // fewer threads are slower, not wrong
    }
  }
  return {};
}

void LanePool::submit(Pipeline& pipeline, Block block) {
  const bool idle = pipeline.in_order.empty();
  Job& job = *pipeline.in_order.emplace_back(std::make_unique<Job>());
  job.block = std::move(block);
  if (pipeline.lanes.empty()) {
    job.done.store(true, std::memory_order_relaxed);
    return schedule_delivery();
  }
  Worked& lane = *pipeline.lanes[job.block.number % pipeline.lanes.size()];
  // With no earlier block on its way, no thread is in any lane of this direction.
  if (threads_.empty() || (idle && job.block.payload_bytes <= kInlinePayloadBytes)) {
    lane.run(job);
    job.done.store(true, std::memory_order_relaxed);
    return schedule_delivery();
  }
  hand_to_workers(lane, job);
}

void LanePool::hand_to_workers(Worked& lane, Job& job) {
  {
    const std::lock_guard lock(mutex_);
    lane.waiting.push_back(&job);
    if (lane.waiting.size() > 1) return;  // its thread goes on with it
    ready_.push_back(&lane);
  }
  work_there_.notify_one();
}

void LanePool::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    work_there_.wait(lock, [this] { return stopping_ || !ready_.empty(); });
    if (stopping_) return;
    Worked& lane = *ready_.front();
    ready_.pop_front();
    Job& job = *lane.waiting.front();
    lock.unlock();
    lane.run(job);
    lock.lock();
    lane.waiting.pop_front();
    if (!lane.waiting.empty())
      ready_.push_back(&lane);  // behind the others: this thread takes it up again if they are few
    unannounced_bytes_ += job.block.payload_bytes;
    job.done.store(true, std::memory_order_release);  // from here on the io thread may take the job away
    if (ready_.empty() || unannounced_bytes_ >= kAnnounceBytes) {
      unannounced_bytes_ = 0;
      schedule_delivery();
    }
  }
}

void LanePool::schedule_delivery() {
  if (!delivery_scheduled_.exchange(true)) boost::asio::post(io_, guarded_delivery_);
}

void LanePool::deliver() {
  delivery_scheduled_.exchange(false);  // after what the worker that set it had done
  deliver(sealing_);
  deliver(opening_);
}

void LanePool::deliver(Pipeline& pipeline) {
  while (!pipeline.in_order.empty() && pipeline.in_order.front()->done.load(std::memory_order_acquire)) {
    const std::unique_ptr<Job> job = std::move(pipeline.in_order.front());
    pipeline.in_order.pop_front();
    if (job->outcome)
      pipeline.handler(std::move(job->block));
    else
      pipeline.handler(tl::unexpected(job->outcome.error()));
  }
}

}  // namespace udtcat::session
