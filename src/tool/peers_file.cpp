// SPDX-License-Identifier: Apache-2.0
#include "tool/peers_file.hpp"

#include <utility>

#include <fmt/format.h>

#include "lib/core/log.hpp"
#include "lib/core/try.hpp"
#include "tool/trusted_file.hpp"

namespace udtcat::tool {

Result<PeersList> read_peers_list(const std::string& path) {
  UDTCAT_TRY(const std::string text, read_trusted_file(path));
  return PeersList::parse(text, path);
}

Result<std::shared_ptr<PeersFile>> PeersFile::load(std::string path) {
  UDTCAT_TRY(PeersList list, read_peers_list(path));
  return std::shared_ptr<PeersFile>(new PeersFile(std::move(path), std::move(list)));
}

Result<std::string> PeersFile::recognise(const PublicKey& key, Purpose purpose) const {
  const Peer* peer = list_.find(key);
  if (peer == nullptr)
    return fail(Errc::authentication_failed, "let " + key.to_string() + " in", path_ + " has no line with that key");
  if (!may(*peer, purpose))
    return fail(Errc::parameters_refused, fmt::format("{} may not {}", peer->name, to_string(purpose)),
                fmt::format("{}:{} lists {}", path_, peer->line, purposes_text(*peer)));
  return peer->name;
}

void PeersFile::reload() {
  auto list = read_peers_list(path_);
  if (!list) {
    core::log().error("{}; the peers stay as they were read before", list.error().message());
    return;
  }
  list_ = std::move(*list);
  core::log().info("read {} again: {} peers", path_, list_.size());
  recheck();
}

}  // namespace udtcat::tool
