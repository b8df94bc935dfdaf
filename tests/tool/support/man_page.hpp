// SPDX-License-Identifier: Apache-2.0
/// The pages of docs/man, as far as tests ask them: which options a section explains, and to which pages it refers.
#pragma once

#include <cctype>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "tool/support/source_file.hpp"

namespace udtcat::tool {

class ManPage {
 public:
  struct Section {
    std::set<std::string> options;     ///< "-k", "--key-file": those that an item (.It) begins with
    std::set<std::string> references;  ///< "udtcat.1": the pages that it names (.Xr)
  };

  explicit ManPage(const std::string& text) {
    std::istringstream lines(text);
    std::string title;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with(".Sh ")) title = line.substr(4);
      if (line.starts_with(".It ")) read_options(line, sections_[title]);
      if (line.starts_with(".Xr ")) read_reference(line, sections_[title]);
    }
  }

  /// Empty where there is none.
  [[nodiscard]] Section section(const std::string& title) const {
    const auto found = sections_.find(title);
    return found == sections_.end() ? Section{} : found->second;
  }

 private:
  /// ".It Fl k , -key-file Ar file": what follows Fl, up to the next macro.
  static void read_options(const std::string& line, Section& section) {
    std::istringstream words(line);
    bool is_option = false;
    for (std::string word; words >> word;) {
      const bool is_macro = word.size() == 2 && std::isupper(static_cast<unsigned char>(word[0])) != 0 &&
                            std::islower(static_cast<unsigned char>(word[1])) != 0;
      if (is_macro)
        is_option = word == "Fl";
      else if (is_option && word != ",")
        section.options.insert("-" + word);
    }
  }
  static void read_reference(const std::string& line, Section& section) {
    std::istringstream words(line.substr(4));
    std::string name;
    std::string number;
    if (words >> name >> number) section.references.insert(name + "." + number);
  }

  std::map<std::string, Section> sections_;
};

/// By their names: "udtcat.1".
using Manual = std::map<std::string, ManPage>;

[[nodiscard]] inline Manual read_manual() {
  Manual manual;
  for (const auto& each : std::filesystem::directory_iterator(UDTCAT_SOURCE_DIR "/docs/man")) {
    const std::string name = each.path().filename();
    manual.emplace(name, ManPage(source_file("docs/man/" + name)));
  }
  return manual;
}

}  // namespace udtcat::tool
