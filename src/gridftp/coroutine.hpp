// SPDX-License-Identifier: Apache-2.0
/// The words of src/coroutine, as this wing speaks them.
#pragma once

#include "coroutine/stream_io.hpp"
#include "coroutine/task.hpp"

namespace udtcat::gridftp {

using coroutine::connect_tcp;
using coroutine::into;
using coroutine::look_up;
using coroutine::Promise;
using coroutine::SessionPeer;
using coroutine::shared_handler;
using coroutine::Signal;
using coroutine::SilenceWatch;
using coroutine::start;
using coroutine::StreamIo;
using coroutine::Task;

}  // namespace udtcat::gridftp
