#include "gridftp/command/gridftp_written_options.hpp"

#include <CLI/CLI.hpp>

namespace udtcat::tool {

void add_gridftp_options(CLI::App& app, WrittenOptions& written) {
  app.add_option("-p,--parallelism", written.parallelism)->take_last();
  app.add_option("-s,--stripes", written.stripes)->take_last();
  app.add_option("--range", written.range)->take_last();
  app.add_option("--over", written.over)->take_last();
  app.add_option("--retries", written.retries)->take_last();
  app.add_option("--root", written.root)->take_last();
  app.add_option("--auth", written.auth)->take_last();
  app.add_flag("--read-only", written.read_only);
  app.add_flag("--anonymous-writable", written.anonymous_writable);
  app.add_flag("--third-party", written.third_party);
  app.add_flag("--clear-control", written.clear_control);
}

}  // namespace udtcat::tool
