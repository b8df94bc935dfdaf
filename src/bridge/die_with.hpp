/// A process that goes when its parent goes.
#pragma once

#include <sys/types.h>

namespace udtcat::bridge {

/// Asks the system to kill the calling process when `parent`, its parent, dies in whatever way; that of the thread which made it
/// counts. Nothing where the system has no such thing. For use between fork() and exec(), too.
/// returns   false where the parent has died already
[[nodiscard]] bool die_with(pid_t parent);

}  // namespace udtcat::bridge
