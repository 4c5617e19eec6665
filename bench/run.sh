#!/usr/bin/env bash
# Installs what is missing, builds the benchmark and the command line in build-bench/, runs it, and
# prints tables. A full run replaces bench/results/full.jsonl and the figures and charts of
# docs/how-it-works/benchmarks.md and docs/how-it-works/drawbacks.md; run it on a machine that does nothing else.
#   bench/run.sh                everything (docs/how-it-works/benchmarks.md says how long, and what it needs)
#   bench/run.sh --quick        everything, on less: minutes; the document stays as it is
#   bench/run.sh [--quick] PART ...     only these parts; the others keep their earlier figures
#   bench/run.sh --billion      the part of that name: 10^9 keys in a gigabyte
#   bench/run.sh --as NAME PART ...        for another CPU: bench/results/NAME.jsonl; prints tables, and
#                                          the documents stay as they are
# Parts: filters batches sets files sizing dcso startup billion drawbacks; and which, exact, revocation, strings and
# growth, only if named, whose tables are only printed
# Peers that Debian does not have are compared with if environment variables name checkouts of them:
# BOOST_BLOOM, BOOST_CONTAINER_HASH (if the installed Boost is older than Boost.Bloom needs),
# FASTFILTER, BURR (with its submodules), HIBF (of SeqAn), ROCKSDB_SOURCE, VQF, CUCKOOFILTER, PREFIX_FILTER,
# TAFFY (libfilter). The crate pleat is compared with if cargo is installed. BENCH_ARCH is the -march of the rows
# "for this CPU" (default native). BENCH_FOLDER is where large files may be (default /tmp).
set -euo pipefail
cd "$(dirname "$0")/.."

quick=
results=bench/results/full.jsonl
documents=(docs/how-it-works/benchmarks.md docs/how-it-works/drawbacks.md)
parts=()
while (($#)); do
  word=$1
  shift
  case $word in
    --as)
      results=bench/results/${1:?bench/run.sh: --as needs a name}.jsonl
      documents=()
      shift
      ;;
    --quick) quick=1 ;;
    --billion) parts+=(billion) ;;
    filters | batches | sets | files | sizing | dcso | startup | billion | drawbacks | which | exact | revocation | strings | growth) parts+=("$word") ;;
    -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
    *) echo "bench/run.sh: '$word' is no part and no option; see bench/run.sh --help" >&2; exit 2 ;;
  esac
done
((${#parts[@]})) || parts=(filters batches sets files sizing dcso startup billion drawbacks)

scripts/install-packages.sh build bench peers ${BOOST_BLOOM:+boost}
build=build-bench
log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo "Building into $build/ ..."
options=("-DBLOOMSET_BENCH_ARCH=${BENCH_ARCH:-native}")
for peer in BOOST_BLOOM BOOST_CONTAINER_HASH FASTFILTER BURR HIBF ROCKSDB_SOURCE VQF \
  CUCKOOFILTER PREFIX_FILTER TAFFY; do
  options+=("-DBLOOMSET_BENCH_$peer=${!peer:+$(cd "${!peer}" && pwd)}")
done
if command -v cargo >/dev/null; then options+=(-DBLOOMSET_BENCH_PLEAT=ON); fi
{
  cmake -G Ninja -B "$build" -DCMAKE_BUILD_TYPE=Release -DBLOOMSET_CLI=ON -DBLOOMSET_BENCH=ON \
    "${options[@]}" &&
    cmake --build "$build" --target bloomset_bench bloomset_program
} >"$log" 2>&1 || { tail -40 "$log"; exit 1; }
# The memory of peers has huge pages too.
export GLIBC_TUNABLES=glibc.malloc.hugetlb=1
program=$build/bench/bloomset_bench
folder=(--program "$build/bloomset" --folder "${BENCH_FOLDER:-/tmp}")

if [[ $quick ]]; then
  results=$build/quick.jsonl
  large=10M urls=1M lines=5M dcso_lines=2000000 bytes=100MB addresses=100M grown=1M unknown=10,1k,100k,1M unknown_large=3M
  revoked=117k certificates=8160k
else
  large=100M urls=100M lines=100M dcso_lines=100000000 bytes=1GB addresses=1e9 grown=134217728 unknown=1,10,100,1k,10k,100k,1M,10M unknown_large=100M
  revoked=11700k certificates=816M
  mkdir -p bench/results
  # The host of a virtual machine supplies memory at its first use, up to 5 ms for each 2 MiB.
  python3 -c 'import os; b"x" * int(0.8 * os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))'
fi
touch "$results"

# bench PART RUNS OPTIONS: deletes the part's earlier figures and measures.
drop() {
  grep -v "\"part\":\"$1\"" "$results" >"$log" || true
  cp "$log" "$results"
}
bench() {
  echo "== $1: $(date +%T)"
  "$program" -o "$results" --runs "$2" "$1" "${@:3}"
}

for part in machine hash; do
  drop "$part"
  bench "$part" 5
done
for part in "${parts[@]}"; do
  drop "$part"
  case $part in
    filters)
      if [[ $quick ]]; then
        bench filters 3 --sizes "10k,1M,$large" --rates 1% --cell-seconds 0.1 --build-seconds 1
        bench filters 3 --sizes "$large" --rates 1/256 --cell-seconds 0.1 --build-seconds 1 \
          --only fuse,ribbon,Ribbon,random
      else
        bench filters 5 --sizes 10k,1M --rates 1%,0.1% --rate-keys 100M
        bench filters 5 --sizes "$large" --rates 1%,0.1% --rate-keys 100M --bulk 16M
        bench filters 5 --sizes "1M,$large" --rates 1/256 --rate-keys 100M --only fuse,ribbon,Ribbon,random
      fi
      ;;
    batches) bench batches 7 -n "$large" ;;
    sets) bench sets 1 -n "$urls" ;;
    files) bench files 3 -n "$lines" "${folder[@]}" ;;
    sizing)
      bench sizing 3 --sizes "$unknown" "${folder[@]}"
      bench sizing 1 --sizes "$unknown_large" "${folder[@]}"
      ;;
    startup) bench startup 51 --bytes "$bytes" "${folder[@]}" ;;
    billion) bench billion 1 -n "$addresses" ;;
    which) bench which 5 -n 1M --files 1000 ;;
    exact) bench exact 3 -n 1M --universe "$large" ;;
    revocation) bench revocation 1 -n "$revoked" --universe "$certificates" --issuers 1000 ;;
    strings) bench strings 9 -n 1M ;;
    growth) bench growth 3 -n "$grown" ;;
    drawbacks) bench drawbacks 1 -n 1M --grown "$grown" ;;
    dcso)
      echo "== dcso: $(date +%T)"
      # Its exit status says whether bloomset is faster in each row; the table says so too.
      BLOOMSET=$build/bloomset RESULTS=$results TMPDIR=${BENCH_FOLDER:-/tmp} \
        bench/jobs/compare_dcso.sh "$dcso_lines" 3 || (($? == 1))
      ;;
  esac
done

if [[ $quick ]] || ((!${#documents[@]})); then
  bench/reports/charts.py "$results"
else
  bench/reports/charts.py "$results" "${documents[@]}"
  bench/reports/charts.py "$results" | sed -n '/^## goals/,/^## filters/p' | sed '$d'
  bench/reports/quoted.py "$results"
fi
