// SPDX-License-Identifier: Apache-2.0
#include <udtcat/credentials.hpp>

namespace udtcat {

namespace {

class SingleKnownPeer final : public KnownPeers {
 public:
  explicit SingleKnownPeer(PeerIdentity peer) : peer_(std::move(peer)) {}

  [[nodiscard]] Result<std::string> recognise(const PublicKey& key, std::string_view) const override {
    if (key == peer_.key) return peer_.name;
    return fail(Errc::authentication_failed, "recognise " + peer_.name,
                "it is not the peer that is meant: its key is " + key.to_string() + ", not " + peer_.key.to_string());
  }

 private:
  const PeerIdentity peer_;
};

}  // namespace

void KnownPeers::recheck() const {
  for (const Watched& each : watched_)
    if (const auto known = recognise(each.key, each.application); !known) each.on_rejected(known.error());
}

KnownPeers::Watch::Watch(std::shared_ptr<KnownPeers> peers, const PublicKey& key, std::string application,
                         RejectedHandler on_rejected)
    : peers_(std::move(peers)),
      place_(peers_->watched_.insert(peers_->watched_.end(),
                                     Watched{key, std::move(application), std::move(on_rejected)})) {}

KnownPeers::Watch::~Watch() { peers_->watched_.erase(place_); }

std::shared_ptr<KnownPeers> one_known_peer(PeerIdentity peer) {
  return std::make_shared<SingleKnownPeer>(std::move(peer));
}

Credentials Credentials::duplicate() const {
  if (const PairCredentials* both = pair()) return *both;
  return shared()->duplicate();
}

}  // namespace udtcat
