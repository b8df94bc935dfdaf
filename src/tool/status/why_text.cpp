// SPDX-License-Identifier: Apache-2.0
#include "tool/status/why_text.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

#include <udtcat/units.hpp>

#include "lib/core/user_text.hpp"

namespace udtcat::tool {

namespace {

using core::format_rate;
using core::format_size;
using Where = Diagnosis::Where;

bool is_there(const Diagnosis& diagnosis) { return diagnosis.where == Where::there; }
const char* whose(const Diagnosis& diagnosis) { return is_there(diagnosis) ? "their" : "our"; }
const char* at(const Diagnosis& diagnosis) { return is_there(diagnosis) ? "there" : "here"; }

std::string percent(double share) { return fmt::format("{:.{}f} %", 100 * share, share < 0.1 ? 1 : 0); }

std::string in_milliseconds(std::chrono::microseconds time) {
  return fmt::format("{:.1f} ms", std::chrono::duration<double, std::milli>(time).count());
}

std::string span_text(std::chrono::duration<double> span) {
  return span.count() < 10 ? fmt::format("{:.2g} s", span.count()) : fmt::format("{:.0f} s", span.count());
}

/// The half of the end that the diagnosis is of; null: nothing is known of it.
const EndStats* half(const Diagnosis& diagnosis, const BothEndsStats& ends) {
  if (!is_there(diagnosis)) return &ends.here;
  return ends.there ? &*ends.there : nullptr;
}

/// Whether the path has a loss that is neither chance's nor a limit's for certain.
bool loses(const Diagnosis& diagnosis) {
  constexpr double kFelt = 0.01;  // guess: less is repaired without being felt
  return diagnosis.lost - diagnosis.queued_lost >= kFelt;
}

const char* beside_loss(const Diagnosis& diagnosis) {
  const bool doubted = diagnosis.lost - diagnosis.queued_lost >= kMaxRandomLoss;
  return doubted ? "; where it is a limit, TCP (ssh) may be faster" : "";
}

std::string unknown_text(const Diagnosis& diagnosis, const BothEndsStats& ends) {
  if (ends.here.elapsed == std::chrono::microseconds(0)) return "what limits is not known: nobody has measured it";
  if (ends.here.bytes_sent + ends.here.bytes_received == 0) return "what limits is not known: nothing moved";
  const std::string text = "what limits is not known: ";
  constexpr std::chrono::seconds kEnough{2};  // guess: the path has been found by then
  if (ends.here.elapsed < kEnough)
    return text + fmt::format("less than {} s of it were measured; udtcat bench HOST measures longer", kEnough.count());
  if (diagnosis.path_changed) return text + "the session has changed to another path meanwhile";
  if (diagnosis.waited > 0)
    return text + "a thread that moves packets waited for a core " + percent(diagnosis.waited) +
           " of the time: fewer other programs on its host, or a higher limit of the system on udtcat's, would help";
  if (diagnosis.path_rate != BitRate() && loses(diagnosis))
    return text + percent(diagnosis.lost - diagnosis.queued_lost) +
           " of the packets are lost without a queue, by chance or by a limit on UDP" + beside_loss(diagnosis);
  if (diagnosis.path_rate.bits_per_second() > 2 * diagnosis.rate.bits_per_second())
    return text + fmt::format("{} moved where the path was found to carry {}", format_rate(diagnosis.rate),
                              format_rate(diagnosis.path_rate));
  return text + "no one thing has held it for most of the time";
}

std::string thread_text(const Diagnosis& diagnosis, const EndStats* end) {
  const bool loop = diagnosis.thread == Diagnosis::Thread::event_loop;
  const std::string who = loop ? fmt::format("{} thread that moves packets", whose(diagnosis))
                               : fmt::format("{} cipher threads", whose(diagnosis));
  std::string text = fmt::format("limited by the processor {}: {} {} {} of one core", at(diagnosis), who,
                                 loop ? "has" : "have each", percent(diagnosis.busy));
  constexpr double kWaitWorthSaying = 0.1;  // guess: less is what any system does beside
  if (diagnosis.waited >= kWaitWorthSaying)
    return text + fmt::format(" and waits for one {} of the time: other programs, or a limit of the system, have it",
                              percent(diagnosis.waited));
  if (!loop) return text + fmt::format("; more --threads {} would help where there are cores for them", at(diagnosis));
  const bool seals = end != nullptr && end->cipher_threads == 0;
  return text +
         (seals ? fmt::format("; --threads 2 {} would take the cipher off it, where a core is free", at(diagnosis))
                : std::string("; it has no more than one: a faster core would help, --threads and --flows would not"));
}

/// The next power of two, as administrators write such limits.
std::uint64_t rounded_up(std::uint64_t bytes) { return std::bit_ceil(std::max<std::uint64_t>(bytes, 1)); }

std::string memory_text(const Diagnosis& diagnosis, const EndStats* end) {
  std::string text = fmt::format("limited by --memory {}", at(diagnosis));
  if (end == nullptr || end->memory_bytes == 0) return text;
  text += fmt::format(" ({})", format_size(end->memory_bytes));
  if (!diagnosis.least_rtt || diagnosis.least_rtt->count() == 0) return text;
  const std::chrono::microseconds round_trip = *diagnosis.least_rtt + diagnosis.queue;
  text += fmt::format(": in a round trip of {} it carries at most {}", in_milliseconds(round_trip),
                      format_rate(BitRate::from_bytes_per(end->memory_bytes, round_trip)));
  return text + "; twice as much carries twice as much, up to what the path does";
}

std::string socket_text(const Diagnosis& diagnosis, const EndStats* end) {
  std::string text = fmt::format("limited by socket buffers {}: one datagram or train for {:.0f} packets fell off them",
                                 at(diagnosis), 1 / std::max(diagnosis.dropped, 1e-6));
  if (end == nullptr) return text;
  if (end->socket_buffer_bytes >= end->socket_wanted_bytes)
    return text +
           fmt::format(", though they are as large as udtcat asks for ({}): its thread came too late to read them",
                       format_size(end->socket_buffer_bytes));
  // The kernel counts twice what it is asked for.
  const std::uint64_t limit = rounded_up(end->socket_wanted_bytes / 2);
  return text + fmt::format("; `sysctl -w net.core.rmem_max={}` {} would let them hold {} instead of {}", limit,
                            at(diagnosis), format_size(end->socket_wanted_bytes),
                            format_size(end->socket_buffer_bytes));
}

std::string path_text_of(const Diagnosis& diagnosis) {
  std::string text = fmt::format("limited by the path: {} found", format_rate(diagnosis.path_rate));
  if (diagnosis.least_rtt) text += fmt::format(", round trip {}", in_milliseconds(*diagnosis.least_rtt));
  constexpr std::chrono::microseconds kQueueWorthSaying{1'000};  // guess: less is the hosts'
  if (diagnosis.queue >= kQueueWorthSaying)
    text += fmt::format(", its queue adds {}", in_milliseconds(diagnosis.queue));
  constexpr double kLossWorthSaying = 0.001;  // guess
  if (diagnosis.lost < kLossWorthSaying) return text;
  text += fmt::format(", {} of the packets lost", percent(diagnosis.lost));
  if (diagnosis.queued_lost >= kLossWorthSaying)
    text += fmt::format(" ({} in a full queue)", percent(diagnosis.queued_lost));
  return text;
}

/// The gain where what limits is mended.
std::string path_beside(const Diagnosis& diagnosis) {
  if (diagnosis.path_rate.bits_per_second() <= diagnosis.rate.bits_per_second()) return {};
  return fmt::format("; the path was found to carry {}", format_rate(diagnosis.path_rate));
}

/// Trains of the end that sends more.
std::string trains_text(const Diagnosis& diagnosis, const BothEndsStats& ends) {
  const bool off = diagnosis.sends ? ends.here.trains_off > 0 : ends.there && ends.there->trains_off > 0;
  return off ? "; trains: off, datagrams go one by one" : "";
}

}  // namespace

DiagnosisText why(const BothEndsStats& ends) {
  const Diagnosis diagnosis = diagnose(ends);
  return {.word = std::string(word_of(diagnosis)), .text = why_text(diagnosis, ends) + trains_text(diagnosis, ends)};
}

DiagnosisText why_since(const BothEndsStats& before, const BothEndsStats& now) {
  const bool has_begun_since = before.here.elapsed.count() == 0 || now.here.elapsed < before.here.elapsed;
  const BothEndsStats lately = has_begun_since ? now : since(before, now);
  DiagnosisText made = why(lately);
  if (lately.here.elapsed.count() > 0)
    made.text = (has_begun_since ? "since it began" : "over the last " + span_text(lately.here.elapsed)) + ", " +
                std::move(made.text);
  return made;
}

std::string with_pair(std::string text, const ConnectionStats& stats) {
  if (stats.selected_pair) text += "; selected pair: " + to_string(*stats.selected_pair);
  return text;
}

std::string why_text(const Diagnosis& diagnosis, const BothEndsStats& ends) {
  const EndStats* end = half(diagnosis, ends);
  switch (diagnosis.limit) {
    case Limit::unknown:
      return unknown_text(diagnosis, ends);
    case Limit::source:
      return fmt::format("limited by {} source: it gives {}, and the transfer waits for it", whose(diagnosis),
                         format_rate(diagnosis.rate)) +
             path_beside(diagnosis);
    case Limit::consumer:
      return fmt::format("limited by {} consumer (a disk, or a program that reads)", whose(diagnosis)) +
             (diagnosis.rate == BitRate() ? ""
                                          : fmt::format(": it takes {} of what comes", format_rate(diagnosis.rate))) +
             path_beside(diagnosis);
    case Limit::processor:
      return thread_text(diagnosis, end);
    case Limit::socket_buffer:
      return socket_text(diagnosis, end);
    case Limit::memory:
      return memory_text(diagnosis, end);
    case Limit::rate_cap:
      return fmt::format("limited by --rate {} {}", end != nullptr ? core::format_bit_rate(end->rate_cap) : "",
                         at(diagnosis));
    case Limit::path:
      return path_text_of(diagnosis);
    case Limit::loss:
      return fmt::format("limited by loss on the path: {} of the packets without a queue, however fast they are sent",
                         percent(diagnosis.lost - diagnosis.queued_lost));
    case Limit::policer:
      return fmt::format(
          "limited by a policer, or a queue too short to see: {} moved, and {} of the packets were lost without "
          "a queue, the more the faster we sent; where it is for UDP only, TCP (ssh) may be faster",
          format_rate(diagnosis.rate), percent(diagnosis.lost - diagnosis.queued_lost));
    case Limit::peer:
      return "limited by the other end: it has no room for more, and does not say why (its consumer, or its memory)";
  }
  return {};
}

}  // namespace udtcat::tool
