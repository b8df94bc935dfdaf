/// What `rsh` and its kin are told beside the options that all have.
#pragma once

#include "tool/written_options.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace udtcat::tool {

void add_rsh_options(CLI::App& app, WrittenOptions& written);

}  // namespace udtcat::tool
