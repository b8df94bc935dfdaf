#include <unistd.h>

#include "bridge/die_with.hpp"

namespace udtcat::bridge {

bool die_with(pid_t parent) { return ::getppid() == parent; }

}  // namespace udtcat::bridge
