#!/usr/bin/env bash
# A wheel's shared libraries and `pip install --target`.
#
# One would guess: --target FOLDER puts below FOLDER what --prefix FOLDER puts there, and says so where it cannot.
# What happens: files that a wheel carries as data in `lib` are left out, without a word and with exit status 0, and RECORD
# lists them all the same. Other data (`share`, `opt`) arrive. Intel's OpenMP, MKL and TBB ship their libraries so; of this
# one libiomp5.so is missing.
# Why it matters here: containers and clusters are filled with --target. Our wheel has the library that profile injects
# as such data, so there it would have been missing for no visible reason.
#
# Needs PyPI and Python with venv, on Linux on x86-64. Fails where what is seen is not what is written here.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

python3 -m venv "$folder/env"
pip=("$folder/env/bin/pip" --quiet --disable-pip-version-check)
"${pip[@]}" install pip==26.3 2>/dev/null
"${pip[@]}" download --no-deps --dest "$folder" intel-openmp==2025.0.4 2>/dev/null

seen=$(
  "$folder/env/bin/pip" --version | cut -d' ' -f1,2
  for option in prefix target; do
    "${pip[@]}" install --no-deps "--$option" "$folder/$option" "$folder"/intel_openmp-*.whl 2>/dev/null && status=0 || status=$?
    record=$(find "$folder/$option" -path '*intel_openmp-*' -name RECORD)
    echo "--$option: status $status, libiomp5.so: $(find "$folder/$option" -name libiomp5.so | wc -l) file," \
      "$(grep -c '/libiomp5.so,' "$record") line of RECORD, omp.h: $(find "$folder/$option" -name omp.h | wc -l) file"
  done
)
echo "$seen"
diff - <(echo "$seen") <<'EXPECTED'
pip 26.3
--prefix: status 0, libiomp5.so: 1 file, 1 line of RECORD, omp.h: 1 file
--target: status 0, libiomp5.so: 0 file, 1 line of RECORD, omp.h: 1 file
EXPECTED
