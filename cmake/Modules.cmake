# SPDX-License-Identifier: Apache-2.0
# A folder under src/ is a module. Those of src/lib are an object library each, and together the library, libudtcat (ADR-0002). The
# others are the program's: which stands upon which, tests/style/modules_test.cpp says (ADR-0063).
set_property(GLOBAL PROPERTY UDTCAT_LIBRARY_MODULES "")

function(udtcat_objects name)
  add_library(udtcat_${name} OBJECT ${ARGN})
  if(NOT UDTCAT_STATIC)
    set_target_properties(udtcat_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  endif()
  target_include_directories(udtcat_${name} PUBLIC "${PROJECT_SOURCE_DIR}/include" PRIVATE "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(udtcat_${name} PRIVATE udtcat_compile
                        PUBLIC Boost::headers tl::expected fmt::fmt spdlog::spdlog OpenSSL::SSL OpenSSL::Crypto Threads::Threads)
endfunction()

# src/lib/<name>. The folder APART of the module is no part of it: see udtcat_libudt().
function(udtcat_library_module name)
  cmake_parse_arguments(module "" "APART" "" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/lib/${name}/*.cpp")
  if(module_APART)
    list(FILTER sources EXCLUDE REGEX "/${name}/${module_APART}/")
  endif()
  udtcat_objects(${name} ${sources})
  set_property(GLOBAL APPEND PROPERTY UDTCAT_LIBRARY_MODULES ${name})
endfunction()

# A program with libudt in it waits 0.1 s for it at each start. So udtcat links udtcat_no_libudt instead (ADR-0014).
function(udtcat_libudt)
  set(absent "${PROJECT_SOURCE_DIR}/src/lib/transport/libudt/absent.cpp")
  udtcat_objects(no_libudt "${absent}")
  if(NOT UDTCAT_LIBUDT)
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/lib/transport/libudt/*.cpp")
  list(REMOVE_ITEM sources "${absent}")
  udtcat_objects(libudt ${sources})
  target_link_libraries(udtcat_libudt PUBLIC UDT::udt)
endfunction()

# The transport libudt, or what stands in its place.
if(UDTCAT_LIBUDT)
  set(UDTCAT_LIBUDT_MODULE libudt)
else()
  set(UDTCAT_LIBUDT_MODULE no_libudt)
endif()

# The object libraries of every module from the bottom up to `top`, that one included, and libudt with the transport.
function(udtcat_library_up_to top result)
  get_property(modules GLOBAL PROPERTY UDTCAT_LIBRARY_MODULES)
  set(below "")
  foreach(module IN LISTS modules)
    list(APPEND below udtcat_${module})
    if(module STREQUAL "transport")
      list(APPEND below udtcat_${UDTCAT_LIBUDT_MODULE})
    endif()
    if(module STREQUAL top)
      break()
    endif()
  endforeach()
  set(${result} "${below}" PARENT_SCOPE)
endfunction()

function(udtcat_library)
  get_property(modules GLOBAL PROPERTY UDTCAT_LIBRARY_MODULES)
  list(APPEND modules ${UDTCAT_LIBUDT_MODULE})
  add_library(libudtcat STATIC)
  add_library(udtcat::udtcat ALIAS libudtcat)
  foreach(module IN LISTS modules)
    target_sources(libudtcat PRIVATE $<TARGET_OBJECTS:udtcat_${module}>)
  endforeach()
  set_target_properties(libudtcat PROPERTIES OUTPUT_NAME udtcat EXPORT_NAME udtcat LINKER_LANGUAGE CXX)
  target_compile_features(libudtcat PUBLIC cxx_std_20)
  target_include_directories(libudtcat PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                              $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  # Public headers need Boost and tl::expected only; the rest is for the linker.
  target_link_libraries(libudtcat PUBLIC Boost::headers tl::expected Threads::Threads
                        PRIVATE fmt::fmt spdlog::spdlog OpenSSL::SSL OpenSSL::Crypto $<TARGET_NAME_IF_EXISTS:UDT::udt>)
endfunction()

# A module of the program: src/<name>, but for the folder EXCEPT.
function(udtcat_program_module name)
  cmake_parse_arguments(module "" "EXCEPT" "" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/${name}/*.cpp")
  if(module_EXCEPT)
    list(FILTER sources EXCLUDE REGEX "/${name}/${module_EXCEPT}/")
  endif()
  udtcat_objects(${name} ${sources})
  target_link_libraries(udtcat_${name} PUBLIC CLI11::CLI11 nlohmann_json::nlohmann_json ZLIB::ZLIB
                        $<TARGET_NAME_IF_EXISTS:PkgConfig::SYSTEMD>)
  set_property(GLOBAL APPEND PROPERTY UDTCAT_PROGRAM_MODULES udtcat_${name})
endfunction()

# The program, and the same with libudt, which takes its place for `--transport libudt`.
function(udtcat_program)
  get_property(modules GLOBAL PROPERTY UDTCAT_LIBRARY_MODULES)
  list(TRANSFORM modules PREPEND udtcat_)
  udtcat_executable(udtcat ${modules} udtcat_no_libudt)
  if(UDTCAT_STATIC)
    target_link_options(udtcat PRIVATE -static -s)
    # Beside the others, for `udtcat rsh --push` to machines whose `uname -m` says so.
    set_target_properties(udtcat PROPERTIES OUTPUT_NAME udtcat-static-${CMAKE_SYSTEM_PROCESSOR})
  elseif(UDTCAT_LIBUDT)
    udtcat_executable(udtcat-libudt libudtcat)
    add_dependencies(udtcat udtcat-libudt)
  endif()
endfunction()

function(udtcat_executable name)
  get_property(modules GLOBAL PROPERTY UDTCAT_PROGRAM_MODULES)
  add_executable(${name} "${PROJECT_SOURCE_DIR}/src/main.cpp")
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(${name} PRIVATE ${modules} udtcat_compile ${ARGN})
  target_compile_definitions(${name} PRIVATE UDTCAT_HAS_GRIDFTP=$<BOOL:${UDTCAT_GRIDFTP}>)
endfunction()
