// SPDX-License-Identifier: Apache-2.0
#include "lib/session/lanes.hpp"

#include <boost/asio/post.hpp>

#include "lib/core/byte_order.hpp"
#include "lib/core/invariant.hpp"
#include "lib/core/try.hpp"

namespace udtcat::session {

// ---- Lane -----------------------------------------------------------------------------------------------------------

Result<Lane> Lane::create(Protection protection, Cipher cipher, crypto::AeadDirection direction, LaneSecret secret) {
  UDTCAT_TRY(auto keys, secret.keys());
  UDTCAT_TRY(auto aead,
             crypto::Aead::create(cipher, direction, keys.key.bytes().first(crypto::Aead::key_bytes(cipher))));
  return Lane(protection, cipher, std::move(aead), std::move(secret), std::move(keys));
}

Lane::Lane(Protection protection, Cipher cipher, crypto::Aead aead, LaneSecret secret, LaneSecret::Keys keys)
    : protection_(protection),
      cipher_(cipher),
      aead_(std::move(aead)),
      secret_(std::move(secret)),
      iv_(std::move(keys.iv)) {}

Status Lane::seal(const Block& block) {
  UDTCAT_CHECK(enter_epoch_of(block.number));
  const auto iv = nonce(block.number);
  if (protection_ == Protection::private_) return aead_.seal(iv, block.header(), block.payload(), block.tag());
  // safe: header and payload are one stretch of memory, all of it authenticated and none of it enciphered.
  return aead_.seal(iv, block.record(Protection::clear), {}, block.tag());
}

Status Lane::open(const Block& block) {
  UDTCAT_CHECK(enter_epoch_of(block.number));
  const auto iv = nonce(block.number);
  if (protection_ == Protection::private_) return aead_.open(iv, block.header(), block.payload(), block.tag());
  return aead_.open(iv, block.record(Protection::clear), {}, block.tag());
}

Status Lane::enter_epoch_of(BlockNumber number) {
  UDTCAT_INVARIANT(!last_number_ || number > *last_number_, "the session counts blocks up and each is worked once");
  if (number >= kMaxBlockNumber)
    return fail(Errc::key_exhausted, "seal or open a block", "the last block number is reached");
  last_number_ = number;
  if (epoch_ == number / kBlocksPerEpoch) return {};
  for (; epoch_ < number / kBlocksPerEpoch; ++epoch_) UDTCAT_CHECK(secret_.ratchet());
  UDTCAT_TRY(auto keys, secret_.keys());
  iv_ = std::move(keys.iv);
  return aead_.rekey(keys.key.bytes().first(crypto::Aead::key_bytes(cipher_)));
}

std::array<std::byte, crypto::kNonceBytes> Lane::nonce(BlockNumber number) const {
  std::array<std::byte, crypto::kNonceBytes> value{};
  core::store_be<std::uint64_t>(std::span(value).last<sizeof number>(), number);
  for (std::size_t i = 0; i < value.size(); ++i) value[i] ^= iv_.bytes()[i];
  return value;
}

// ---- LanePool -------------------------------------------------------------------------------------------------------

// A wake-up of the io thread costs a worker as much as a hundred kilobytes: it waits for so many while it has more to
// do.
constexpr std::size_t kAnnounceBytes = 1 * kMiB;  // measured: bench/lanes, ADR-0010; at 10 Gbit/s the wire takes longer

/// A block in its place in the order, and the outcome of its lane's work.
struct LanePool::WorkItem {
  Block block;
  Status outcome;
  std::atomic<bool> done{false};
};

/// A lane and the blocks that wait for it.
struct LanePool::LaneStrand final : CipherThreads::Strand {
  LaneStrand(LanePool& its_pool, Lane its_lane, bool it_seals)
      : pool(its_pool), lane(std::move(its_lane)), seals(it_seals) {}

  LanePool& pool;
  Lane lane;
  const bool seals;
  std::deque<WorkItem*> waiting UDTCAT_GUARDED_BY(&LanePool::mutex_){};

