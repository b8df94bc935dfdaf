#include "lib/transport/native/tombstones.hpp"

#include <utility>

#include "lib/transport/native/packet.hpp"

namespace udtcat::transport::native {

namespace {

constexpr std::size_t kMaxStones = 1024;                        // guess: 150 kB
constexpr Duration kLasts = std::chrono::seconds(60);           // spec: udt4.md §8: a libudt peer gives up within it
constexpr Duration kAnswerGap = std::chrono::milliseconds(20);  // guess: a flight of strays gets few answers

}  // namespace

void Tombstones::add(TimePoint now, std::uint32_t id, const Endpoint& peer, std::vector<std::byte> goodbye) {
  if (oldest_first_.size() == kMaxStones) {
    stones_.erase(oldest_first_.front());
    oldest_first_.pop_front();
  }
  stones_.insert_or_assign(id, Stone{peer, std::move(goodbye), now + kLasts, now});
  oldest_first_.push_back(id);
}

const std::vector<std::byte>* Tombstones::answer(TimePoint now, std::uint32_t id, const Endpoint& from,
                                                 std::span<const std::byte> packet) {
  const auto found = stones_.find(id);
  if (found == stones_.end()) return nullptr;
  // Two ends that closed at once would tell each other for a minute.
  if (is_control(packet) && decode_control_header(packet).type == ControlType::shutdown) return nullptr;
  Stone& stone = found->second;
  if (now >= stone.until || now < stone.next_answer || !(stone.peer == from)) return nullptr;
  stone.next_answer = now + kAnswerGap;
  return &stone.goodbye;
}

}  // namespace udtcat::transport::native
