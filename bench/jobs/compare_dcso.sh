#!/usr/bin/env bash
# Builds and checks a filter over 10 M lines with bloomset and with the DCSO command line that Debian
# ships (golang-github-dcso-bloom-cli), in turn, and prints medians and ratios. Exit 1 unless
# bloomset is faster in each row.
#   bench/jobs/compare_dcso.sh [LINES] [RUNS]
# Uses fewer lines if disk ($TMPDIR, or /tmp) or memory cannot hold that many, because both programs
# should read from the page cache. BLOOMSET names the program. RESULTS names a file to which the
# figures are appended as a line of JSON.
set -euo pipefail
cd "$(dirname "$0")/../.."
lines=${1:-10000000} runs=${2:-3}
results=${RESULTS:-}
ours=${BLOOMSET:-build/bloomset}

scripts/install-packages.sh bench
[[ -x $ours ]] || { echo "build it first: ./quickstart.sh" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# 62 bytes per line in two files, and two filters per line of each kind. 2 GB are left to the
# programs.
disk=$(df --output=avail -B1 "$work" | tail -1)
memory=$(awk '/^MemAvailable/ {printf "%.0f", $2 * 1024}' /proc/meminfo)
room=$(((disk * 9 / 10 < memory - 2000000000 ? disk * 9 / 10 : memory - 2000000000) / 70))
((room > 0)) || { echo "neither disk nor memory has room; free 2 GB" >&2; exit 2; }
if ((lines > room)); then
  echo "disk and memory have room for $room of $lines lines"
  lines=$room
fi

seq -f 'user%.0f@example.com' 1 "$lines" >"$work/present"
seq -f 'non-member%.0f@example.org' 1 "$lines" >"$work/absent"
cat "$work/present" "$work/absent" >/dev/null # both start from the page cache

# seconds FILE: appends the wall time of the command on the rest of the line.
timed() {
  local into=$1
  shift
  /usr/bin/time -o "$work/t" -f %e "$@" || [[ $? == 1 ]] # 1: no line was selected
  tail -1 "$work/t" >>"$work/$into"
}
median() { sort -n "$work/$1" | awk '{v[NR] = $1} END {print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2}'; }

theirs_create() { rm -f "$work/theirs" && bloom create -p 0.01 -n "$lines" "$work/theirs"; }

for ((run = 0; run < runs; ++run)); do
  theirs_create
  timed build.theirs sh -c 'exec bloom insert "$1" <"$2"' - "$work/theirs" "$work/present"
  timed build.ours "$ours" build --force -o "$work/ours" --fpr 1% --capacity "$lines" "$work/present" 2>/dev/null
  timed stream.theirs sh -c 'exec bloom insert "$1" <"$2"' - "$work/theirs" "$work/present"
  timed stream.ours "$ours" build --force -o "$work/ours.stream" --fpr 1% "$work/present" 2>/dev/null
  for what in absent present; do
    timed "$what.theirs" sh -c 'exec bloom check "$1" <"$2" >/dev/null' - "$work/theirs" "$work/$what"
    timed "$what.ours" sh -c 'exec "$0" check "$1" "$2" >/dev/null' "$ours" "$work/ours" "$work/$what"
  done
done

echo "$lines lines, 1%, median wall seconds of $runs runs each, in turn; $(uname -m), $(nproc) cores"
printf '%-34s %8s %8s %8s\n' "" DCSO bloomset ratio
worse=0
rows=()
row() {
  local theirs ours ratio
  theirs=$(median "$1.theirs") ours=$(median "$1.ours")
  ratio=$(awk -v a="$theirs" -v b="$ours" 'BEGIN {printf "%.1f", a / b}')
  printf '%-34s %8.2f %8.2f %7sx\n' "$2" "$theirs" "$ours" "$ratio"
  awk -v r="$ratio" 'BEGIN {exit !(r > 1)}' || worse=1
  rows+=("{\"what\":\"$2\",\"dcso\":$theirs,\"bloomset\":$ours}")
}
row build "build, capacity given"
row stream "build, capacity unknown"
row absent "check, all absent"
row present "check, all present and printed"
printf '%-34s %8s %8s\n' "bits a key" \
  "$(awk -v b="$(wc -c <"$work/theirs")" -v n="$lines" 'BEGIN {printf "%.3f", 8 * b / n}')" \
  "$(awk -v b="$(wc -c <"$work/ours")" -v n="$lines" 'BEGIN {printf "%.3f", 8 * b / n}')"
if [[ $results ]]; then
  (IFS=, && printf '{"part":"dcso","record":"dcso","lines":%s,"runs":%s,"rows":[%s]}\n' \
    "$lines" "$runs" "${rows[*]}") >>"$results"
fi
exit $worse
