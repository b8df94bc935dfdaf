// SPDX-License-Identifier: Apache-2.0
#include "tool/identity/pinned_peer.hpp"

#include <fmt/format.h>

#include "lib/core/log.hpp"
#include "lib/core/try.hpp"
#include "tool/cli/user_files.hpp"
#include "tool/identity/peers_file.hpp"

namespace udtcat::tool {

namespace {

Error other_key(const PeerIdentity& known, const std::string& where, const PublicKey& met) {
  return {Errc::authentication_failed, "recognise " + known.name,
          fmt::format("it shows {}, but {} has {} for {}; if its key was changed, and you know that from elsewhere, "
                      "change that line",
                      met.to_string(), where, known.key.to_string(), known.name)};
}

}  // namespace

Result<std::string> PinnedPeer::recognise(const PublicKey& key, std::string_view) const {
  if (key_ && key != *key_) return tl::unexpected(other_key({name_, *key_}, where_, key));
  return name_;
}

Status PinnedPeer::on_session(const PeerIdentity& peer) {
  if (key_) return {};
  // Another process may have met it meanwhile.
  UDTCAT_CHECK(append_line(file_, [&]() -> Result<std::optional<std::string>> {
    UDTCAT_TRY(const PeersList list, read_peers_list(file_.string()));
    const Peer* written = list.find(name_);
    const Peer* const same = names_address(name_) ? nullptr : list.find(peer.key);
    if (written == nullptr && same != nullptr)
      return fail(Errc::bad_argument, "write down the key of " + name_,
                  fmt::format("{}:{} has it as that of {}: --peer {} means it", file_.string(), same->line, same->name,
                              same->name));
    if (written == nullptr) return fmt::format("{} {}", name_, peer.key.to_string());
    where_ = fmt::format("{}:{}", file_.string(), written->line);
    if (written->key != peer.key) return tl::unexpected(other_key({name_, written->key}, where_, peer.key));
    return std::nullopt;
  }));
  if (where_.empty()) where_ = file_.string();
  key_ = peer.key;
  core::log().warn("trusted at first sight, and written to {}: {} {}", file_.string(), name_, peer.key.to_string());
  return {};
}

}  // namespace udtcat::tool
