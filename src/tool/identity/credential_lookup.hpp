// SPDX-License-Identifier: Apache-2.0
/// The sources of a key: a file, the environment, the file beside a configuration, the user's directory, the terminal,
/// or, for a listener, nowhere. The first of them that has one counts.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <udtcat/credentials.hpp>
#include <udtcat/result.hpp>

#include "lib/core/secret_text.hpp"
#include "tool/cli/options.hpp"
#include "tool/identity/peers_file.hpp"

namespace udtcat::tool {

inline constexpr const char* kKeyVariable = "UDTCAT_KEY";
inline constexpr const char* kTerminal = "/dev/tty";  ///< as the file of a key: a person is asked

/// The key in the environment, which is then without it; its memory, which other processes of this user can read in
/// /proc, is overwritten. An empty variable counts as none.
/// Call before there are other threads.
[[nodiscard]] std::optional<core::SecretText> take_environment_key();

/// Keys given to this process alone, the first counts most; neither the key that an option names nor those in the
/// user's directory.
struct KeyCandidates {
  std::optional<core::SecretText> environment{};
  std::optional<std::string> beside_configuration{};  ///< the path of key_beside()

  [[nodiscard]] bool any() const { return environment || beside_configuration; }
};

struct FoundCredentials {
  std::optional<Credentials> credentials{};  ///< none exactly at Protection::clear
  bool generated = false;                    ///< a shared key that nobody else has yet
  std::shared_ptr<PeersFile> peers{};        ///< of a listener with a key pair: those it lets in
  std::string where{};                       ///< it was found, for people: a file, $UDTCAT_KEY, the terminal
  std::string doubt{};                       ///< why it may not be the key that is meant, for people; empty: none
};

/// X.key beside X.conf, which the unit udtcat@X gives its service; none: it is not there.
[[nodiscard]] std::optional<std::string> key_beside(const std::filesystem::path& configuration);

/// The key's file: that of the command line; else, unless the environment has a key, that of the configuration.
[[nodiscard]] const std::optional<std::string>& file_of_key(const Options& options, const KeyCandidates& candidates);

/// The file `key` in the user's configuration directory, which is his key where he names no other; none: it is not
/// there.
[[nodiscard]] std::optional<std::string> users_key_file();

/// "the shared key of FILE", for people.
[[nodiscard]] std::string key_in_words(const FoundCredentials& found);

/// Asks a person. Called for a connector with no other key, and where the terminal is named as its file.
using KeyPrompt = std::function<Result<core::SecretText>(const std::string& question)>;

/// Takes the environment's text so that it is erased here: from now on the key is in one place.
/// errors: Errc::bad_argument, naming what is wrong with the key or the ways to give one; Errc::cipher_failed
[[nodiscard]] Result<FoundCredentials> find_credentials(const Options& options, KeyCandidates candidates,
                                                        const KeyPrompt& ask);

}  // namespace udtcat::tool
