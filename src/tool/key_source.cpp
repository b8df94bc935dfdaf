#include "tool/key_source.hpp"

#include <cstdlib>
#include <cstring>
#include <string_view>

#include <unistd.h>

#include "lib/core/try.hpp"

namespace udtcat::tool {

namespace {

Result<FoundKey> found(Result<Key> made, bool generated) {
  UDTCAT_TRY(Key key, std::move(made));
  return FoundKey{std::move(key), generated};
}

/// An error never quotes the text: a typing error is nearly the key.
Result<FoundKey> parsed(std::string_view text, const std::string& from) {
  auto key = Key::parse(text);
  if (!key)
    return fail(Errc::bad_argument, from, key.error().cause.empty() ? key.error().message() : key.error().cause);
  return FoundKey{std::move(*key), false};
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
  if (options.key_file) return found(Key::from_file(*options.key_file), false);
  if (environment) return parsed(environment->view(), kKeyVariable);
  if (options.listens) return found(Key::generate(), true);
  UDTCAT_TRY(const core::SecretText typed, ask("Key of " + to_string(options.peer) + ": "));
  return parsed(typed.view(), "the key typed");
}

}  // namespace udtcat::tool
