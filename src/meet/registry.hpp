// SPDX-License-Identifier: Apache-2.0
/// The listeners that a place can ask, by their names (docs/spec/meet.md §2).
#pragma once

#include <map>
#include <string>
#include <vector>

#include <udtcat/connection.hpp>
#include <udtcat/key_pair.hpp>

namespace udtcat::meet {

/// A session by which a listener is registered, which outlives its registration.
struct RegisteredListener {
  Connection* connection = nullptr;
  std::string peer_text;  ///< for people
};

/// Threads: unsynchronised.
class Registry {
 public:
  /// Of several by one name the latest counts. Remove it before it ends.
  void add(const PublicKey& name, const RegisteredListener& listener) { by_name_[name].push_back(&listener); }
  void remove(const PublicKey& name, const RegisteredListener& listener) {
    const auto found = by_name_.find(name);
    std::erase(found->second, &listener);
    if (found->second.empty()) by_name_.erase(found);
  }
  /// Null: nobody is registered by that name.
  [[nodiscard]] const RegisteredListener* find(const PublicKey& name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second.back();
  }

 private:
  std::map<PublicKey, std::vector<const RegisteredListener*>> by_name_;  // none of them empty
};

}  // namespace udtcat::meet
