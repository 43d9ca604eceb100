# Given by workspace.py to each interface package as CMAKE_PROJECT_INCLUDE: make only what
# Python over Fast DDS loads, for the ROS 2 from PyPI has nothing else. A build with a full ROS 2
# does not see this file.

find_package(rosidl_default_generators REQUIRED)

set(unused "typesupport_[a-z_]*cpp:") # introspection_c stays: Fast DDS asks it of every topic
if(NOT PROJECT_NAME STREQUAL "arm_interfaces") # the C++ example of docs is compiled against its headers
  string(APPEND unused "|generator_cpp:")
endif()
list(FILTER AMENT_EXTENSIONS_rosidl_generate_idl_interfaces EXCLUDE REGEX "${unused}")

# One file instead of one a message: they all begin with the same long headers. At the end, since
# the packages are yet to make these targets.
cmake_language(DEFER CALL set_target_properties
  ${PROJECT_NAME}__rosidl_typesupport_fastrtps_c
  ${PROJECT_NAME}__rosidl_typesupport_introspection_c
  ${PROJECT_NAME}__rosidl_typesupport_c
  ${PROJECT_NAME}__rosidl_generator_py
  PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
