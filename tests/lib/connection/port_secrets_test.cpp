// SPDX-License-Identifier: Apache-2.0
#include "lib/connection/port_secrets.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace udtcat::connection {
namespace {

using session::Role;

std::shared_ptr<const KeyPair> new_key_pair() { return std::make_shared<const KeyPair>(KeyPair::generate().value()); }
bool same(std::span<const std::byte> one, std::span<const std::byte> other) { return std::ranges::equal(one, other); }

TEST(PortSecrets, AreAllOfTheSharedKey) {
  const Credentials key = Key::generate().value();
  for (const Role role : {Role::connector, Role::listener}) {
    EXPECT_TRUE(same(port_secrets(role, &key).own, key.shared()->bytes()));
    EXPECT_TRUE(same(port_secrets(role, &key).admission_key, key.shared()->bytes()));
  }
  EXPECT_TRUE(port_secrets(Role::listener, nullptr).own.empty());
}

TEST(PortSecrets, MeetAtTheListenersPublicKey) {
  const auto connector = new_key_pair(), listener = new_key_pair();
  const Credentials here = PairCredentials{connector, nullptr, listener->public_key()};
  const Credentials there = PairCredentials{listener, nullptr};
  const auto called = port_secrets(Role::listener, &there), calling = port_secrets(Role::connector, &here);
  EXPECT_TRUE(same(called.admission_key, calling.admission_key));
  EXPECT_TRUE(same(calling.own, connector->secret()));
  EXPECT_TRUE(same(called.own, listener->secret()));
}

TEST(PortSecrets, OfAConnectorThatDoesNotKnowTheListenerHaveNoAdmissionKey) {
  const Credentials here = PairCredentials{new_key_pair(), nullptr};
  EXPECT_TRUE(port_secrets(Role::connector, &here).admission_key.empty());
}

}  // namespace
}  // namespace udtcat::connection
