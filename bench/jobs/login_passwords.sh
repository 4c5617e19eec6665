#!/usr/bin/env bash
# Builds filters for a password prompt from synthetic NTLM lines of Pwned Passwords: passwdqc's by Bloomset and by
# pwqfilter, and Bloomset's own at rates near 0. Prints the seconds of the build, the size, and the seconds in which
# the filter's own program looks up a million members, one process in all.
#   bench/jobs/login_passwords.sh [LINES]        default: 10^7
# The lines are made while they are read. Needs the benchmarks (cmake -DBLOOMSET_BENCH=ON), and Debian's passwdqc.
set -euo pipefail
cd "$(dirname "$0")/../.."
lines=${1:-10000000}
bloomset=${BLOOMSET:-build/bloomset}
make_lines=${PWNED_LINES:-build/bench/pwned_lines}
for program in "$bloomset" "$make_lines" pwqfilter; do
  command -v "$program" >/dev/null || { echo "$program is missing" >&2; exit 2; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

now() { date +%s.%N; }
since() { awk -v a="$1" -v b="$(now)" 'BEGIN {printf "%.1f", b - a}'; }
asked=$((lines < 1000000 ? lines : 1000000))
ntlm() { "$make_lines" "$@" | cut -c 9-; }  # 32 of the 40 digits
hashes() { ntlm "$@" | cut -d : -f 1; }
ours() { "$bloomset" build -q --force -o "$work/f" --capacity "$lines" --keys pwned "$@"; }
theirs() { cut -d : -f 1 | pwqfilter --create=$((lines * 100 / 95)) --pre-hashed --hash-ntlm-cp1252 -o "$work/f" 2>/dev/null; }
look_up() {
  if [[ $1 == theirs ]]; then
    pwqfilter -c --pre-hashed -f "$work/f" 2>/dev/null
  else
    "$bloomset" check -c --keys hex "$work/f"
  fi
}

ntlm "$lines" >/dev/null
start=$(now)
ntlm "$lines" >/dev/null
echo "$lines lines, made in $(since "$start") s (part of each build); $(uname -m), $(nproc) cores"
printf '%-28s %9s %10s %9s %9s %10s\n' filter "build, s" bytes bits/key "check, s" members
while read -r name who options; do
  start=$(now)
  # shellcheck disable=SC2086  # several options
  ntlm "$lines" | "$who" $options
  built=$(since "$start")
  bytes=$(stat -c %s "$work/f")
  hashes "$asked" >"$work/hashes"
  start=$(now)
  members=$(look_up "$who" <"$work/hashes" || [[ $? == 1 ]])
  printf '%-28s %9s %10s %9s %9s %10s\n' "$name" "$built" "$bytes" \
    "$(awk -v b="$bytes" -v n="$lines" 'BEGIN {printf "%.2f", 8 * b / n}')" "$(since "$start")" "$members"
  [[ $members == "$asked" ]] || { echo "$name: a member was not found: this must never happen" >&2; exit 1; }
done <<'LIST'
passwdqc-by-pwqfilter theirs
passwdqc-by-bloomset ours --format passwdqc --with hash=ntlm
ribbon-1e-9 ours --kind ribbon --fpr 1e-9
ribbon-1e-12 ours --kind ribbon --fpr 1e-12
fuse-1e-12 ours --kind fuse --fpr 1e-12
LIST
