# SPDX-License-Identifier: Apache-2.0
# A folder under src/ is a room. Those of src/lib are an object library each, and together the library, libudtcat (ADR-0002). The
# others are wings of the program: they stand side by side upon the library.
set_property(GLOBAL PROPERTY UDTCAT_ROOMS "")

function(udtcat_objects name)
  add_library(udtcat_${name} OBJECT ${ARGN})
  set_target_properties(udtcat_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_include_directories(udtcat_${name} PUBLIC "${PROJECT_SOURCE_DIR}/include" PRIVATE "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(udtcat_${name} PRIVATE udtcat_compile
                        PUBLIC Boost::headers tl::expected fmt::fmt spdlog::spdlog OpenSSL::SSL OpenSSL::Crypto Threads::Threads)
endfunction()

# src/lib/<name>. The folder APART of the room is no part of it: see udtcat_libudt().
function(udtcat_room name)
  cmake_parse_arguments(room "" "APART" "" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/lib/${name}/*.cpp")
  if(room_APART)
    list(FILTER sources EXCLUDE REGEX "/${name}/${room_APART}/")
  endif()
  udtcat_objects(${name} ${sources})
  set_property(GLOBAL APPEND PROPERTY UDTCAT_ROOMS ${name})
endfunction()

# A program with libudt in it waits 0.1 s for it at each start. So udtcat links udtcat_no_libudt instead (ADR-0014).
function(udtcat_libudt)
  set(absent "${PROJECT_SOURCE_DIR}/src/lib/transport/libudt/absent.cpp")
  udtcat_objects(no_libudt "${absent}")
  if(UDTCAT_STATIC)
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/lib/transport/libudt/*.cpp")
  list(REMOVE_ITEM sources "${absent}")
  udtcat_objects(libudt ${sources})
  target_link_libraries(udtcat_libudt PUBLIC UDT::udt)
endfunction()

# The object libraries of every room from the bottom up to `top`, that one included, and libudt with the transport.
function(udtcat_rooms_up_to top result)
  get_property(rooms GLOBAL PROPERTY UDTCAT_ROOMS)
  set(below "")
  foreach(room IN LISTS rooms)
    list(APPEND below udtcat_${room})
    if(room STREQUAL "transport")
      list(APPEND below udtcat_libudt)
    endif()
    if(room STREQUAL top)
      break()
    endif()
  endforeach()
  set(${result} "${below}" PARENT_SCOPE)
endfunction()

function(udtcat_library)
  get_property(rooms GLOBAL PROPERTY UDTCAT_ROOMS)
  list(APPEND rooms libudt)
  add_library(libudtcat STATIC)
  add_library(udtcat::udtcat ALIAS libudtcat)
  foreach(room IN LISTS rooms)
    target_sources(libudtcat PRIVATE $<TARGET_OBJECTS:udtcat_${room}>)
  endforeach()
  set_target_properties(libudtcat PROPERTIES OUTPUT_NAME udtcat EXPORT_NAME udtcat LINKER_LANGUAGE CXX)
  target_compile_features(libudtcat PUBLIC cxx_std_20)
  target_include_directories(libudtcat PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                              $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  # Public headers need Boost and tl::expected only; the rest is for the linker.
  target_link_libraries(libudtcat PUBLIC Boost::headers tl::expected Threads::Threads
                        PRIVATE fmt::fmt spdlog::spdlog OpenSSL::SSL OpenSSL::Crypto UDT::udt)
endfunction()

# A wing of the program: src/<name>, but for the folder EXCEPT. One that is ABSENT is represented by its command/absent.cpp alone.
function(udtcat_wing name)
  cmake_parse_arguments(wing "ABSENT" "EXCEPT" "" ${ARGN})
  set(absent "${PROJECT_SOURCE_DIR}/src/${name}/command/absent.cpp")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/${name}/*.cpp")
  list(REMOVE_ITEM sources "${absent}")
  if(wing_EXCEPT)
    list(FILTER sources EXCLUDE REGEX "/${name}/${wing_EXCEPT}/")
  endif()
  # The service manager is told by one of the two.
  if(UDTCAT_SYSTEMD)
    list(FILTER sources EXCLUDE REGEX "/service_manager_default\\.cpp$")
  else()
    list(FILTER sources EXCLUDE REGEX "/service_manager_systemd\\.cpp$")
  endif()
  if(wing_ABSENT)
    set(sources "${absent}")
  endif()
  udtcat_objects(${name} ${sources})
  target_link_libraries(udtcat_${name} PUBLIC CLI11::CLI11 nlohmann_json::nlohmann_json ZLIB::ZLIB
                        $<TARGET_NAME_IF_EXISTS:PkgConfig::SYSTEMD>)
  set_property(GLOBAL APPEND PROPERTY UDTCAT_WINGS udtcat_${name})
endfunction()

# The program, and the same with libudt, which takes its place for `--transport libudt`.
function(udtcat_program)
  get_property(rooms GLOBAL PROPERTY UDTCAT_ROOMS)
  list(TRANSFORM rooms PREPEND udtcat_)
  udtcat_executable(udtcat ${rooms} udtcat_no_libudt)
  if(UDTCAT_STATIC)
    target_link_options(udtcat PRIVATE -static -s)
    set_target_properties(udtcat PROPERTIES OUTPUT_NAME udtcat-static)  # beside the other, for `udtcat rsh --push`
  else()
    udtcat_executable(udtcat-libudt libudtcat)
    add_dependencies(udtcat udtcat-libudt)
  endif()
endfunction()

function(udtcat_executable name)
  get_property(wings GLOBAL PROPERTY UDTCAT_WINGS)
  add_executable(${name} "${PROJECT_SOURCE_DIR}/src/main.cpp")
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/src")
  target_link_libraries(${name} PRIVATE ${wings} udtcat_compile ${ARGN})
endfunction()