  void run(WorkItem& item) { item.outcome = seals ? lane.seal(item.block) : lane.open(item.block); }
  void work() override { pool.work(*this); }
};

/// One direction. Confined to the io thread but for the lanes' waiting queues.
struct LanePool::Pipeline {
  BlockHandler handler;
  std::vector<std::unique_ptr<LaneStrand>> lanes{};
  std::deque<std::unique_ptr<WorkItem>> in_order{};
};

Result<std::unique_ptr<LanePool>> LanePool::create(boost::asio::io_context& io, const LaneSetup& setup,
                                                   const KeySchedule* keys, BlockHandler on_sealed,
                                                   BlockHandler on_opened) {
  std::unique_ptr<LanePool> pool(new LanePool(io, setup.threads, std::move(on_sealed), std::move(on_opened)));
  if (keys == nullptr) return pool;
  for (std::size_t i = 0; i < setup.lanes; ++i) {
    for (const bool seals : {true, false}) {
      const Direction direction = direction_from(seals ? setup.role : peer_of(setup.role));
      UDTCAT_TRY(auto secret, keys->lane_secret(direction, static_cast<std::uint16_t>(i)));
      UDTCAT_TRY(auto lane,
                 Lane::create(setup.protection, setup.cipher,
                              seals ? crypto::AeadDirection::seal : crypto::AeadDirection::open, std::move(secret)));
      (seals ? *pool->sealing_ : *pool->opening_)
          .lanes.push_back(std::make_unique<LaneStrand>(*pool, std::move(lane), seals));
    }
  }
  return pool;
}

LanePool::LanePool(boost::asio::io_context& io, std::shared_ptr<CipherThreads> threads, BlockHandler on_sealed,
                   BlockHandler on_opened)
    : io_(io),
      threads_(std::move(threads)),
      offload_(OffloadPolicy::of(io)),
      sealing_(std::make_unique<Pipeline>(Pipeline{std::move(on_sealed)})),
      opening_(std::make_unique<Pipeline>(Pipeline{std::move(on_opened)})),
      guarded_delivery_(lifetime_.guard([this] { deliver(); })) {}

LanePool::~LanePool() {
  if (!threads_) return;
  for (const auto* pipeline : {sealing_.get(), opening_.get()})
    for (const auto& lane : pipeline->lanes) threads_->remove(*lane);
}

void LanePool::submit(Pipeline& pipeline, Block block) {
  WorkItem& item = *pipeline.in_order.emplace_back(std::make_unique<WorkItem>());
  item.block = std::move(block);
  if (!pipeline.lanes.empty()) {
    LaneStrand& lane = *pipeline.lanes[lane_of(item.block.number, pipeline.lanes.size())];
    if (worth_a_thread(pipeline, item)) return hand_to_workers(lane, item);
    lane.run(item);
  }
  item.done.store(true, std::memory_order_relaxed);
  schedule_delivery();
}

/// Otherwise the block is worked on this thread, which has the lane as soon as its last block is done.
bool LanePool::worth_a_thread(const Pipeline& pipeline, const WorkItem& item) {
  if (!threads_) return false;
  const std::size_t before = pipeline.in_order.size() - 1;
  if (before == 0 && item.block.payload_bytes <= kInlinePayloadBytes) return false;
  if (offload_.offloads(std::chrono::steady_clock::now())) return true;
  const std::size_t lanes = pipeline.lanes.size();  // to which blocks are dealt in turn
  return before >= lanes && !pipeline.in_order[before - lanes]->done.load(std::memory_order_acquire);
}

void LanePool::hand_to_workers(LaneStrand& lane, WorkItem& item) {
  {
    const core::MutexLock lock(mutex_);
    lane.waiting.push_back(&item);
    ++waiting_blocks_;
  }
  threads_->add(lane);
}

/// Runs on one of the threads, which has the lane alone.
void LanePool::work(LaneStrand& lane) {
  WorkItem* item = nullptr;
  {
    const core::MutexLock lock(mutex_);
    item = lane.waiting.front();
    lane.waiting.pop_front();
    --waiting_blocks_;
  }
  lane.run(*item);
  const core::MutexLock lock(mutex_);
  unannounced_bytes_ += item->block.payload_bytes;
  item->done.store(true, std::memory_order_release);  // from here on the io thread may take the item away
  if (waiting_blocks_ > 0 && unannounced_bytes_ < kAnnounceBytes) return;
  unannounced_bytes_ = 0;
  schedule_delivery();
}

void LanePool::schedule_delivery() {
  if (!delivery_scheduled_.exchange(true)) boost::asio::post(io_, guarded_delivery_);
}

void LanePool::deliver() {
  delivery_scheduled_.exchange(false);  // after what the worker that set it had done
  deliver(*sealing_);
  deliver(*opening_);
}

void LanePool::deliver(Pipeline& pipeline) {
  while (!pipeline.in_order.empty() && pipeline.in_order.front()->done.load(std::memory_order_acquire)) {
    const std::unique_ptr<WorkItem> item = std::move(pipeline.in_order.front());
    pipeline.in_order.pop_front();
    if (item->outcome)
      pipeline.handler(std::move(item->block));
    else
      pipeline.handler(tl::unexpected(item->outcome.error()));
  }
}

}  // namespace udtcat::session
