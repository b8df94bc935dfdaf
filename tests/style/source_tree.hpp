// SPDX-License-Identifier: Apache-2.0
/// The repository as text, for tests that keep the rules of docs/HACKING.md true.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace udtcat::style {

struct SourceFile {
  std::string path;                ///< from the root of the repository, '/' between its parts
  std::string licence;             ///< the line of it that comes first; empty: there is none
  std::vector<std::string> lines;  ///< as written, behind that
  std::vector<std::string> code;   ///< without comments and with empty string literals, line by line
};

/// Every C++ file below the folders ("src", "include"), by path.
[[nodiscard]] std::vector<SourceFile> read_sources(const std::vector<std::string>& folders);
/// Every .md file of docs, bench and tests, and README.md. They have lines and no code.
[[nodiscard]] std::vector<SourceFile> read_documents();
/// The files of the folder, and of those in it, that begin with "#!". They have lines and no code.
[[nodiscard]] std::vector<SourceFile> read_scripts(const std::string& folder);
/// The man pages, docs/man. They have lines and no code.
[[nodiscard]] std::vector<SourceFile> read_man_pages();
[[nodiscard]] bool exists(const std::string& path);

/// "path:line: text" of a broken rule.
using Offences = std::vector<std::string>;
[[nodiscard]] std::string offence(const SourceFile& file, std::size_t line_index);

/// The lines of code that match `pattern` (ECMAScript), in the files that `applies` picks.
[[nodiscard]] Offences find_in_code(const std::vector<SourceFile>& files, const std::string& pattern,
                                    const std::function<bool(std::string_view path)>& applies);

struct Include {
  std::size_t line_index;
  std::string target;  ///< "core/buffer.hpp", "openssl/evp.h"
  bool quoted;         ///< ours, by its path from src/
};
[[nodiscard]] std::vector<Include> includes_of(const SourceFile& file);

}  // namespace udtcat::style
