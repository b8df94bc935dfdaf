# SPDX-License-Identifier: Apache-2.0
# Tells the sanitizers, through the tests' own properties, what to do: plain ctest is enough. Each finding is fatal. The
# suppressions beside this file name other people's code only, and say why.
set(supp "${CMAKE_CURRENT_LIST_DIR}")
set(UDTCAT_TEST_ENVIRONMENT "")
if(UDTCAT_SANITIZER STREQUAL "address")
  # new_delete_type_mismatch: libudt deletes IPv6 addresses as if they were IPv4's. There is no suppression by library for it.
  set(UDTCAT_TEST_ENVIRONMENT "ASAN_OPTIONS=detect_stack_use_after_return=1:check_initialization_order=1:new_delete_type_mismatch=0"
                              "LSAN_OPTIONS=suppressions=${supp}/lsan.supp:print_suppressions=0"
                              "UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1")
elseif(UDTCAT_SANITIZER STREQUAL "thread")
  set(UDTCAT_TEST_ENVIRONMENT "TSAN_OPTIONS=suppressions=${supp}/tsan.supp:halt_on_error=1:second_deadlock_stack=1")
endif()
