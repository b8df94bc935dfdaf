# SPDX-License-Identifier: Apache-2.0
# libudt comes without a package file. Gives the target UDT::udt. Installed beside our own package file, which needs it too.
find_path(UDT_INCLUDE_DIR udt/udt.h)
find_library(UDT_LIBRARY udt)
mark_as_advanced(UDT_INCLUDE_DIR UDT_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(UDT REQUIRED_VARS UDT_LIBRARY UDT_INCLUDE_DIR)

if(UDT_FOUND AND NOT TARGET UDT::udt)
  add_library(UDT::udt UNKNOWN IMPORTED)
  set_target_properties(UDT::udt PROPERTIES IMPORTED_LOCATION "${UDT_LIBRARY}"
                                            INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${UDT_INCLUDE_DIR}")
endif()
