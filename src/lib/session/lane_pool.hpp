/// Seals and opens blocks on many cores and gives them back in order.
///
///   submit (io thread) ──► in-order queue ──────────────────────────► head done? ──► handler (io thread)
///                     └──► the block's lane ──► a worker thread ──► marks it done ┘
///
/// Order is kept, not rebuilt: a block takes its place in the queue before a lane sees it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <udtcat/result.hpp>

#include "lib/core/lifetime.hpp"
#include "lib/session/lane.hpp"
#include "lib/session/parameters.hpp"

namespace udtcat::session {

/// A block whose payload is at most this is worked on the caller's thread when its direction is idle: waking
/// another would take longer than the cipher.
inline constexpr std::size_t kInlinePayloadBytes = 16 * 1024;  // measured: bench/lanes, ADR-0004

struct LaneSetup {
  Protection protection = Protection::private_;
  Cipher cipher = Cipher::aes_256_gcm;
  std::size_t lanes = 1;
  std::size_t threads = 0;  ///< 0: every block is worked on the caller's thread
  session::Role role = session::Role::connector;
};

/// The two ordered pipelines of a session, one thread set for both. At auth and clear there are no lanes and blocks pass
/// through in order.
/// Bounded by its caller: it holds what was submitted and not yet handed back.
/// Threads: internally synchronised; seal(), open() and the handlers on the io_context thread, lanes on the workers. Handlers are
/// never called from inside seal() or open(), nor after destruction.
class LanePool {
 public:
  using BlockHandler = std::function<void(Result<session::Block>)>;

  /// keys   null exactly at auth and clear
  /// errors Errc::cipher_failed; Errc::out_of_resources
  [[nodiscard]] static Result<std::unique_ptr<LanePool>> create(boost::asio::io_context& io, const LaneSetup& setup,
                                                                const session::KeySchedule* keys,
                                                                BlockHandler on_sealed, BlockHandler on_opened);
  ~LanePool();
  LanePool(const LanePool&) = delete;
  LanePool& operator=(const LanePool&) = delete;

  void seal(session::Block block) { submit(sealing_, std::move(block)); }
  void open(session::Block block) { submit(opening_, std::move(block)); }

 private:
  struct Job;
  struct Worked;
  struct Pipeline;

  LanePool(boost::asio::io_context& io, BlockHandler on_sealed, BlockHandler on_opened);
  [[nodiscard]] Status start_threads(std::size_t count);
  void submit(Pipeline& pipeline, session::Block block);
  void hand_to_workers(Worked& lane, Job& job);
  void work();
  void schedule_delivery();
  void deliver();
  void deliver(Pipeline& pipeline);

  boost::asio::io_context& io_;              // constant after construction
  std::unique_ptr<Pipeline> sealing_owner_;  // confined to the io thread, but for their lanes' queues
  std::unique_ptr<Pipeline> opening_owner_;
  Pipeline& sealing_;
  Pipeline& opening_;
  std::vector<std::thread> threads_;  // constant after construction
  std::atomic<bool> delivery_scheduled_{false};

  std::mutex mutex_;
  std::condition_variable work_there_;
  std::deque<Worked*> ready_;          // guarded by mutex_: lanes with work and without a thread
  std::size_t unannounced_bytes_ = 0;  // guarded by mutex_: finished, and the io thread not yet told
  bool stopping_ = false;              // guarded by mutex_

  core::Lifetime lifetime_;
  std::function<void()> guarded_delivery_;  // made on the io thread, posted from any
};

}  // namespace udtcat::session
