// SPDX-License-Identifier: Apache-2.0
#include "tool/status/why.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

#include <udtcat/units.hpp>

#include "lib/core/random_loss.hpp"
#include "lib/core/user_text.hpp"

namespace udtcat::tool {

namespace {

using core::format_rate;
using core::format_size;
using Where = Verdict::Where;

bool is_there(const Verdict& verdict) { return verdict.where == Where::there; }
const char* whose(const Verdict& verdict) { return is_there(verdict) ? "their" : "our"; }
const char* at(const Verdict& verdict) { return is_there(verdict) ? "there" : "here"; }

std::string percent(double share) { return fmt::format("{:.{}f} %", 100 * share, share < 0.1 ? 1 : 0); }

std::string in_milliseconds(std::chrono::microseconds time) {
  return fmt::format("{:.1f} ms", std::chrono::duration<double, std::milli>(time).count());
}

std::string span_text(std::chrono::duration<double> span) {
  return span.count() < 10 ? fmt::format("{:.2g} s", span.count()) : fmt::format("{:.0f} s", span.count());
}

/// The half of the end that the verdict is on; null: nothing is known of it.
const EndEvidence* half(const Verdict& verdict, const Evidence& evidence) {
  if (!is_there(verdict)) return &evidence.here;
  return evidence.there ? &*evidence.there : nullptr;
}

/// Of a path whose loss is neither chance's nor a limit's for certain.
bool loses(const Verdict& verdict) {
  constexpr double kFelt = 0.01;  // guess: less is repaired without being felt
  return verdict.lost - verdict.queued_lost >= kFelt;
}

const char* beside_loss(const Verdict& verdict) {
  const bool doubted = verdict.lost - verdict.queued_lost >= core::kMaxRandomLoss;
  return doubted ? "; where it is a limit, TCP (ssh) may be faster" : "";
}

std::string unknown_text(const Verdict& verdict, const Evidence& evidence) {
  if (evidence.here.elapsed == std::chrono::microseconds(0)) return "what limits is not known: nobody has measured it";
  if (evidence.here.bytes_sent + evidence.here.bytes_received == 0) return "what limits is not known: nothing moved";
  const std::string text = "what limits is not known: ";
  constexpr std::chrono::seconds kEnough{2};  // guess: the path has been found by then
  if (evidence.here.elapsed < kEnough)
    return text + fmt::format("less than {} s of it were measured; udtcat bench HOST measures longer", kEnough.count());
  if (verdict.path_changed) return text + "the session has changed to another path meanwhile";
  if (verdict.waited > 0)
    return text + "a thread that moves packets waited for a core " + percent(verdict.waited) +
           " of the time: fewer other programs on its host, or a higher limit of the system on udtcat's, would help";
  if (verdict.path_rate != BitRate() && loses(verdict))
    return text + percent(verdict.lost - verdict.queued_lost) +
           " of the packets are lost without a queue, by chance or by a limit on UDP" + beside_loss(verdict);
  if (verdict.path_rate.bits_per_second() > 2 * verdict.rate.bits_per_second())
    return text + fmt::format("{} moved where the path was found to carry {}", format_rate(verdict.rate),
                              format_rate(verdict.path_rate));
  return text + "no one thing has held it for most of the time";
}

std::string thread_text(const Verdict& verdict, const EndEvidence* end) {
  const bool loop = verdict.thread == Verdict::Thread::event_loop;
  const std::string who = loop ? fmt::format("{} thread that moves packets", whose(verdict))
                               : fmt::format("{} cipher threads", whose(verdict));
  std::string text = fmt::format("limited by the processor {}: {} {} {} of one core", at(verdict), who,
                                 loop ? "has" : "have each", percent(verdict.busy));
  constexpr double kWaitWorthSaying = 0.1;  // guess: less is what any system does beside
  if (verdict.waited >= kWaitWorthSaying)
    return text + fmt::format(" and waits for one {} of the time: other programs, or a limit of the system, have it",
                              percent(verdict.waited));
  if (!loop) return text + fmt::format("; more --threads {} would help where there are cores for them", at(verdict));
  const bool seals = end != nullptr && end->cipher_threads == 0;
  return text +
         (seals ? fmt::format("; --threads 2 {} would take the cipher off it, where a core is free", at(verdict))
                : std::string("; it has no more than one: a faster core would help, --threads and --flows would not"));
}

/// The next power of two, as administrators write such limits.
std::uint64_t rounded_up(std::uint64_t bytes) { return std::bit_ceil(std::max<std::uint64_t>(bytes, 1)); }

std::string memory_text(const Verdict& verdict, const EndEvidence* end) {
  std::string text = fmt::format("limited by --memory {}", at(verdict));
  if (end == nullptr || end->memory_bytes == 0) return text;
  text += fmt::format(" ({})", format_size(end->memory_bytes));
  if (!verdict.least_rtt || verdict.least_rtt->count() == 0) return text;
  const std::chrono::microseconds round_trip = *verdict.least_rtt + verdict.queue;
  text += fmt::format(": in a round trip of {} it carries at most {}", in_milliseconds(round_trip),
                      format_rate(BitRate::from_bytes_per(end->memory_bytes, round_trip)));
  return text + "; twice as much carries twice as much, up to what the path does";
}

std::string socket_text(const Verdict& verdict, const EndEvidence* end) {
  std::string text = fmt::format("limited by socket buffers {}: one datagram or train for {:.0f} packets fell off them",
                                 at(verdict), 1 / std::max(verdict.dropped, 1e-6));
  if (end == nullptr) return text;
  if (end->socket_buffer_bytes >= end->socket_wanted_bytes)
    return text +
           fmt::format(", though they are as large as udtcat asks for ({}): its thread came too late to read them",
                       format_size(end->socket_buffer_bytes));
  // The kernel counts twice what it is asked for.
  const std::uint64_t limit = rounded_up(end->socket_wanted_bytes / 2);
  return text + fmt::format("; `sysctl -w net.core.rmem_max={}` {} would let them hold {} instead of {}", limit,
                            at(verdict), format_size(end->socket_wanted_bytes), format_size(end->socket_buffer_bytes));
}

std::string path_text_of(const Verdict& verdict) {
  std::string text = fmt::format("limited by the path: {} found", format_rate(verdict.path_rate));
  if (verdict.least_rtt) text += fmt::format(", round trip {}", in_milliseconds(*verdict.least_rtt));
  constexpr std::chrono::microseconds kQueueWorthSaying{1'000};  // guess: less is the hosts'
  if (verdict.queue >= kQueueWorthSaying) text += fmt::format(", its queue adds {}", in_milliseconds(verdict.queue));
  constexpr double kLossWorthSaying = 0.001;  // guess
  if (verdict.lost < kLossWorthSaying) return text;
  text += fmt::format(", {} of the packets lost", percent(verdict.lost));
  if (verdict.queued_lost >= kLossWorthSaying)
    text += fmt::format(" ({} in a full queue)", percent(verdict.queued_lost));
  return text;
}

/// The gain where what limits is mended.
std::string path_beside(const Verdict& verdict) {
  if (verdict.path_rate.bits_per_second() <= verdict.rate.bits_per_second()) return {};
  return fmt::format("; the path was found to carry {}", format_rate(verdict.path_rate));
}

/// Of the end that sends more.
std::string trains_text(const Verdict& verdict, const Evidence& evidence) {
  const bool off = verdict.sends ? evidence.here.trains_off > 0 : evidence.there && evidence.there->trains_off > 0;
  return off ? "; trains: off, datagrams go one by one" : "";
}

}  // namespace

Why why(const Evidence& evidence) {
  const Verdict verdict = verdict_on(evidence);
  return {.word = std::string(word_of(verdict)), .text = why_text(verdict, evidence) + trains_text(verdict, evidence)};
}

Why why_since(const Evidence& before, const Evidence& now) {
  const bool has_begun_since = before.here.elapsed.count() == 0 || now.here.elapsed < before.here.elapsed;
  const Evidence lately = has_begun_since ? now : since(before, now);
  Why made = why(lately);
  if (lately.here.elapsed.count() > 0)
    made.text = (has_begun_since ? "since it began" : "over the last " + span_text(lately.here.elapsed)) + ", " +
                std::move(made.text);
  return made;
}

std::string why_text(const Verdict& verdict, const Evidence& evidence) {
  const EndEvidence* end = half(verdict, evidence);
  switch (verdict.limit) {
    case Limit::unknown:
      return unknown_text(verdict, evidence);
    case Limit::source:
      return fmt::format("limited by {} source: it gives {}, and the transfer waits for it", whose(verdict),
                         format_rate(verdict.rate)) +
             path_beside(verdict);
    case Limit::consumer:
      return fmt::format("limited by {} consumer (a disk, or a program that reads)", whose(verdict)) +
             (verdict.rate == BitRate() ? "" : fmt::format(": it takes {} of what comes", format_rate(verdict.rate))) +
             path_beside(verdict);
    case Limit::processor:
      return thread_text(verdict, end);
    case Limit::socket_buffer:
      return socket_text(verdict, end);
    case Limit::memory:
      return memory_text(verdict, end);
    case Limit::rate_cap:
      return fmt::format("limited by --rate {} {}", end != nullptr ? core::format_bit_rate(end->rate_cap) : "",
                         at(verdict));
    case Limit::path:
      return path_text_of(verdict);
    case Limit::loss:
      return fmt::format("limited by loss on the path: {} of the packets without a queue, however fast they are sent",
                         percent(verdict.lost - verdict.queued_lost));
    case Limit::policer:
      return fmt::format(
          "limited by a policer, or a queue too short to see: {} moved, and {} of the packets were lost without "
          "a queue, the more the faster we sent; where it is for UDP only, TCP (ssh) may be faster",
          format_rate(verdict.rate), percent(verdict.lost - verdict.queued_lost));
    case Limit::peer:
      return "limited by the other end: it has no room for more, and does not say why (its consumer, or its memory)";
  }
  return {};
}

}  // namespace udtcat::tool
