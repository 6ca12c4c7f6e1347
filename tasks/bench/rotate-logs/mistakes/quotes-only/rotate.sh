#!/bin/sh
# rotate.sh DIRECTORY KEEP: rotate the logs of a directory.
[ -d "$1" ] && [ "$2" -ge 1 ] || { echo "usage" >&2; exit 2; }
cd "$1"
for log in *.log; do
    [ -s "$log" ] || continue
    ls "$log".* 2>/dev/null | sed 's/.*\.//' | sort -rn | while read -r number; do
        mv "$log.$number" "$log.$((number + 1))"
    done
    mv "$log" "$log.1"
    rm -f "$log.$(($2 + 1))"
    : >"$log"
done
