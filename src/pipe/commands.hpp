// SPDX-License-Identifier: Apache-2.0
/// The commands of this module: the modes of udtcat without a command's word, keygen and status.
#pragma once

#include <filesystem>
#include <string>

#include <udtcat/result.hpp>

#include "tool/program/command.hpp"

namespace udtcat::pipe {

[[nodiscard]] tool::Commands commands();

/// udtcat status: who is connected to the udtcats of this host.
[[nodiscard]] tool::Command status_command();
/// udtcat keygen --pair [FILE]: a new key pair of this user's, in FILE and FILE.pub.
[[nodiscard]] tool::Command keygen_pair_command();

/// Makes the pair, for this user only; nothing is overwritten.
/// comment   of the public line, as somebody@somewhere
/// returns   the public line, as it stands in FILE.pub
/// errors: Errc::bad_argument where one of the files is there; Errc::local_write_failed; Errc::cipher_failed
[[nodiscard]] Result<std::string> make_pair_of_files(const std::filesystem::path& file, const std::string& comment);

}  // namespace udtcat::pipe
