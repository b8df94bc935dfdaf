// SPDX-License-Identifier: Apache-2.0
#include "tool/key_source.hpp"

#include <cstdlib>
#include <cstring>
#include <string_view>

#include <unistd.h>

#include "lib/core/try.hpp"
#include "tool/pair_source.hpp"

namespace udtcat::tool {

namespace {

/// A shared key in the place of the key pair that the user speaks of would let in others than he means.
Result<FoundKey> as_shared(const Options& options, Key key, const std::string& from) {
  if (const char* option = pair_option(options))
    return misplaced(option, "needs a key pair, and " + from + " holds a shared key");
  return FoundKey{.credentials = std::move(key)};
}

Result<FoundKey> in_file(const Options& options, const std::string& path) {
  UDTCAT_TRY(SecretKey secret, secret_key_from_file(path));
  if (auto* pair = std::get_if<KeyPair>(&secret)) return with_peers(options, std::move(*pair));
  return as_shared(options, std::get<Key>(std::move(secret)), path);
}

/// An error never quotes the text: a typing error is nearly the key.
Result<Key> parsed(std::string_view text, const std::string& from) {
  auto key = Key::parse(text);
  if (!key)
    return fail(Errc::bad_argument, from, key.error().cause.empty() ? key.error().message() : key.error().cause);
  return key;
}

}  // namespace

std::optional<core::SecretText> take_environment_key() {
  const std::string prefix = std::string(kKeyVariable) + "=";
  std::optional<core::SecretText> text;
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
    if (std::strncmp(*entry, prefix.c_str(), prefix.size()) != 0) continue;
    const std::span value(*entry + prefix.size(), std::strlen(*entry + prefix.size()));
    auto taken = core::take_text(value);
    if (!text && taken.size_bytes() > 0) text = std::move(taken);
  }
  ::unsetenv(kKeyVariable);
  return text;
}

Result<FoundKey> find_key(const Options& options, std::optional<core::SecretText> environment, const AskForKey& ask) {
  if (options.session.protection == Protection::clear) return FoundKey{};
  if (options.key_file) return in_file(options, *options.key_file);
  if (environment) {
    UDTCAT_TRY(Key key, parsed(environment->view(), kKeyVariable));
    return as_shared(options, std::move(key), kKeyVariable);
  }
  UDTCAT_TRY(const bool wants_pair, asks_for_pair(options));
  if (wants_pair) {
    UDTCAT_TRY(KeyPair pair, user_key_pair());
    return with_peers(options, std::move(pair));
  }
  if (options.shows_new_key) {
    UDTCAT_TRY(Key key, Key::generate());
    return FoundKey{.credentials = std::move(key), .generated = true};
  }
  UDTCAT_TRY(const core::SecretText typed, ask("Key of " + to_string(options.peer) + ": "));
  UDTCAT_TRY(Key key, parsed(typed.view(), "the key typed"));
  return FoundKey{.credentials = std::move(key)};
}

}  // namespace udtcat::tool
