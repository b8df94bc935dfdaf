/// The options of `udtcat gridftp`, as CLI11 knows them.
#pragma once

#include "tool/written_options.hpp"

namespace CLI {
class App;
}

namespace udtcat::tool {

void add_gridftp_options(CLI::App& app, WrittenOptions& written);

}  // namespace udtcat::tool
