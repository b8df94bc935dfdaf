#include "tool/run.hpp"

int main(int argc, char** argv) { return udtcat::tool::run(argc, argv); }
