#!/usr/bin/env bash
# Builds filters of synthetic Pwned Passwords lines and queries them. Prints for each kind the
# seconds of the build, the size, and how many of a million members and a million non-members pass.
#   bench/jobs/pwned.sh [LINES] [KIND...]        default: 10^7, and the kinds that suit such a list
# The lines are made while they are read, and never stored: 10^8 lines would need 4.5 GB. FPR is the
# rate (default 0.1%). TMPDIR is for the filters, and for eight bytes per key while static kinds are
# built. Needs the benchmarks: cmake -DBLOOMSET_BENCH=ON.
set -euo pipefail
cd "$(dirname "$0")/../.."
lines=${1:-10000000}
shift || true
kinds=("$@")
((${#kinds[@]})) || kinds=(blocked_bloom bloom vector_quotient fuse ribbon)
fpr=${FPR:-0.1%}
bloomset=${BLOOMSET:-build/bloomset}
make_lines=${PWNED_LINES:-build/bench/pwned_lines}
for program in "$bloomset" "$make_lines"; do
  [[ -x $program ]] || { echo "$program is missing; build with -DBLOOMSET_BENCH=ON" >&2; exit 2; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

now() { date +%s.%N; }
since() { awk -v a="$1" -v b="$(now)" 'BEGIN {printf "%.1f", b - a}'; }
asked=$((lines < 1000000 ? lines : 1000000))

start=$(now)
"$make_lines" "$lines" >/dev/null
echo "$lines lines, rate $fpr, made in $(since "$start") s (part of each build); $(uname -m), $(nproc) cores"
printf '%-16s %9s %10s %9s %9s %10s %10s\n' kind "build, s" bytes bits/key "check, s" members non_members
for kind in "${kinds[@]}"; do
  start=$(now)
  "$make_lines" "$lines" |
    "$bloomset" build -q --force -o "$work/f" --kind "$kind" --fpr "$fpr" --capacity "$lines" --keys pwned
  built=$(since "$start")
  bytes=$(stat -c %s "$work/f")
  start=$(now)
  members=$("$make_lines" "$asked" | "$bloomset" check -c --keys pwned "$work/f" || [[ $? == 1 ]])
  took=$(since "$start")
  non_members=$("$make_lines" "$asked" "$lines" | "$bloomset" check -c --keys pwned "$work/f" || [[ $? == 1 ]])
  printf '%-16s %9s %10s %9s %9s %10s %10s\n' "$kind" "$built" "$bytes" \
    "$(awk -v b="$bytes" -v n="$lines" 'BEGIN {printf "%.2f", 8 * b / n}')" "$took" "$members" "$non_members"
  [[ $members == "$asked" ]] || { echo "$kind: a member was not found: this must never happen" >&2; exit 1; }
done
