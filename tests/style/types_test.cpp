// SPDX-License-Identifier: Apache-2.0
/// No two types share a name: whoever reads or greps it finds one thing, and the linker takes none for another.
#include <map>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>

#include "style/source_tree.hpp"

namespace udtcat::style {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Reads a file's braces: which namespaces and types are open where. Knows as much of C++ as our formatted code needs.
class TypeReader {
 public:
  /// The qualified names of the types that the file defines, with their lines. Anonymous namespaces have no name, so
  /// that two of the same name in two files are seen; specialisations and types within functions are passed over.
  [[nodiscard]] static std::vector<std::pair<std::string, std::size_t>> types_of(const SourceFile& file) {
    TypeReader reader;
    for (std::size_t i = 0; i < file.code.size(); ++i) reader.read(file.code[i], i);
    return std::move(reader.types_);
  }

 private:
  struct Scope {
    std::string name;
    bool holds_types = true;  ///< a namespace or a type, not a function or a list
  };

  void read(const std::string& line, std::size_t line_index) {
    const auto first = line.find_first_not_of(' ');
    if (first == std::string::npos || line[first] == '#') return;
    for (const char c : line) {
      if (c == '{') {
        open(line_index);
      } else if (c == '}' && !scopes_.empty()) {
        scopes_.pop_back();
      }
      if (c == '{' || c == '}' || c == ';') {
        head_.clear();
      } else {
        head_ += c;
      }
    }
    head_ += ' ';
  }

  void open(std::size_t line_index) {
    static const std::regex kNoise(R"(\b(public|private|protected)\s*:(?!:)|\[\[[^\]]*\]\]|\balignas\([^)]*\))");
    static const std::regex kNamespace(R"(^\s*(inline\s+)?namespace\b\s*([\w:]*)\s*$)");
    static const std::regex kTemplate(R"(^\s*template\s*<.*>\s*(?=(class|struct|union)\b))");
    static const std::regex kType(
        R"(^\s*(class|struct|union|enum(\s+(class|struct))?)\s+(\w+(::\w+)*)\s*(final\s*)?(:[^:].*)?$)");
    const std::string head = std::regex_replace(std::regex_replace(head_, kNoise, ""), kTemplate, "",
                                                std::regex_constants::format_first_only);
    std::smatch match;
    if (std::regex_match(head, match, kNamespace)) {
      scopes_.push_back({match[2]});
    } else if (std::regex_match(head, match, kType)) {
      scopes_.push_back({match[4]});
      if (const auto name = qualified(); !name.empty()) types_.emplace_back(name, line_index);
    } else {
      scopes_.push_back({{}, false});
    }
  }

  /// The innermost scope's name with those around it; empty in a function.
  [[nodiscard]] std::string qualified() const {
    std::string name;
    for (const Scope& scope : scopes_) {
      if (!scope.holds_types) return {};
      if (!scope.name.empty()) name += (name.empty() ? "" : "::") + scope.name;
    }
    return name;
  }

  std::string head_;  // the text since the last brace or semicolon
  std::vector<Scope> scopes_;
  std::vector<std::pair<std::string, std::size_t>> types_;
};

TEST(Types, HaveANameOfTheirOwn) {
  std::map<std::string, Offences> defined;
  for (const auto& file : read_sources({"include", "src"}))
    for (const auto& [name, line_index] : TypeReader::types_of(file))
      defined[name].push_back(offence(file, line_index));
  Offences offences;
  for (const auto& [name, where] : defined)
    if (where.size() > 1) offences.insert(offences.end(), where.begin(), where.end());
  EXPECT_GT(defined.size(), 200U);
  EXPECT_THAT(offences, IsEmpty());
}

TEST(TypeReader, FindsTypesWhereverTheyStand) {
  SourceFile file{.path = "x.hpp", .licence = {}, .lines = {}, .code = {}};
  file.code = {"namespace a::b {",
               "class Forward;",
               "namespace {",
               "struct [[nodiscard]] Hidden final : Base {",
               "  enum class State : int { one, two };",
               "  void method() { struct Local { int x; }; }",
               " private:",
               "  struct Inner {};",
               "};",
               "}",
               "template <typename T, typename U = int>",
               "class Generic {};",
               "template <>",
               "class Generic<int> { struct Passed {}; };",
               "struct Outer::Nested {};",
               "const struct stat kNone{};",
               "}"};
  std::vector<std::string> names;
  for (const auto& [name, line_index] : TypeReader::types_of(file)) names.push_back(name);
  EXPECT_THAT(names, ElementsAre("a::b::Hidden", "a::b::Hidden::State", "a::b::Hidden::Inner", "a::b::Generic",
                                 "a::b::Outer::Nested"));
}

}  // namespace
}  // namespace udtcat::style
