# SPDX-License-Identifier: Apache-2.0
# The driver by which stock Globus programs move their data over our sessions (ADR-0017): a folder of
# gridftp that uses no other of it, and a shared object of its own.
# Built where Globus XIO's headers are; installed apart, as the component xio-driver.
set(UDTCAT_XIO_DRIVER OFF)

function(udtcat_xio_driver)
  find_package(PkgConfig QUIET)
  if(PkgConfig_FOUND AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
    pkg_check_modules(GLOBUS_XIO QUIET IMPORTED_TARGET globus-xio globus-common)
  endif()
  if(NOT GLOBUS_XIO_FOUND)
    message(STATUS "globus-xio not found: the GridFTP driver is not built (Debian: libglobus-xio-dev)")
    return()
  endif()
  set(UDTCAT_XIO_DRIVER ON PARENT_SCOPE)

  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/gridftp/xio/*.cpp")
  set(glue "${PROJECT_SOURCE_DIR}/src/gridftp/xio/driver.cpp")
  list(REMOVE_ITEM sources ${glue})
  udtcat_objects(xio ${sources})

  get_property(modules GLOBAL PROPERTY UDTCAT_LIBRARY_MODULES)
  list(TRANSFORM modules PREPEND udtcat_)
  add_library(globus_xio_udtcat_driver MODULE ${glue})
  target_include_directories(globus_xio_udtcat_driver PRIVATE "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(globus_xio_udtcat_driver PRIVATE udtcat_compile udtcat_xio ${modules} udtcat_no_libudt PkgConfig::GLOBUS_XIO)
  # One symbol is everybody's. The host program may unload its drivers; our threads' code has to stay.
  set(exports "${PROJECT_SOURCE_DIR}/src/gridftp/xio/exports.map")
  target_link_options(globus_xio_udtcat_driver PRIVATE "LINKER:--version-script=${exports}" LINKER:-z,nodelete)
  set_target_properties(globus_xio_udtcat_driver PROPERTIES LINK_DEPENDS "${exports}" LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
  install(TARGETS globus_xio_udtcat_driver LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT xio-driver)
endfunction()
