#include "cli/run.hpp"

int main(int argc, char** argv) { return udtcat::cli::run(argc, argv); }
