/// The options of `udtcat gridftp`, as CLI11 knows them.
#pragma once

#include "cli/written_options.hpp"

namespace CLI {
class App;
}

namespace udtcat::cli {

void add_gridftp_options(CLI::App& app, WrittenOptions& written);

}  // namespace udtcat::cli
