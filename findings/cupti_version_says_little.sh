#!/usr/bin/env bash
# CUPTI's version number, asked without a driver.
#
# One would guess: cuptiGetVersion only returns a constant, so it answers on a login node or in CI, and the constant of
# each release is the one that the list in cupti_version.h names ("v19 : CUDA Toolkit 12.0").
# What happens: the header of 12.0 lists v19 for itself and defines 18, that of 11.8, though a kernel's record is 8 bytes
# longer; and since 13.3 the call fails with 999 (CUPTI_ERROR_UNKNOWN) where there is no driver.
# Why it matters here: debubble judged a libcupti by this number. On a machine without a driver 13.3 and later were "too
# old", and of two libraries that say 18 the records differ, so only the library itself can walk over its records.
#
# Needs PyPI, Python with pip, and a machine without a driver. Fails where what is seen is not what is written here.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

ask() {  # PACKAGE VERSION: what its library answers
  python3 -m pip install --quiet --no-deps --only-binary :all: --target "$folder/$2" "$1==$2" 2>"$folder/pip" ||
    { cat "$folder/pip" >&2; exit 1; }
  python3 - "$(find "$folder/$2" -name 'libcupti.so.*')" <<'PYTHON'
import ctypes, sys
version = ctypes.c_uint32()
status = ctypes.CDLL(sys.argv[1]).cuptiGetVersion(ctypes.byref(version))
print(f"status {status}, version {version.value}")
PYTHON
}

seen=$(
  echo "11.8.87: $(ask nvidia-cuda-cupti-cu11 11.8.87)"
  echo "12.0.146: $(ask nvidia-cuda-cupti-cu12 12.0.146)"
  grep -ohE 'v19 : CUDA.*|define CUPTI_API_VERSION .*' "$(find "$folder/12.0.146" -name cupti_version.h)"
  grep -ohE '^} CUpti_ActivityKernel[89];' "$(find "$folder/12.0.146" -name cupti_activity.h)"
  echo "13.1.115: $(ask nvidia-cuda-cupti 13.1.115)"
  echo "13.5.25: $(ask nvidia-cuda-cupti 13.5.25)"
)
echo "$seen"
diff - <(echo "$seen") <<'EXPECTED'
11.8.87: status 0, version 18
12.0.146: status 0, version 18
v19 : CUDA Toolkit 12.0
define CUPTI_API_VERSION 18
} CUpti_ActivityKernel8;
} CUpti_ActivityKernel9;
13.1.115: status 0, version 130101
13.5.25: status 999, version 0
EXPECTED
