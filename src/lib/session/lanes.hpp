// SPDX-License-Identifier: Apache-2.0
/// Lanes: keyed cipher contexts that seal and open blocks, on many cores and in order.
///
///   submit (io thread) ──► in-order queue ──────────────────────────► head done? ──► handler (io thread)
///                     └──► the block's lane ──► a worker thread ──► marks it done ┘
///
/// Order is kept, not rebuilt: a block takes its place in the queue before a lane sees it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include <boost/asio/io_context.hpp>

#include <udtcat/options.hpp>
#include <udtcat/result.hpp>

#include "lib/core/lifetime.hpp"
#include "lib/core/mutex.hpp"
#include "lib/crypto/aead.hpp"
#include "lib/session/cipher_threads.hpp"
#include "lib/session/key_schedule.hpp"
#include "lib/session/offload_policy.hpp"
#include "lib/session/record_format.hpp"

namespace udtcat::session {

/// Block n of a direction belongs to lane n mod lanes. Keys follow the epoch of the block's number without being told.
/// Threads: unsynchronised: a lane is worked by one thread at a time (LanePool).
class Lane {
 public:
  /// errors: Errc::cipher_failed
  [[nodiscard]] static Result<Lane> create(Protection protection, Cipher cipher, crypto::AeadDirection direction,
                                           LaneSecret secret);

  /// Makes the record: payload and tag in place, authenticated with the header that already stands before them.
  /// Block numbers strictly increase: a repeat would repeat a nonce (INVARIANT).
  /// errors: Errc::cipher_failed; Errc::key_exhausted at kMaxBlockNumber
  [[nodiscard]] Status seal(const Block& block);
  /// errors: Errc::tampered; Errc::cipher_failed; Errc::key_exhausted
  [[nodiscard]] Status open(const Block& block);

 private:
  Lane(Protection protection, Cipher cipher, crypto::Aead aead, LaneSecret secret, LaneSecret::Keys keys);
  [[nodiscard]] Status enter_epoch_of(BlockNumber number);
  [[nodiscard]] std::array<std::byte, crypto::kNonceBytes> nonce(BlockNumber number) const;

  Protection protection_;
  Cipher cipher_;
  crypto::Aead aead_;
  LaneSecret secret_;
  crypto::SecretBytes<crypto::kNonceBytes> iv_;
  std::uint64_t epoch_ = 0;
  std::optional<BlockNumber> last_number_;
};

/// A block whose payload is at most this is worked on the caller's thread when its direction is idle: waking
/// another would take longer than the cipher.
inline constexpr std::size_t kInlinePayloadBytes = 16 * kKiB;  // measured: bench/lanes, ADR-0004

struct LaneSetup {
  Protection protection = Protection::private_;
  Cipher cipher = Cipher::aes_256_gcm;
  std::size_t lanes = 1;
  std::shared_ptr<CipherThreads> threads{};  ///< none: every block is worked on the caller's thread
  Role role = Role::connector;
};

/// The two ordered pipelines of a session. At auth and clear there are no lanes and blocks
/// pass through in order.
/// Bounded by its caller: it holds what was submitted and not yet handed back.
/// Threads: internally synchronised; seal(), open() and the handlers on the io_context thread, lanes on the workers.
/// Handlers are never called from inside seal() or open(), nor after destruction.
class LanePool {
 public:
  using BlockHandler = std::function<void(Result<Block>)>;

  /// keys   null exactly at auth and clear
  /// errors: Errc::cipher_failed
  [[nodiscard]] static Result<std::unique_ptr<LanePool>> create(boost::asio::io_context& io, const LaneSetup& setup,
                                                                const KeySchedule* keys, BlockHandler on_sealed,
                                                                BlockHandler on_opened);
  ~LanePool();
  LanePool(const LanePool&) = delete;
  LanePool& operator=(const LanePool&) = delete;

  void seal(Block block) { submit(*sealing_, std::move(block)); }
  void open(Block block) { submit(*opening_, std::move(block)); }
  /// Blocks are worked by threads, so that more of them on their way are a gain.
  [[nodiscard]] bool hands_over() const { return threads_ && offload_.is_offloading(); }
  /// Adds the times of the threads; on the io_context's.
  void add_end_stats(EndStats& end) const {
    end.event_loop = offload_.thread_time(OffloadPolicy::TimePoint::clock::now());
    if (threads_) threads_->add_times(end);
  }

 private:
  struct WorkItem;
  struct LaneStrand;
  struct Pipeline;

  LanePool(boost::asio::io_context& io, std::shared_ptr<CipherThreads> threads, BlockHandler on_sealed,
           BlockHandler on_opened);
  void submit(Pipeline& pipeline, Block block);
  [[nodiscard]] bool worth_a_thread(const Pipeline& pipeline, const WorkItem& item);
  void hand_to_workers(LaneStrand& lane, WorkItem& item);
  void work(LaneStrand& lane);
  void schedule_delivery();
  void deliver();
  void deliver(Pipeline& pipeline);

  boost::asio::io_context& io_;  // constant after construction
  const std::shared_ptr<CipherThreads> threads_;
  OffloadPolicy& offload_;
  const std::unique_ptr<Pipeline> sealing_;  // confined to the io thread, but for their lanes' queues
  const std::unique_ptr<Pipeline> opening_;
  std::atomic<bool> delivery_scheduled_{false};

  core::Mutex mutex_;
  std::size_t waiting_blocks_ UDTCAT_GUARDED_BY(mutex_) = 0;     // no thread has begun them
  std::size_t unannounced_bytes_ UDTCAT_GUARDED_BY(mutex_) = 0;  // finished, and the io thread not yet told

  core::Lifetime lifetime_;
  std::function<void()> guarded_delivery_;  // made on the io thread, posted from any
};

}  // namespace udtcat::session
