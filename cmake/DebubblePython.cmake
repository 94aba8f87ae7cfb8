# Whether the Python module can be built: pybind11, and a Python with its headers.
#
# Sets debubble_PYTHON_FOUND, and debubble_PYTHON_PROBLEM to what is missing. The Python is that of -DPython_EXECUTABLE=...
# (python/build_backend.py gives the one that pip runs in), else debubble_SYSTEM_PYTHON. debubble_PYTHON_HEADERS takes its
# place in a build of wheels for other Pythons: a module is linked to no library of theirs.

# The system's Python, whose headers and modules are packages: a pyenv or a virtual environment before it in PATH has none
# of them. Scripts of tests and bench are run by it, or by that of -DPython3_EXECUTABLE=...
find_program(debubble_SYSTEM_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
mark_as_advanced(debubble_SYSTEM_PYTHON)
if(NOT Python3_EXECUTABLE AND debubble_SYSTEM_PYTHON)
  set(Python3_EXECUTABLE "${debubble_SYSTEM_PYTHON}")
endif()
set(debubble_PYTHON_FOUND OFF)
set(debubble_PYTHON_PROBLEM "")
if(NOT debubble_PYTHON MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "debubble_PYTHON is \"${debubble_PYTHON}\"; it must be AUTO, ON or OFF")
endif()
if(debubble_PYTHON STREQUAL "OFF")
  return()
endif()

if(NOT Python_EXECUTABLE AND debubble_SYSTEM_PYTHON)
  set(Python_EXECUTABLE "${debubble_SYSTEM_PYTHON}")
endif()
find_package(Python 3.11 QUIET COMPONENTS Interpreter Development.Module)
if(debubble_PYTHON_HEADERS)
  file(STRINGS "${debubble_PYTHON_HEADERS}/patchlevel.h" Python_VERSION REGEX "^#define PY_VERSION ")
  string(REGEX REPLACE ".*\"(.*)\"" "\\1" Python_VERSION "${Python_VERSION}")
  set(Python_EXECUTABLE "${debubble_PYTHON_HEADERS}")
  set(Python_INCLUDE_DIRS "${debubble_PYTHON_HEADERS}")
  set(Python_SOABI "")  # its name would be longer; one of this name is found, too
  set(Python_Development.Module_FOUND TRUE)
endif()
set(PYBIND11_NOPYTHON ON)  # of pybind11 only the headers are used
find_package(pybind11 2.10 QUIET CONFIG)
set(debubble_python_missing "")
if(NOT Python_Development.Module_FOUND)
  list(APPEND debubble_python_missing "Python's headers (apt-get install python3-dev)")
endif()
if(NOT TARGET pybind11::headers)
  list(APPEND debubble_python_missing "pybind11 >= 2.10 (apt-get install pybind11-dev)")
endif()
if(NOT debubble_python_missing)
  set(debubble_PYTHON_FOUND ON)
  # The module is a shared object with static libraries inside: ours are always compiled for one (DebubbleTargets.cmake),
  # these are those that are compiled here.
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
else()
  list(JOIN debubble_python_missing ", " debubble_PYTHON_PROBLEM)
  if(debubble_PYTHON STREQUAL "ON")
    message(FATAL_ERROR "debubble_PYTHON=ON, but there is no ${debubble_PYTHON_PROBLEM}.\n"
      "Install it, or use -Ddebubble_PYTHON=AUTO to build without the Python module.")
  endif()
endif()
