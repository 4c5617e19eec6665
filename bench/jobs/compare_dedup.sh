#!/usr/bin/env bash
# Drops the repeated lines of a file with bloomset, with sort -u and, if it is installed, with huniq
# (cargo install huniq), in turn. Prints medians of seconds and of peak memory, and the lines printed.
#   bench/jobs/compare_dedup.sh [LINES] [RUNS]
# The lines have 20 bytes, and every second one occurs twice, millions of lines apart. BLOOMSET names
# the program.
set -euo pipefail
cd "$(dirname "$0")/../.."
lines=${1:-10000000} runs=${2:-3}
ours=${BLOOMSET:-build/bloomset}
[[ -x $ours ]] || { echo "build it first: ./quickstart.sh" >&2; exit 2; }
scripts/install-packages.sh bench
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

third=$((lines / 3))
{ seq -f 'user%015.0f' 1 $((2 * third)); seq -f 'user%015.0f' $((third + 1)) $((lines - third)); } >"$work/lines"
cat "$work/lines" >/dev/null # starts from the page cache

# timed NAME COMMAND...
timed() {
  local into=$1
  shift
  /usr/bin/time -o "$work/t" -f '%e %M' "$@" <"$work/lines" >"$work/out" 2>/dev/null
  tail -1 "$work/t" >>"$work/$into"
  wc -l <"$work/out" >"$work/$into.printed"
}
median() { cut -d' ' -f"$2" "$work/$1" | sort -n | awk '{v[NR] = $1} END {print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2}'; }

for ((run = 0; run < runs; ++run)); do
  timed bloomset "$ours" dedup
  timed sort env LC_ALL=C sort -u
  if command -v huniq >/dev/null; then timed huniq huniq; fi
done

echo "$lines lines of 20 bytes, median of $runs runs each, in turn; $(uname -m), $(nproc) cores"
printf '%-16s %8s %9s %12s\n' "" seconds MB "lines printed"
for name in bloomset sort huniq; do
  [[ -e $work/$name ]] || continue
  printf '%-16s %8.2f %9.0f %12s\n' "$name" "$(median $name 1)" \
    "$(awk -v k="$(median $name 2)" 'BEGIN {print k / 1000}')" "$(cat "$work/$name.printed")"
done
