# SPDX-License-Identifier: Apache-2.0
# How our code is compiled: one interface target for the modules, the program and the tests. Options that must hold for
# the whole program (sanitizers, coverage for libFuzzer) are set for every target.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()

# Line numbers for a backtrace, and no more: the rest of the debug information is half of what a build writes. The
# preset dev has it.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1 -DNDEBUG")

# GCC 12 collects its garbage less often: a tenth of the time to compile a unity build.
add_compile_options($<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=500000>)  # KiB

# The static program is sent to other hosts: small before fast (ADR-0082), and nobody debugs it. What it is linked with
# is sorted out by function.
if(UDTCAT_STATIC)
  add_compile_options(-Oz -g0 -ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables
                      # GCC 12 takes an optional's value for uninitialised where it was asked whether there is one.
                      $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  add_link_options(-fuse-ld=gold LINKER:--gc-sections LINKER:--icf=safe)  # one copy of equal functions
  # 0.3 MB less, for a link of a minute and a half. It compiles: without -g0 GCC 12 ends by an internal error.
  set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
  add_link_options(-Oz -g0 -flto-partition=one)
  # Reproducible builds: GCC's random seed for each file orders the code that is linked.
  string(APPEND CMAKE_CXX_COMPILE_OBJECT " -frandom-seed=<OBJECT>")
endif()

option(UDTCAT_WERROR "Treat warnings as errors" OFF)

add_library(udtcat_compile INTERFACE)
target_compile_options(
  udtcat_compile INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
                           -Wold-style-cast -Woverloaded-virtual $<$<BOOL:${UDTCAT_WERROR}>:-Werror>
                           # GCC takes what a unity build includes for headers.
                           $<$<AND:$<BOOL:${CMAKE_UNITY_BUILD}>,$<CXX_COMPILER_ID:GNU>>:-Wno-subobject-linkage>)
target_compile_definitions(udtcat_compile INTERFACE BOOST_ASIO_NO_DEPRECATED SPDLOG_FMT_EXTERNAL
                                                    UDTCAT_VERSION="${PROJECT_VERSION}"
                                                    UDTCAT_SANITIZED=$<BOOL:${UDTCAT_SANITIZER}>
                                                    $<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS>)

# The flags a stranger's program needs to be linked with our archive; tests/packaging asks for them.
set(UDTCAT_SANITIZER_FLAGS "")
if(UDTCAT_SANITIZER STREQUAL "address")
  set(UDTCAT_SANITIZER_FLAGS -fsanitize=address,undefined)
  add_compile_options(-fno-sanitize-recover=undefined)
elseif(UDTCAT_SANITIZER STREQUAL "thread")
  set(UDTCAT_SANITIZER_FLAGS -fsanitize=thread)
  # tsan does not see atomic_thread_fence; Asio has a way without, and GCC need not warn of what is left.
  add_compile_definitions(BOOST_ASIO_DISABLE_FENCED_BLOCK)
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
elseif(UDTCAT_SANITIZER)
  message(FATAL_ERROR "UDTCAT_SANITIZER is \"${UDTCAT_SANITIZER}\"; it may be \"address\" or \"thread\"")
endif()
if(UDTCAT_SANITIZER)
  # GCC 12 under a sanitizer takes an optional's value, and std::regex' members, for uninitialised.
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  # -O1: the build takes 0.6 of its time at -O2, and the sanitizers see more of the code as it was written.
  add_compile_options(${UDTCAT_SANITIZER_FLAGS} -fno-omit-frame-pointer -O1)
  add_link_options(${UDTCAT_SANITIZER_FLAGS})
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
endif()

if(UDTCAT_BUILD_FUZZERS)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "UDTCAT_BUILD_FUZZERS needs clang: use the preset \"fuzz\"")
  endif()
  # No AddressSanitizer: it registers every global, so --gc-sections drops nothing, and libFuzzer scans 280 000 counters
  # after each input. scripts/fuzz replays what it keeps under asan, where that is built; vptr, too, is left to that.
  add_compile_options(-fsanitize=fuzzer-no-link,undefined -fno-sanitize-recover=undefined -ffunction-sections
                      -fdata-sections)
  add_link_options(-fsanitize=fuzzer-no-link,undefined -Wl,--gc-sections,-z,start-stop-gc)
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
  # clang 14 has the coroutines that the library of GCC 12 and Boost.Asio ask for, and does not say so; it cannot make
  # them together with -fsanitize=function.
  add_compile_definitions(__cpp_impl_coroutine=201902L BOOST_ASIO_HAS_CO_AWAIT=1 BOOST_ASIO_HAS_STD_COROUTINE=1)
  add_compile_options(-fno-sanitize=function,vptr)
endif()
