#!/usr/bin/env bash
# Runs each built fuzz target for some seconds from its seed corpus. Fails at any finding. Builds
# nothing (see README.md).
#   fuzz/run.sh [SECONDS] [--target NAME]...       default: $FUZZ_SECONDS or 5, every target
# The same inputs are tried in each run, as many as the seconds allow; FUZZ_SEED=0 tries others. New
# inputs of the fuzzer go to $BLOOMSET_FUZZ_CORPUS if it is set, else they are deleted. Failing
# inputs are kept in $BLOOMSET_FUZZ_BUILD/findings.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=${BLOOMSET_FUZZ_BUILD:-$here/../build-sanitize/fuzz}
seconds=${FUZZ_SECONDS:-5}
targets=()
while (($#)); do
  case $1 in
    --target) targets+=("$2"); shift 2 ;;
    [0-9]*) seconds=$1; shift ;;
    *) echo "fuzz/run.sh: '$1' is not SECONDS or --target NAME" >&2; exit 2 ;;
  esac
done
if ((${#targets[@]} == 0)); then
  for program in "$build"/fuzz_*; do
    if [[ -f $program && -x $program ]]; then targets+=("${program##*/fuzz_}"); fi
  done
fi
if ((${#targets[@]} == 0)); then
  echo "fuzz/run.sh: no fuzz targets in $build; build them first (fuzz/README.md)" >&2
  exit 2
fi

# Writes the seeds that are stored as text, one name and hexadecimal digits per line. Prints their
# folder.
write_seeds() {
  local folder=$scratch/seeds-$1 name digits
  mkdir -p "$folder"
  while read -r name digits; do
    if [[ $name != '#' ]]; then printf '%b' "$(sed 's/../\\x&/g' <<<"$digits")" >"$folder/$name"; fi
  done <"$here/corpus/$1.hex"
  echo "$folder"
}

# The golden files are the seeds of the loaders.
seeds_of() {
  case $1 in
    loader | sealed_loader) echo "$here/../tests/golden" ;;
    answers | content_digest | dialects | keys | manifest | parquet | segments | server | unread_formats) write_seeds "$1" ;;
    urls) echo "$here/corpus/urls" ;;
    numbers) echo "$here/corpus/numbers" ;;
    *) echo "$here/corpus/operations" ;;
  esac
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$build/findings"
failed=0
for target in "${targets[@]}"; do
  learned=${BLOOMSET_FUZZ_CORPUS:-$scratch}/$target
  mkdir -p "$learned"
  limits=(-max_len=2048)
  # The largest golden files, which are the loaders' seeds, have 34 KiB. A bucket of Poppy has 4 KiB.
  if [[ $target == *loader ]]; then limits=(-max_len=40000); fi
  if [[ $target == dialects ]]; then limits=(-max_len=9000); fi
  if [[ $target == numbers ]]; then limits=(-max_len=64 "-dict=$here/numbers.dict"); fi
  if "$build/fuzz_$target" -seed="${FUZZ_SEED:-1}" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
    -malloc_limit_mb=256 -verbosity=1 -print_final_stats=1 "${limits[@]}" \
    -artifact_prefix="$build/findings/$target-" \
    "$learned" "$(seeds_of "$target")" >"$scratch/log" 2>&1; then
    echo "$target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$scratch/log") inputs, no finding"
  else
    echo "$target: FOUND SOMETHING, kept in $build/findings" >&2
    tail -40 "$scratch/log" >&2
    failed=1
  fi
done
exit "$failed"
