# Shared by tools/quickstart and tools/test: progress on stderr, and installing what is missing on Debian and Ubuntu.
# To be sourced by bash with the root of the tree as working directory.

say() { printf '\033[1m==>\033[0m %s\n' "$*" >&2; }
[ -t 2 ] && [ -z "${NO_COLOR:-}" ] || say() { printf '==> %s\n' "$*" >&2; }

die() {
  printf 'error: %s\n' "$1" >&2
  shift
  [ $# -eq 0 ] || printf '  = help: %s\n' "$@" >&2
  exit 3
}

# Build tools that count as present wherever they come from, as command:package.
build_commands=(g++:g++ cmake:cmake ninja:ninja-build)
# Libraries, as packages. Tests need more, and some presets a second compiler.
build_packages=(nlohmann-json3-dev libsimdjson-dev libsqlite3-dev libtomlplusplus-dev libyaml-cpp-dev libcli11-dev libfmt-dev libtbb-dev zlib1g-dev)
# bc: what scripts compute with it is compared with it.
test_commands=(python3:python3 bc:bc)
test_packages=(doctest-dev libbenchmark-dev python3-jsonschema python3-yaml openmpi-bin libopenmpi-dev
  libopenblas0-pthread iproute2 coinor-libcbc-dev python3-dev pybind11-dev python3-numpy python3-venv)
# What makes the bare Debian of tests/fresh, and looks at the packages that are made there.
fresh_packages=(git:git mmdebstrap:mmdebstrap debian-archive-keyring lintian:lintian objdump:binutils)
# What tools/package needs in addition.
package_packages=(dpkg-dev file:file gzip:gzip python3-dev python3-venv)
# For the plugins of MPI and CBC, which packages have where apt knows these.
plugin_packages=(libopenmpi-dev coinor-libcbc-dev)
# Used where apt has them; the tests that need them are skipped without. chromium: the pages (tests/browser), esbuild and
# tsc: their bundle. node: Perfetto's engine. libcairo2: figures as PDF and PNG. nbclient, ipykernel, pandas, mypy: more of
# the Python module. clang-format: another release formats differently.
optional_test_packages=(clang-format-14:clang-format-14 python3-torch bwrap:bubblewrap mandoc:mandoc fish:fish zsh:zsh libcairo2
  chromium:chromium esbuild:esbuild tsc:node-typescript node:nodejs python3-nbclient python3-ipykernel python3-pandas mypy:mypy)
# What makes the playground, in addition to esbuild and tsc; its tests are in the preset long.
playground_packages=(em++:emscripten)
clang_commands=(clang++:clang)
clang_packages=(libclang-rt-dev)
# Another release has other checks.
tidy_packages=(clang-tidy-14:clang-tidy-14)

# Prints the packages among `$@` that dpkg does not have. Items are packages or command:package.
missing_packages() {
  local item wanted=() installed
  for item in "$@"; do
    if [[ $item == *:* ]]; then
      command -v "${item%%:*}" >/dev/null || printf '%s\n' "${item#*:}"
    else
      wanted+=("$item")
    fi
  done
  installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null || true)
  for item in "${wanted[@]}"; do
    grep -qx "installed $item" <<<"$installed" || printf '%s\n' "$item"
  done
}

# install_missing ITEM...: installs what is not there yet. Does not touch apt when nothing is missing.
install_missing() {
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    say "no apt here: taking it that these, or what your system calls them, are installed: ${*#*:}"
    return
  fi
  local missing as_root=()
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null ||
      die "packages are missing, and installing them takes root" "as root: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  say "installing ${missing[*]}"
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300)
  "${apt[@]}" update >&2 || say "apt-get update failed; trying with the package lists at hand"
  "${apt[@]}" install -y --no-install-recommends "${missing[@]}" >&2 ||
    die "apt-get could not install: ${missing[*]}" "see its messages above"
}

# install_optional ITEM...: installs those of the missing packages that apt knows; without them life goes on.
install_optional() {
  command -v dpkg-query >/dev/null && command -v apt-get >/dev/null || return 0
  local missing item known=() as_root=()
  mapfile -t missing < <(missing_packages "$@")
  for item in "${missing[@]}"; do
    apt-cache show "$item" >/dev/null 2>&1 && known+=("$item")
  done
  [ ${#known[@]} -gt 0 ] || return 0
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || return 0
    as_root=(sudo)
  fi
  say "installing ${known[*]} (optional)"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 install -y \
    --no-install-recommends "${known[@]}" >&2 || say "not installed; some tests will be skipped"
}

# install_axe: axe-core for the test of the pages, which makes fewer checks without; where npm reaches its registry.
install_axe() {
  [ -d tools/report/node_modules/axe-core ] && return 0
  command -v npm >/dev/null || return 0
  say "installing axe-core (optional)"
  (cd tools/report && timeout 120 npm ci --ignore-scripts --no-audit --no-fund >&2) || say "not installed: npm ci failed"
}
