# Witnesses: programs and libraries of others that tests compare ours with, as PyPI has them (tests/witness), in Python
# environments of their own that build/witness and build/frameworks lead to. Needs tools/lib/setup.sh, and the root of the tree as working
# directory. Without it those tests are skipped.

# The system's Python, so that what it installs does not hang on whose Python comes first in PATH.
witness_python=/usr/bin/python3
[ -x "$witness_python" ] || witness_python=$(command -v python3 || true)

# Fills the folder $1, whole or not at all: `complete` is written last. What CUDA 12.0's headers include of the compiler's
# is 20 MB apart, and the newest serve as well.
fill_witnesses() {
  local pip=("$1/bin/python" -m pip --disable-pip-version-check install --quiet --no-deps --no-cache-dir
    --only-binary :all: --require-hashes)
  rm -rf "$1"
  "$witness_python" -m venv "$1" &&
    "${pip[@]}" -r tests/witness/requirements.txt &&
    "${pip[@]}" --target "$1/oldest" -r tests/witness/oldest.txt &&
    ln -s "$1"/lib/python3*/site-packages/nvidia/cu13/include/{crt,nv} "$1/oldest/nvidia/cuda_runtime/include" &&
    touch "$1/complete"
}

# Fills the folder $1 likewise: PyTorch in an environment, the frameworks in $1/frameworks.
fill_frameworks() {
  local pip=("$1/bin/python" -m pip --disable-pip-version-check) archive
  rm -rf "$1"
  "$witness_python" -m venv "$1" &&
    "${pip[@]}" install --quiet --no-deps --no-cache-dir --no-compile --only-binary :all: --require-hashes -r tests/witness/torch.txt &&
    DS_BUILD_OPS=0 "${pip[@]}" download --quiet --no-deps --no-cache-dir --no-build-isolation --python-version 3.12 \
      --require-hashes --dest "$1/archives" -r tests/witness/frameworks.txt || return
  mkdir "$1/frameworks"
  for archive in "$1"/archives/*; do
    case $archive in
      *.whl) "$1/bin/python" -m zipfile -e "$archive" "$1/frameworks" ;;
      *.tar.gz) tar -xzf "$archive" -C "$1/frameworks" --strip-components=1 --wildcards '*/deepspeed/*' ;;
    esac || return
  done
  rm -r "$1/archives" && touch "$1/complete"
}

# witness_set LINK FILL FILE...: what the function FILL makes of these files, made once for them, where build/LINK leads.
# Without $CI and $DEBUBBLE_WITNESSES what is there already is used. With $CI set its absence is an error.
witness_set() {
  local link=build/$1 fill=$2 key folder
  shift 2
  key=$(cat "$@" <("$witness_python" -V) | sha256sum | cut -c1-16)
  folder=${XDG_CACHE_HOME:-$HOME/.cache}/debubble-witness/$key
  rm -f "$link"
  if [ ! -e "$folder/complete" ]; then
    [ -n "${CI:-}${DEBUBBLE_WITNESSES:-}" ] || return 0
    "$witness_python" -c 'import ensurepip' 2>/dev/null || install_missing python3-venv
    say "installing witnesses with $("$witness_python" -V) into $folder"
    mkdir -p "$folder"
    # One at a time: another run may be at it.
    if ! (flock 9 && { [ -e "$folder/complete" ] || "$fill" "$folder"; }) 9>"$folder.lock" >&2; then
      [ -z "${CI:-}" ] || die "the witnesses could not be installed" "see pip's messages above; is PyPI reached?"
      say "not installed; some tests will be skipped"
      return 0
    fi
  fi
  mkdir -p build
  ln -sfnT "$folder" "$link"
}

# The libraries, 1.1 GB from PyPI and 2 GB of disk.
install_witnesses() {
  if [ "$(uname -sm)" != "Linux x86_64" ] || [ ! -x "$witness_python" ]; then
    rm -f build/witness
    say "no witnesses: their wheels are for Linux on x86-64, and it takes Python"
    return
  fi
  witness_set witness fill_witnesses tests/witness/{oldest,requirements}.txt
}

# PyTorch and the frameworks, 0.2 GB and 1 GB of disk.
install_frameworks() {
  if [ "$(uname -sm)" != "Linux x86_64" ] || [[ $("$witness_python" -V) != "Python 3.11."* ]]; then
    rm -f build/frameworks
    say "no frameworks: their wheels are for Linux on x86-64 and Python 3.11"
    return
  fi
  witness_set frameworks fill_frameworks tests/witness/{torch,frameworks}.txt
}
