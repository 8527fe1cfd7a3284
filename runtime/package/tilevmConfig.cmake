# find_package(tilevm) gives the target tilevm::tilevm: headers and the shared library.
# find_package(tilevm COMPONENTS ir) gives tilevm::ir, too: the C++ builder, for frontends (C++20, Abseil).
get_filename_component(_tilevm_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET tilevm::tilevm)
  add_library(tilevm::tilevm SHARED IMPORTED)
  set_target_properties(tilevm::tilevm PROPERTIES
    IMPORTED_LOCATION "${_tilevm_prefix}/lib/libtilevm.so.1"
    IMPORTED_SONAME "libtilevm.so.1"
    INTERFACE_INCLUDE_DIRECTORIES "${_tilevm_prefix}/include")
endif()
if("ir" IN_LIST tilevm_FIND_COMPONENTS)
  if(EXISTS "${_tilevm_prefix}/lib/libtilevm-ir.a")
    include(CMakeFindDependencyMacro)
    find_dependency(absl)
    if(NOT TARGET tilevm::ir)
      add_library(tilevm::ir STATIC IMPORTED)
      set_target_properties(tilevm::ir PROPERTIES
        IMPORTED_LOCATION "${_tilevm_prefix}/lib/libtilevm-ir.a"
        INTERFACE_INCLUDE_DIRECTORIES "${_tilevm_prefix}/include/tilevm-ir"
        INTERFACE_COMPILE_FEATURES cxx_std_20
        INTERFACE_LINK_LIBRARIES
          "absl::flat_hash_map;absl::flat_hash_set;absl::status;absl::statusor;absl::strings;absl::str_format;absl::span")
    endif()
    set(tilevm_ir_FOUND TRUE)
  else()
    set(tilevm_ir_FOUND FALSE)
    if(tilevm_FIND_REQUIRED_ir)
      set(tilevm_FOUND FALSE)
      set(tilevm_NOT_FOUND_MESSAGE "${_tilevm_prefix} was installed without the builder, libtilevm-ir.a")
    endif()
  endif()
endif()
unset(_tilevm_prefix)
