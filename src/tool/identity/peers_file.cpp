// SPDX-License-Identifier: Apache-2.0
#include "tool/identity/peers_file.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "lib/core/log.hpp"
#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"
#include "tool/cli/applications.hpp"
#include "tool/cli/suggestion.hpp"
#include "tool/cli/user_files.hpp"

namespace udtcat::tool {

Result<PeersList> read_peers_list(const std::string& path) {
  UDTCAT_TRY(const std::string text, read_trusted_file(path));
  return PeersList::parse(text, path);
}

PeersFile::PeersFile(std::string path, PeersList list, Clock clock)
    : path_(std::move(path)), clock_(std::move(clock)), list_(std::move(list)) {
  note_validity();
}

Result<std::shared_ptr<PeersFile>> PeersFile::load(std::string path, Clock clock) {
  UDTCAT_TRY(PeersList list, read_peers_list(path));
  return std::shared_ptr<PeersFile>(new PeersFile(std::move(path), std::move(list), std::move(clock)));
}

std::string PeersFile::place_in_file(const Peer& peer) const { return fmt::format("{}:{}", path_, peer.line); }

Result<std::string> PeersFile::recognise(const PublicKey& key, std::string_view application) const {
  const Peer* peer = list_.find(key);
  if (peer == nullptr) return tl::unexpected(unknown_key(key));
  // Not authentication_failed: its holder is told that the key is known.
  if (!is_valid_at(*peer, clock_()))
    return fail(Errc::parameters_refused, fmt::format("{}of {}", kAdmitKey, peer->name),
                fmt::format("it {}, as {} says", dates_text(*peer, clock_()), place_in_file(*peer)));
  if (!may(*peer, application))
    return fail(Errc::parameters_refused, fmt::format("the key of {} is not for {}", peer->name, application),
                fmt::format("{} says {}", place_in_file(*peer), purposes_text(*peer)));
  return peer->name;
}

Status PeersFile::on_session(const PeerIdentity& peer) {
  const Peer* const line = list_.find(peer.key);
  if (line != nullptr && list_.lines_of(line->name).size() > 1)
    core::log().info("{} comes by the key of {}", line->name, place_in_file(*line));
  return {};
}

std::shared_ptr<core::PeerRates> PeersFile::rates_of(const PeerIdentity& peer) {
  const Peer* const line = list_.find(peer.key);
  if (line == nullptr || line->rate.unlimited()) return nullptr;
  // Kept without streams as well: one after another they have no more than the rate.
  auto& rates = rates_[line->name];
  if (!rates) rates = std::make_shared<core::PeerRates>(line->rate);
  return rates;
}

std::optional<PeerPlace> PeersFile::place_of(const PublicKey& key) const {
  const Peer* const peer = list_.find(key);
  if (peer == nullptr) return std::nullopt;
  return PeerPlace{.name = peer->name, .directory = peer->directory, .limit_bytes = peer->limit_bytes};
}

Error PeersFile::unknown_key(const PublicKey& key) const {
  const Peer* was = before_.find(key);
  const Peer* known_host = list_.known_host_of(key);
  if (was == nullptr)
    return {Errc::authentication_failed, std::string(kAdmitKey) + key.to_string(),
            known_host == nullptr
                ? path_ + " has no line with it"
                : fmt::format("{}:{} is for dialling {}, and lets nobody in: a line NAME PUBLIC-KEY does", path_,
                              known_host->line, known_host->name)};
  const bool changed = list_.find(was->name) != nullptr;
  return {Errc::authentication_failed, "",
          fmt::format(fmt::runtime(changed ? "{} has another key in {}" : "{} was taken off {}"), was->name, path_)};
}

std::vector<std::string> PeersFile::unknown_services(const std::vector<std::string>& services) const {
  std::vector<std::string> complaints;
  for (const auto& [key, peer] : list_.all())
    for (const std::string& name : peer.services)
      if (may(peer, kForward) && std::ranges::find(services, name) == services.end())
        complaints.push_back(fmt::format("{}:{}: to={} of {}: there is no such service here{}", path_, peer.line, name,
                                         peer.name, did_you_mean(name, services)));
  return complaints;
}

Result<std::string> PeersFile::reload() {
  UDTCAT_TRY(PeersList list, read_peers_list(path_));
  before_ = std::exchange(list_, std::move(list));
  note_validity();
  std::erase_if(rates_, [this](const auto& each) { return list_.find(each.first) == nullptr; });
  for (const auto& [name, rates] : rates_) {
    const Peer* const peer = list_.find(name);
    rates->sent.set(peer->rate);
    rates->received.set(peer->rate);
  }
  recheck();
  before_ = {};
  return fmt::format("read {} again: {}", path_, core::format_count(list_.size(), "peer"));
}

void PeersFile::note_validity() {
  validity_.clear();
  for (const auto& [key, peer] : list_.all())
    if (peer.valid_after || peer.valid_before) validity_.emplace(key, is_valid_at(peer, clock_()));
}

std::optional<std::chrono::milliseconds> PeersFile::look_at_dates() {
  if (validity_.empty()) return std::nullopt;
  const SystemTime now = clock_();
  std::chrono::system_clock::duration next = kLookAtClock;
  for (auto& [key, was_valid] : validity_) {
    const Peer& peer = *list_.find(key);
    const bool is_valid = is_valid_at(peer, now);
    if (std::exchange(was_valid, is_valid) != is_valid)
      core::log().warn("{}: the key of {} {}", place_in_file(peer), peer.name,
                       is_valid ? "is valid from now on" : "is no longer valid");
    for (const auto& date : {peer.valid_after, peer.valid_before})
      if (date && *date > now) next = std::min(next, *date - now);
  }
  recheck();
  return std::chrono::ceil<std::chrono::milliseconds>(next);
}

}  // namespace udtcat::tool
