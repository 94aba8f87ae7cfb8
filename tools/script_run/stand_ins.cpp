#include "tools/script_run/stand_ins.hpp"

#include <algorithm>
#include <array>

#include "formats/shell/launcher_words.hpp"

namespace debubble {
namespace {

constexpr std::array<std::string_view, 44> kHarmlessTools{
    "cat",     "tee",   "basename", "dirname", "realpath", "readlink", "seq",   "wc",     "expr",  "bc",    "grep",
    "egrep",   "mkdir", "touch",    "rm",      "cp",       "mv",       "chmod", "ln",     "head",  "tail",  "tr",
    "cut",     "sed",   "sort",     "uniq",    "awk",      "paste",    "tac",   "rev",    "xargs", "env",   "nohup",
    "timeout", "nice",  "setsid",   "stdbuf",  "mktemp",   "ls",       "find",  "printf", "which", "rmdir", "shuf"};

// Beside the launchers that the reading knows: what runs a program, and what hands a script to other machines.
constexpr std::array<std::string_view, 13> kRecordedBeside{
    "python",     "python2",    "python3", "python3.8", "python3.9", "python3.10", "python3.11",
    "python3.12", "python3.13", "sbatch",  "ssh",       "pdsh",      "clush"};

constexpr std::array<std::string_view, 3> kIdlePrograms{"sleep", "clear", "sync"};

// Where a program prints what nobody here knows, a word stands for it: nothing at all would let an option of a launcher
// take the next one for its value.
// One file for each start: program, folder, count and arguments, count and (path, text) of the small files that it is
// given and that a launcher or DeepSpeed reads, then the environment.
constexpr const char* kRecording = R"bash(#!/usr/bin/bash -p
exec 2>/dev/null
paths=()
for word in "$@"; do
  path=${word#--deepspeed_config=}
  case $path in
    *.json | *.sh | *.slurm | *.sbatch)
      [ -f "$path" ] && [ ${#paths[@]} -lt 8 ] && [ "$(wc -c <"$path")" -le 100000 ] && paths+=("$path") ;;
  esac
done
name=/run/debubble/records/${EPOCHREALTIME//[!0-9]/}.$$
{
  printf '%s\0' "${0##*/}" "$PWD" $# "$@" ${#paths[@]}
  for path in "${paths[@]}"; do
    printf '%s\0' "$path" "$(<"$path")"
  done
  cat "/proc/$$/environ"
} >"$name.part" && mv "$name.part" "$name.start"
case "${0##*/} ${1-}" in
  python*' -'[cV]* | python*' --version' | python*' -' | python*' ') echo "UNKNOWN_OUTPUT_OF_${0##*/}" ;;
esac
exit 0
)bash";

constexpr const char* kMissing =
    "() { printf '%s\\0' '?' \"$PWD\" 2 \"$1\" \"${BASH_LINENO[0]}\" 0 "
    ">\"/run/debubble/records/${EPOCHREALTIME//[!0-9]/}.$BASHPID.start\"; "
    "printf 'bash: %s: command not found\\n' \"$1\" >&2; printf 'UNKNOWN_OUTPUT_OF_%s\\n' \"$1\"; return 127; }";

// Limits first, for all that follows. What the script leaves in the background gets a second to start something, and
// nothing of it runs while the records are handed on.
constexpr const char* kBehindLimits = R"bash(
(exec 9>&-; exec env "BASH_FUNC_command_not_found_handle%%=$missing" bash "$@")
status=$?
for ((turn = 0; turn < 20; ++turn)); do
  processes=(/proc/[0-9]*)
  [ ${#processes[@]} -le 2 ] && break
  /run/debubble/pause 0.05
done
kill -KILL -1 2>/dev/null
printf 'end\0%s\0' "$status" >&9
for name in /run/debubble/records/*.start; do
  [ -f "$name" ] && [ ! -L "$name" ] || continue
  printf '%s\0' "$(wc -c <"$name")" >&9
  cat "$name" >&9
done
)bash";

}  // namespace

std::span<const std::string_view> harmless_tools() { return kHarmlessTools; }

std::vector<std::string_view> recorded_programs() {
  std::vector<std::string_view> names(kRecordedBeside.begin(), kRecordedBeside.end());
  for (const std::string_view launcher : shell::launcher_names()) {
    const bool harmless = std::find(kHarmlessTools.begin(), kHarmlessTools.end(), launcher) != kHarmlessTools.end();
    if (!harmless && launcher != "time") names.push_back(launcher);  // time is a word of bash
  }
  return names;
}

std::span<const std::string_view> idle_programs() { return kIdlePrograms; }

std::string recording_program() { return kRecording; }

std::string missing_handler() { return kMissing; }

std::string idle_program() { return "#!/usr/bin/bash -p\nexit 0\n"; }

std::string date_program(int turn) {
  const std::string now = turn == 0 ? "@1000000000" : "@1814401234";
  return "#!/usr/bin/bash -p\nexec /run/debubble/calendar -d " + now + " \"$@\"\n";
}

std::string starting_program(int turn) {
  // Scripts raise the number of open files, and end where they cannot.
  return "printf 'begin\\0' >&9\nulimit -Hn 65536 2>/dev/null; ulimit -Sn 256; ulimit -c 0 -u 48 -v 131072 -t 10 -f "
         "16384 || exit 125\n"
         "for ((k = 0; k < " +
         std::to_string(1 + turn * 7) + "; ++k)); do (:); done\nmissing=" + "$(</run/debubble/missing)" + kBehindLimits;
}

}  // namespace debubble
