#!/usr/bin/env bash
# Shows the last line of its input on the terminal, with the seconds so far, which change while nothing is read:
#   COMMAND 2>&1 | progress.sh
# Where the standard output is no terminal it shows nothing.
set -euo pipefail
[[ -t 1 ]] || exec cat >/dev/null
width=$(($(tput cols || echo 80) - 9))
last=
while IFS= read -r -t 1 line || (($? > 128)); do
  [[ ! $line ]] || last=$line
  printf '\r\033[K%4d s  %.*s' "$SECONDS" "$width" "$last"
done
printf '\r\033[K'
