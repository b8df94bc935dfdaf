#include "tool/stats_sum.hpp"

namespace udtcat::tool {

ConnectionStats sum(const ConnectionStats& so_far, const ConnectionStats& latest) {
  ConnectionStats total = latest;
  total.bytes_sent += so_far.bytes_sent;
  total.bytes_received += so_far.bytes_received;
  total.blocks_sent += so_far.blocks_sent;
  total.blocks_received += so_far.blocks_received;
  total.streams_opened += so_far.streams_opened;
  total.packets_sent += so_far.packets_sent;
  total.packets_lost += so_far.packets_lost;
  total.packets_resent += so_far.packets_resent;
  return total;
}

}  // namespace udtcat::tool
