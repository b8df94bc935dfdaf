// SPDX-License-Identifier: Apache-2.0
#include "style/source_tree.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <regex>
#include <utility>

namespace udtcat::style {
namespace {

namespace fs = std::filesystem;

const fs::path& root() {
  static const fs::path path(UDTCAT_SOURCE_DIR);
  return path;
}

std::vector<std::string> read_lines(const fs::path& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

/// Copies what is code. Knows line and block comments, string, character and raw string literals.
class CommentStripper {
 public:
  std::string strip(const std::string& line) {
    std::string code;
    for (std::size_t at = 0; at < line.size();) at = step(line, at, code);
    return code;
  }

 private:
  std::size_t step(const std::string& line, std::size_t at, std::string& code) {
    if (!closing_.empty()) return close(line, at);
    if (line.compare(at, 2, "//") == 0) return line.size();
    if (line.compare(at, 2, "/*") == 0) return open("*/", at + 2);
    if (line.compare(at, 2, "R\"") == 0) {
      code += "\"\"";
      const auto parenthesis = std::min(line.find('(', at), line.size());
      return open(")" + line.substr(at + 2, parenthesis - at - 2) + "\"", parenthesis);
    }
    if (line[at] == '"' || is_character_literal(line, at)) {
      code += "\"\"";
      return end_of_quoted(line, at);
    }
    code += line[at];
    return at + 1;
  }

  std::size_t open(std::string closing, std::size_t next) {
    closing_ = std::move(closing);
    return next;
  }
  std::size_t close(const std::string& line, std::size_t at) {
    const auto end = line.find(closing_, at);
    if (end == std::string::npos) return line.size();
    return end + std::exchange(closing_, {}).size();
  }

  /// An apostrophe between digits separates them: 10'000.
  static bool is_character_literal(const std::string& line, std::size_t at) {
    const bool after_digit = at > 0 && std::isxdigit(static_cast<unsigned char>(line[at - 1])) != 0;
    return line[at] == '\'' && !after_digit;
  }
  static std::size_t end_of_quoted(const std::string& line, std::size_t at) {
    auto end = at + 1;
    while (end < line.size() && line[end] != line[at]) end += line[end] == '\\' ? 2U : 1U;
    return std::min(end + 1, line.size());
  }

  std::string closing_;  // of the block comment or raw string that we are in; empty in code
};

SourceFile read_source(const fs::path& path) {
  SourceFile file{path.lexically_relative(root()).generic_string(), {}, read_lines(path), {}};
  if (!file.lines.empty() && file.lines.front().starts_with("// SPDX-")) {
    file.licence = file.lines.front();
    file.lines.erase(file.lines.begin());
  }
  CommentStripper stripper;
  for (const auto& line : file.lines) file.code.push_back(stripper.strip(line));
  return file;
}

bool is_source(const fs::path& path) { return path.extension() == ".cpp" || path.extension() == ".hpp"; }

void sort_by_path(std::vector<SourceFile>& files) {
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
}

}  // namespace

std::vector<SourceFile> read_sources(const std::vector<std::string>& folders) {
  std::vector<SourceFile> files;
  for (const auto& folder : folders)
    for (const auto& entry : fs::recursive_directory_iterator(root() / folder))
      if (entry.is_regular_file() && is_source(entry.path())) files.push_back(read_source(entry.path()));
  sort_by_path(files);
  return files;
}

std::vector<SourceFile> read_documents() {
  std::vector<SourceFile> files{{"README.md", {}, read_lines(root() / "README.md"), {}}};
  for (const char* folder : {"docs", "bench", "tests"})
    for (const auto& entry : fs::recursive_directory_iterator(root() / folder))
      if (entry.path().extension() == ".md")
        files.push_back({entry.path().lexically_relative(root()).generic_string(), {}, read_lines(entry.path()), {}});
  sort_by_path(files);
  return files;
}

std::vector<SourceFile> read_scripts(const std::string& folder) {
  std::vector<SourceFile> files;
  for (const auto& entry : fs::recursive_directory_iterator(root() / folder)) {
    std::ifstream file(entry.path());
    if (!entry.is_regular_file() || file.get() != '#' || file.get() != '!') continue;
    files.push_back({entry.path().lexically_relative(root()).generic_string(), {}, read_lines(entry.path()), {}});
  }
  sort_by_path(files);
  return files;
}

std::vector<SourceFile> read_man_pages() {
  std::vector<SourceFile> files;
  for (const auto& entry : fs::directory_iterator(root() / "docs/man"))
    files.push_back({entry.path().lexically_relative(root()).generic_string(), {}, read_lines(entry.path()), {}});
  sort_by_path(files);
  return files;
}

bool exists(const std::string& path) { return fs::exists(root() / path); }

std::string offence(const SourceFile& file, std::size_t line_index) {
  return file.path + ":" + std::to_string(line_index + (file.licence.empty() ? 1 : 2)) + ": " + file.lines[line_index];
}

Offences find_in_code(const std::vector<SourceFile>& files, const std::string& pattern,
                      const std::function<bool(std::string_view)>& applies) {
  const std::regex expression(pattern);
  Offences offences;
  for (const auto& file : files) {
    if (!applies(file.path)) continue;
    for (std::size_t i = 0; i < file.code.size(); ++i)
      if (std::regex_search(file.code[i], expression)) offences.push_back(offence(file, i));
  }
  return offences;
}

std::vector<Include> includes_of(const SourceFile& file) {
  static const std::regex kInclude(R"re(^\s*#\s*include\s*([<"])([^>"]+)[>"])re");
  std::vector<Include> includes;
  for (std::size_t i = 0; i < file.lines.size(); ++i)
    if (std::smatch match; std::regex_search(file.lines[i], match, kInclude))
      includes.push_back({i, match[2], match[1] == "\""});
  return includes;
}

}  // namespace udtcat::style
