#include "lib/transport/native/congestion/congestion_control.hpp"

#include "lib/core/invariant.hpp"
#include "lib/transport/native/congestion/bbr.hpp"
#include "lib/transport/native/congestion/cubic.hpp"
#include "lib/transport/native/congestion/fixed_rate.hpp"
#include "lib/transport/native/congestion/udt_rate_law.hpp"

namespace udtcat::transport::native {

std::unique_ptr<CongestionControl> make_congestion_control(CongestionKind kind, std::size_t payload_bytes, BitRate rate,
                                                           TimePoint now, std::uint32_t random_seed,
                                                           std::uint32_t ack_packets) {
  UDTCAT_INVARIANT(payload_bytes > 0, "a packet without payload carries nothing");
  switch (kind) {
    case CongestionKind::bbr:
      return std::make_unique<Bbr>(payload_bytes, now, random_seed, ack_packets);
    case CongestionKind::udt:
      return std::make_unique<UdtRateLaw>(payload_bytes, now, random_seed);
    case CongestionKind::cubic:
      return std::make_unique<Cubic>(payload_bytes);
    case CongestionKind::fixed:
      return std::make_unique<FixedRate>(payload_bytes, rate);
  }
  UDTCAT_INVARIANT(false, "each kind has its case");
}

}  // namespace udtcat::transport::native
