#!/usr/bin/env bash
# Installs what is missing, builds a small C++ program and then build/bloomset, and runs both on a real word list.
#   ./quickstart.sh               the command line
#   ./quickstart.sh --server      also the module for Valkey and Redis
#   ./quickstart.sh --explorer    also the page that shows filters at work
#   ./quickstart.sh --all         also both, the C interface and the examples
set -euo pipefail
called_from=$PWD
cd -- "$(dirname -- "${BASH_SOURCE[0]}")"

packages=(build)
targets=(bloomset_program)
for option in "$@"; do
  case $option in
    --server) targets+=(bloomset_module) ;;
    --explorer) packages+=(explorer) targets+=(bloomset_explorer) ;;
    --all) packages+=(explorer) targets=(all) ;;
    -h | --help) sed -n '2,6s/^# \{0,1\}//p' quickstart.sh; exit ;;
    *) echo "quickstart.sh: there is no option '$option'; give --server, --explorer or --all" >&2; exit 2 ;;
  esac
done

started=$SECONDS
scripts/install-packages.sh "${packages[@]}"
log=$(mktemp)
work=$(mktemp -d)
trap 'rm -rf "$log" "$work"' EXIT
# Builds CMake's targets, and shows the log only if that fails.
build() {
  { cmake --preset release && cmake --build build --target "$@"; } 2>&1 | tee "$log" | scripts/progress.sh ||
    { tail -40 "$log"; exit 1; }
}
step() { printf '\n$ %s\n' "$*"; }

words=/usr/share/dict/american-english-insane
# Members are the words of odd lines; non-members are those of even lines, real words too.
awk 'NR % 2 == 1' "$words" >"$work/members.txt"
awk 'NR % 2 == 0' "$words" >"$work/non-members.txt"
members=$(wc -l <"$work/members.txt")
non_members=$(wc -l <"$work/non-members.txt")

echo "Building build/bloomset_two_lists from examples/cpp/two_lists.cpp ..."
build bloomset_two_lists
echo "First answer after $((SECONDS - started)) s."
step bloomset_two_lists members.txt non-members.txt
build/bloomset_two_lists "$work/members.txt" "$work/non-members.txt"

printf '\n%s\n' "Building build/bloomset, the command line ..."
build "${targets[@]}"
echo "Ready after $((SECONDS - started)) s."
bloomset=build/bloomset
filter=build/words.bloom

step bloomset plan --capacity "$members" --fpr 1% --kind bloom
$bloomset plan --capacity "$members" --fpr 1% --kind bloom

step bloomset build -o words.bloom --fpr 1% members.txt
$bloomset build --force -o "$filter" --fpr 1% "$work/members.txt"

step bloomset check -c words.bloom members.txt
found=$($bloomset check -c "$filter" "$work/members.txt")
echo "$found of $members members found"
[[ $found == "$members" ]] || { echo "a member was not found: this must never happen" >&2; exit 1; }

step bloomset check -c words.bloom non-members.txt
false_positives=$($bloomset check -c "$filter" "$work/non-members.txt" || true)
echo "$false_positives of $non_members non-members pass as members"

step bloomset info words.bloom
$bloomset info "$filter"

awk -v words="$(wc -c <"$work/members.txt")" -v size="$(wc -c <"$filter")" -v n="$members" \
  -v fp="$false_positives" -v s="$non_members" 'BEGIN {
    printf "\n%d words of %.1f MB in %.0f kB: %.2f bits per key.\n", n, words / 1e6, size / 1e3, size * 8 / n
    printf "Rate of false positives: 1%% requested, %.3f%% measured on %d non-members.\n", 100 * fp / s, s
  }'
printf '\nTry next:\n'
[[ $called_from == "$PWD" ]] || printf '  cd %q\n' "$PWD"
cat <<'END'
  export PATH="$PWD/build:$PATH"                       # then "bloomset" is found, as docs/ writes it
  echo blooms | build/bloomset check build/words.bloom
  build/bloomset plan --capacity 100M --fpr 1%
  build/bloomset explain --bits 10 --hash '(x+3)%10' --hash '(3*x+1)%10' --hash '(x^2+2)%10' --insert 2,4,9 --check 4,7,12
END
if [[ -f build/bloomset.so ]]; then
  echo '  redis-server --loadmodule "$PWD/build/bloomset.so"   # BF.ADD and the other commands: docs/reference/server.md'
else
  echo '  ./quickstart.sh --server      # the module for Valkey and Redis'
fi
if [[ -f build/explorer/index.html ]]; then
  echo '  build/bloomset explore       # a page that shows filters at work'
else
  echo '  ./quickstart.sh --explorer    # a page that shows filters at work; installs clang and Node'
fi
