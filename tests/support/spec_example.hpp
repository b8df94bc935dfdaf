// SPDX-License-Identifier: Apache-2.0
/// Reads the worked examples out of docs/spec, so that text and code cannot drift apart.
#pragma once

#include <fstream>
#include <map>
#include <stdexcept>
#include <string>

#include "support/bytes.hpp"

namespace udtcat::test {

/// The lines between "```example NAME" and "```" of docs/spec/FILE: `name = hex …` or `name = "text"`; an indented line
/// goes on with the one before.
class SpecExample {
 public:
  SpecExample(const std::string& file, const std::string& name) {
    std::ifstream in(std::string(UDTCAT_SOURCE_DIR) + "/docs/spec/" + file);
    std::string line;
    while (std::getline(in, line) && line != "```example " + name) {
    }
    std::string current;
    while (std::getline(in, line) && line != "```") {
      const auto equals = line.find(" = ");
      if (equals != std::string::npos) current = line.substr(0, line.find_last_not_of(' ', equals) + 1);
      values_[current] += equals == std::string::npos ? line : line.substr(equals + 3);
    }
    if (values_.empty()) throw std::runtime_error(file + " has no example " + name);
  }

  [[nodiscard]] Bytes bytes(const std::string& name) const { return from_hex(values_.at(name)); }
  [[nodiscard]] std::string text(const std::string& name) const {
    const std::string& quoted = values_.at(name);
    return quoted.substr(1, quoted.size() - 2);
  }

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace udtcat::test
