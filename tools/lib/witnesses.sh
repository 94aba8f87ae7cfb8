# Witnesses: programs and libraries of others that tests compare ours with, as PyPI has them (tests/witness), in a Python
# environment of their own that build/witness leads to. Needs tools/lib/setup.sh, and the root of the tree as working
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

# install_witnesses: where $CI or $DEBUBBLE_WITNESSES is set, for it takes 1.1 GB from PyPI and 2 GB of disk, once;
# otherwise what is there already is used. With $CI set their absence is an error.
install_witnesses() {
  local key folder
  rm -f build/witness
  if [ "$(uname -sm)" != "Linux x86_64" ] || [ ! -x "$witness_python" ]; then
    say "no witnesses: their wheels are for Linux on x86-64, and it takes Python"
    return
  fi
  key=$(cat tests/witness/*.txt <("$witness_python" -V) | sha256sum | cut -c1-16)
  folder=${XDG_CACHE_HOME:-$HOME/.cache}/debubble-witness/$key
  if [ ! -e "$folder/complete" ]; then
    [ -n "${CI:-}${DEBUBBLE_WITNESSES:-}" ] || return 0
    "$witness_python" -c 'import ensurepip' 2>/dev/null || install_missing python3-venv
    say "installing witnesses with $("$witness_python" -V) into $folder"
    mkdir -p "$folder"
    # One at a time: another run may be at it.
    if ! (flock 9 && { [ -e "$folder/complete" ] || fill_witnesses "$folder"; }) 9>"$folder.lock" >&2; then
      [ -z "${CI:-}" ] || die "the witnesses could not be installed" "see pip's messages above; is PyPI reached?"
      say "not installed; some tests will be skipped"
      return 0
    fi
  fi
  mkdir -p build
  ln -sfnT "$folder" build/witness
}
