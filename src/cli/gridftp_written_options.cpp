#include "cli/gridftp_written_options.hpp"

#include <CLI/CLI.hpp>

namespace udtcat::cli {

void add_gridftp_options(CLI::App& app, WrittenOptions& written) {
  app.add_option("-p,--parallelism", written.parallelism)->take_last();
  app.add_option("--range", written.range)->take_last();
}

}  // namespace udtcat::cli
