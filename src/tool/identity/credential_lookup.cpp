// SPDX-License-Identifier: Apache-2.0
#include "tool/identity/credential_lookup.hpp"

#include <cstdlib>
#include <cstring>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

#include "lib/core/log.hpp"
#include "lib/core/try.hpp"
#include "tool/cli/user_files.hpp"
#include "tool/identity/key_pair_lookup.hpp"

namespace udtcat::tool {

namespace {

/// A shared key is refused where options are about key pairs: it would admit others than the user means.
Result<FoundCredentials> as_shared(const Options& options, Key key, const std::string& from) {
  if (const char* option = pair_option(options))
    return misplaced(option, "needs a key pair, and " + from + " holds a shared key");
  return FoundCredentials{.credentials = std::move(key), .where = from};
}

/// Adds a doubt where the user named a peer but no key: he may expect his key pair to be used, not a shared key.
Result<FoundCredentials> doubted(const Options& options, Result<FoundCredentials> found) {
  const std::string unlisted = found && found->credentials->shared() != nullptr ? unlisted_peer(options) : "";
  if (!unlisted.empty())
    found->doubt = fmt::format(
        "{0}, so {1} is used, and the listener must be called {2} by --as; if it has a key pair, "
        "add the line {2} PUBLIC-KEY to that file",
        unlisted, key_in_words(*found), options.session.expected_peer);
  return found;
}

/// Whether the file holds a public key, which users mistake for the secret one.
bool holds_public_key(const std::string& path) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) return false;
  const auto text = read_trusted_file(path);
  return text && text->starts_with(std::string(PublicKey::kPrefix) + " ");
}

Result<FoundCredentials> in_file(const Options& options, const std::string& path) {
  auto read = secret_key_from_file(path);
  if (!read && holds_public_key(path))
    read.error().cause = path.ends_with(".pub")
                             ? "it holds a public key; the secret one is in the file without .pub"
                             : "it holds public keys; -k takes a secret one, and --peers FILE is for those of others";
  UDTCAT_TRY(SecretKey secret, std::move(read));
  if (auto* pair = std::get_if<KeyPair>(&secret)) {
    UDTCAT_TRY(FoundCredentials found, with_peers(options, std::move(*pair)));
    found.where = path;
    return found;
  }
  return as_shared(options, std::get<Key>(std::move(secret)), path);
}

Result<FoundCredentials> users_pair(const Options& options) {
  UDTCAT_TRY(KeyPair pair, user_key_pair());
  UDTCAT_TRY(FoundCredentials found, with_peers(options, std::move(pair)));
  found.where = user_file("identity")->string();
  return found;
}

/// Says that the user's key pair is not used; empty: the user has none.
std::string unused_pair_hint(const Options& options) {
  const auto file = user_file("identity");
  if (!file || is_missing(*file)) return "";
  const std::string unlisted = unlisted_peer(options);
  return fmt::format(
      "{}{}your key pair {} is used with {}", unlisted, unlisted.empty() ? "" : "; ", file->string(),
      options.listens ? "--peers FILE" : "--peer PUBLIC-KEY, or a line for the listener in your peers file");
}

std::optional<std::string> if_there(const std::filesystem::path& file) {
  return is_missing(file) ? std::nullopt : std::optional(file.string());
}

/// An error never quotes the text: a typing error is nearly the key.
Result<Key> parsed(std::string_view text, const std::string& from) {
  auto key = Key::parse(text);
  if (!key)
    return fail(Errc::bad_argument, from, key.error().cause.empty() ? key.error().message() : key.error().cause);
  return key;
}

Result<FoundCredentials> new_key() {
  UDTCAT_TRY(Key key, Key::generate());
  return FoundCredentials{.credentials = std::move(key), .generated = true, .where = "a new one"};
}

Result<FoundCredentials> asked_for(const Options& options, const KeyPrompt& ask, const std::string& hint) {
  const std::string whose = options.listens ? "" : " of " + to_string(options.peer);
  auto typed = ask("Key" + whose + (hint.empty() ? "" : " (" + hint + ")") + ": ");
  if (!typed && !hint.empty()) typed.error().cause += "; " + hint;
  if (!typed) return tl::unexpected(std::move(typed.error()));
  UDTCAT_TRY(Key key, parsed(typed->view(), "the key typed"));
  return as_shared(options, std::move(key), "the terminal");
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

std::optional<std::string> key_beside(const std::filesystem::path& configuration) {
  if (configuration.extension() != ".conf") return std::nullopt;
  return if_there(std::filesystem::path(configuration).replace_extension(".key"));
}

const std::optional<std::string>& file_of_key(const Options& options, const KeyCandidates& candidates) {
  return options.key_file || candidates.environment ? options.key_file : candidates.beside_configuration;
}

std::optional<std::string> users_key_file() {
  const auto file = user_file("key");
  return file ? if_there(*file) : std::nullopt;
}

Result<FoundCredentials> find_credentials(const Options& options, KeyCandidates candidates, const KeyPrompt& ask) {
  if (options.session.protection == Protection::clear) return FoundCredentials{};
  if (options.ticket.made) return new_key();
  if (options.ticket.key)
    return FoundCredentials{.credentials = options.ticket.key->duplicate(), .where = "the ticket"};
  const auto& named = file_of_key(options, candidates);
  if (named == kTerminal) return asked_for(options, ask, {});
  if (named) return in_file(options, *named);
  if (candidates.environment) {
    const std::string variable = std::string("$") + kKeyVariable;
    UDTCAT_TRY(Key key, parsed(candidates.environment->view(), variable));
    return doubted(options, as_shared(options, std::move(key), variable));
  }
  UDTCAT_TRY(const bool wants_pair, asks_for_pair(options));
  if (wants_pair) return users_pair(options);
  if (const auto file = users_key_file()) return doubted(options, in_file(options, *file));
  const std::string hint = unused_pair_hint(options);
  if (options.shows_new_key) {
    if (!hint.empty()) core::log().warn("{}", hint);
    return new_key();
  }
  return asked_for(options, ask, hint);
}

std::string key_in_words(const FoundCredentials& found) {
  const bool is_pair = found.credentials && found.credentials->pair() != nullptr;
  return fmt::format("the {} of {}", is_pair ? "key pair" : "shared key", found.where);
}

}  // namespace udtcat::tool
