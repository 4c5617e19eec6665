#!/usr/bin/env bash
# Tests that every part of the benchmark runs on small inputs and that its results make the
# document, never its speed. The program itself fails when a filter denies a member or when a batch
# contradicts single queries.
#   bench/smoke.sh bloomset_bench bloomset
set -euo pipefail
program=$1 bloomset=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
results=$work/results.jsonl

bench() { "$program" -o "$results" --runs 1 "$@" 2>>"$work/progress" || { cat "$work/progress" >&2; exit 1; }; }
bench machine
bench hash
bench filters --sizes 10k --rates 1% --least 20000 --rate-keys 20k
bench batches -n 10k
bench tune >"$work/tune"
bench strings -n 2k >"$work/strings"
bench growth -n 20k >"$work/growth"
grep -q '^expandable, begun at n/1024, inserted one by one  *[0-9]' "$work/growth"
bench which -n 2k --files 20 >"$work/which"
grep -q 'words of logs' "$work/which"
bench exact -n 2k --universe 20k >"$work/exact"
grep -q '^20 .*1,\?000 ' "$work/exact"
bench revocation -n 2k --universe 140k --issuers 30 >"$work/revocation"
grep -q '^exact: .*without an error' "$work/revocation"
bench sets -n 2k
bench billion -n 100k
bench drawbacks -n 4k --grown 4k
bench attack -n 20k --steps 10k >"$work/attacks"
bench attack-times -n 100 >"$work/times"
if [[ -n $bloomset ]]; then
  bench files -n 5k --program "$bloomset" --folder "$work"
  bench sizing --sizes 10,1k --program "$bloomset" --folder "$work"
  bench startup --bytes 1MB --program "$bloomset" --folder "$work"
fi

if [[ -n $bloomset ]]; then
  export BLOOMSET=$bloomset
  "$here/jobs/memory_limit.py" --keys 10k --runs 1 --folder "$work" >"$work/limits"
  ! grep -v 'sort -u' "$work/limits" | grep -q ' lines |$'
  if [[ -e ${bloomset%/*}/bloomset_sqlite.so && -e ${bloomset%/*}/integrations/python ]]; then
    # Debian's Python, for which the package is built, and whose SQLite loads extensions.
    /usr/bin/python3 "$here/jobs/engines.py" --keys 1000 'command line' SQLite >"$work/engines"
    grep -q 'SQLite | ask' "$work/engines"
    grep -q 'the same bytes' "$work/engines"
  fi
fi

cp "$here/../docs/how-it-works/benchmarks.md" "$here/../docs/how-it-works/drawbacks.md" "$work"
"$here/reports/charts.py" "$results" "$work/benchmarks.md" "$work/drawbacks.md"
grep -q '10 k keys at 1%' "$work/benchmarks.md"
grep -q '<rect' "$work/benchmarks/query-10000-1.svg"
grep -q 'counted first' "$work/drawbacks.md"
grep -q 'vector_quotient' "$work/drawbacks/loads.svg"
"$here/reports/charts.py" "$results" >"$work/tables"
grep -q 'blocked, 1%: measured rate' "$work/tables"
# The pages quote the results that are kept.
"$here/reports/quoted.py" --check "$here/results/full.jsonl"
