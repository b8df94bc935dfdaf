// SPDX-License-Identifier: Apache-2.0
#include "meet/peer_ledger.hpp"

namespace udtcat::meet {

using namespace std::chrono_literals;

bool PeerLedger::add_registration(const Peer& peer) {
  const auto found = held_.find(peer);
  if (found != held_.end() && found->second.registrations >= limits_.registrations_of_one) return false;
  if (registrations_ >= limits_.registrations) return false;
  ++held_[peer].registrations;
  ++registrations_;
  return true;
}

void PeerLedger::remove_registration(const Peer& peer) {
  --held_[peer].registrations;
  --registrations_;
  forget_if_empty(peer);
}

bool PeerLedger::add_pair(const Peer& peer) {
  const auto found = held_.find(peer);
  if (found != held_.end() && found->second.pairs >= limits_.pairs_of_one) return false;
  if (pairs_ >= limits_.pairs) return false;
  ++held_[peer].pairs;
  ++pairs_;
  return true;
}

void PeerLedger::remove_pair(const Peer& peer) {
  --held_[peer].pairs;
  --pairs_;
  forget_if_empty(peer);
}

bool PeerLedger::add_ask(const Peer& peer, TimePoint now) {
  if (now - second_began_ >= 1s) {
    asks_.clear();
    second_began_ = now;
  }
  std::size_t& asks = asks_[peer];
  if (asks >= limits_.asks_each_second) return false;
  ++asks;
  return true;
}

void PeerLedger::forget_if_empty(const Peer& peer) {
  const auto found = held_.find(peer);
  if (found->second.registrations == 0 && found->second.pairs == 0) held_.erase(found);
}

}  // namespace udtcat::meet
