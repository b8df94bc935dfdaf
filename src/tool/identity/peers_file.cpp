// SPDX-License-Identifier: Apache-2.0
#include "tool/identity/peers_file.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

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

Result<std::shared_ptr<PeersFile>> PeersFile::load(std::string path) {
  UDTCAT_TRY(PeersList list, read_peers_list(path));
  return std::shared_ptr<PeersFile>(new PeersFile(std::move(path), std::move(list)));
}

Result<std::string> PeersFile::recognise(const PublicKey& key, std::string_view application) const {
  const Peer* peer = list_.find(key);
  if (peer == nullptr) return tl::unexpected(unknown_key(key));
  if (!may(*peer, application))
    return fail(Errc::parameters_refused, fmt::format("the key of {} is not for {}", peer->name, application),
                fmt::format("{}:{} says {}", path_, peer->line, purposes_text(*peer)));
  return peer->name;
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
  recheck();
  before_ = {};
  return fmt::format("read {} again: {}", path_, core::format_count(list_.size(), "peer"));
}

}  // namespace udtcat::tool
