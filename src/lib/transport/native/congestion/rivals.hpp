/// Who else fills the queue, as far as our own probes and losses tell.
#pragma once

#include <udtcat/units.hpp>

namespace udtcat::transport::native {

/// Tells three companies apart, none of which the draft does:
///
///   nobody    a probe gains nothing while a queue stands, and the queue goes when the probe ends
///   heedful   losses come now and then, and the queue shrinks after them: CUBIC and its like. Probes are short
///   heedless  losses go on whatever we do: BBRv1 and its like. Giving way to these would only make them take all
///
/// Threads: unsynchronised.
class Rivals {
 public:
  /// A round trip without a probe ended.
  /// overflow   packets were lost while a queue stood
  /// drained    our last probe is long enough ago that the queue cannot be what it left
  void on_round_trip(bool overflow, bool drained);
  void on_probe_start(BitRate bandwidth) { before_probe_ = bandwidth; }
  void on_probe_end(BitRate bandwidth, bool queue_stands);
  /// We all but stopped sending, and no queue was left: perhaps we were alone.
  void on_empty_queue() { overflowing_ = 0; }

  /// The last probe gained although a queue stood: somebody else must have lost what we won.
  [[nodiscard]] bool share_queue() const { return share_queue_; }
  [[nodiscard]] bool heedful() const;
  [[nodiscard]] bool heedless() const;

 private:
  double overflowing_ = 0;  // part of the recent round trips in which the queue overflowed
  unsigned quiet_rounds_ = 0;
  bool overflowed_ = false;  // ever
  bool share_queue_ = false;
  BitRate before_probe_;
};

}  // namespace udtcat::transport::native
