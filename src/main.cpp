/// The program: the commands of every wing, in one table.
#include "gridftp/command/commands.hpp"
#include "rsh/command/commands.hpp"
#include "tool/commands.hpp"
#include "tool/run.hpp"

int main(int argc, char** argv) {
  using namespace udtcat;
  tool::Commands all = tool::commands();
  for (const tool::Commands& more : {rsh::commands(), gridftp::commands()})
    all.insert(all.end(), more.begin(), more.end());
  return tool::run(argc, argv, all);
}
