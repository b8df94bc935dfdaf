// SPDX-License-Identifier: Apache-2.0
/// The tables of <udtcat/stats.hpp>: a new counter is its member there and its row here.
#pragma once

#include <tuple>

#include <udtcat/stats.hpp>

#include "lib/core/field_table.hpp"

namespace udtcat::core {

/// Of several flows, and of several connections one after another, the sum; so far the documents show these.
template <>
inline constexpr auto kFields<TransportStats> = std::tuple{
    gauge<kInStats>("rtt", &TransportStats::rtt, FieldUnit::seconds),
    counter<kInStats | kInStatus | kInBenchOfSender>("packets_sent", &TransportStats::packets_sent, FieldUnit::packets),
    counter<kInStats | kInStatus | kInBenchOfSender>("packets_lost", &TransportStats::packets_lost, FieldUnit::packets),
    counter<kInStats | kInBenchOfSender>("packets_resent", &TransportStats::packets_resent, FieldUnit::packets),
    counter<kInBenchOfReceiver>("packets_late", &TransportStats::packets_late, FieldUnit::packets),
    counter("bytes_arrived", &TransportStats::bytes_arrived, FieldUnit::bytes),
    counter("bytes_carried", &TransportStats::bytes_carried, FieldUnit::bytes),
    info("transport", &TransportStats::transport),
};
static_assert(lists_all_members<TransportStats>());

/// The first of a connection's; documents show their rate behind them.
inline constexpr std::tuple kPayloadFields{
    counter<kInStats | kInStatus>("bytes_sent", &ConnectionStats::bytes_sent, FieldUnit::bytes),
    counter<kInStats | kInStatus>("bytes_received", &ConnectionStats::bytes_received, FieldUnit::bytes),
};
inline constexpr auto kConnectionFields = std::tuple_cat(
    std::tuple{
        counter("streams_opened", &ConnectionStats::streams_opened, FieldUnit::streams),
        gauge<kInStatus>("streams_open", &ConnectionStats::streams_open, FieldUnit::streams, kAdded),
    },
    kFields<TransportStats>,
    std::tuple{
        counter<kInStats>("blocks_sent", &ConnectionStats::blocks_sent, FieldUnit::blocks),
        counter<kInStats>("blocks_received", &ConnectionStats::blocks_received, FieldUnit::blocks),
        gauge<kInStats>("lanes", &ConnectionStats::lanes, FieldUnit::none),
        gauge<kInStats>("threads", &ConnectionStats::threads, FieldUnit::none),
        gauge<kInStats>("flows", &ConnectionStats::flows, FieldUnit::none),
        gauge("silence", &ConnectionStats::silence, FieldUnit::seconds),
        info("made_at", &ConnectionStats::made_at),
        info("protection", &ConnectionStats::protection),
        info("cipher", &ConnectionStats::cipher),
        info("ends", &ConnectionStats::ends),
        info("selected_pair", &ConnectionStats::selected_pair),
    });
template <>
inline constexpr auto kFields<ConnectionStats> = std::tuple_cat(kPayloadFields, kConnectionFields);
static_assert(lists_all_members<ConnectionStats, TransportStats>());

template <>
inline constexpr std::tuple kFields<ThreadTime>{
    counter("had", &ThreadTime::had, FieldUnit::seconds),
    counter("waited", &ThreadTime::waited, FieldUnit::seconds),
};
static_assert(lists_all_members<ThreadTime>());

template <>
inline constexpr std::tuple kFields<LossByRate>{
    counter("spans", &LossByRate::spans, FieldUnit::none),
    counter("sent", &LossByRate::sent, FieldUnit::packets),
    counter("lost", &LossByRate::lost, FieldUnit::packets),
    counter("sent_squared", &LossByRate::sent_squared, FieldUnit::none),
    counter("sent_by_lost", &LossByRate::sent_by_lost, FieldUnit::none),
};
static_assert(lists_all_members<LossByRate>());

/// In the order of a REPORT (docs/spec/stream.md §7): a new row is the last. Of several flows they are combined; those
/// that share a port have its sockets.
template <>
inline constexpr std::tuple kFields<EndStats>{
    counter("elapsed", &EndStats::elapsed, FieldUnit::seconds),
    counter("bytes_sent", &EndStats::bytes_sent, FieldUnit::bytes),
    counter("bytes_received", &EndStats::bytes_received, FieldUnit::bytes),
    counter("stalled", &EndStats::stalled, FieldUnit::seconds),
    counter("consuming", &EndStats::consuming, FieldUnit::seconds),
    counter("event_loop", &EndStats::event_loop, FieldUnit::seconds),
    counter("cipher", &EndStats::cipher, FieldUnit::seconds),
    gauge("cipher_threads", &EndStats::cipher_threads, FieldUnit::none),
    gauge("path_rate", &EndStats::path_rate, FieldUnit::bits_per_second, kAdded),
    gauge("least_rtt", &EndStats::least_rtt, FieldUnit::seconds, kLeastKnown),
    counter("rtt_sum", &EndStats::rtt_sum, FieldUnit::seconds),
    counter("rtt_samples", &EndStats::rtt_samples, FieldUnit::none),
    counter("packets_sent", &EndStats::packets_sent, FieldUnit::packets),
    counter("packets_lost", &EndStats::packets_lost, FieldUnit::packets),
    gauge("packet_bytes", &EndStats::packet_bytes, FieldUnit::bytes, kLargest),
    counter("socket_drops", &EndStats::socket_drops, FieldUnit::packets, kLargest),
    gauge("socket_buffer_bytes", &EndStats::socket_buffer_bytes, FieldUnit::bytes, kLargest),
    gauge("socket_wanted_bytes", &EndStats::socket_wanted_bytes, FieldUnit::bytes, kLargest),
    gauge("rate_cap", &EndStats::rate_cap, FieldUnit::bits_per_second, kAdded),
    gauge("memory_bytes", &EndStats::memory_bytes, FieldUnit::bytes, kAdded),
    counter("queued_lost", &EndStats::queued_lost, FieldUnit::packets),
    gauge("trains_off", &EndStats::trains_off, FieldUnit::none, kLargest),
    counter("loss_by_rate", &EndStats::loss_by_rate, FieldUnit::none),
    counter("loss_behind_loss", &EndStats::loss_behind_loss, FieldUnit::none),
    counter("path_changes", &EndStats::path_changes, FieldUnit::none),
};
static_assert(lists_all_members<EndStats>());

}  // namespace udtcat::core
