# find_package(tilevm) gives the target tilevm::tilevm: headers and the shared library.
get_filename_component(_tilevm_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET tilevm::tilevm)
  add_library(tilevm::tilevm SHARED IMPORTED)
  set_target_properties(tilevm::tilevm PROPERTIES
    IMPORTED_LOCATION "${_tilevm_prefix}/lib/libtilevm.so.1"
    IMPORTED_SONAME "libtilevm.so.1"
    INTERFACE_INCLUDE_DIRECTORIES "${_tilevm_prefix}/include")
endif()
unset(_tilevm_prefix)
