// SPDX-License-Identifier: Apache-2.0
/// udtcat keygen --pair [FILE]: a new key pair of this user's, in FILE and FILE.pub.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include <udtcat/result.hpp>

#include "tool/program/command.hpp"

namespace udtcat::pipe {

/// errors: Errc::bad_argument
[[nodiscard]] Result<std::unique_ptr<tool::Invocation>> parse_keygen_pair(const tool::Words& arguments);
[[nodiscard]] tool::DeclaredOptions keygen_pair_options_declared();

/// Makes the pair, for this user only; nothing is overwritten.
/// comment   of the public line, as somebody@somewhere
/// returns   the public line, as it stands in FILE.pub
/// errors: Errc::bad_argument where one of the files is there; Errc::local_write_failed; Errc::cipher_failed
[[nodiscard]] Result<std::string> make_pair_of_files(const std::filesystem::path& file, const std::string& comment);

}  // namespace udtcat::pipe
