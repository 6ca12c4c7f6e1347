#!/bin/sh
# rotate.sh DIRECTORY KEEP: rotate the logs of a directory.
if [ $# -ne 2 ]; then
    echo "usage: rotate.sh DIRECTORY KEEP" >&2
    exit 2
fi
case $2 in
'' | *[!0-9]* | 0*)
    echo "rotate.sh: KEEP must be a number from 1 on" >&2
    exit 2
    ;;
esac
if [ ! -d "$1" ]; then
    echo "rotate.sh: no such directory: $1" >&2
    exit 2
fi
cd -- "$1" || exit 2
for log in ./*.log; do
    [ -f "$log" ] && [ -s "$log" ] || continue
    highest=0
    for old in "$log".*; do
        number=${old##"$log".}
        case $number in '' | *[!0-9]* | 0*) continue ;; esac
        [ "$number" -gt "$highest" ] && highest=$number
    done
    number=$highest
    while [ "$number" -ge 1 ]; do
        if [ -f "$log.$number" ]; then
            if [ "$number" -ge "$2" ]; then
                rm -f -- "$log.$number"
            else
                mv -- "$log.$number" "$log.$((number + 1))"
            fi
        fi
        number=$((number - 1))
    done
    mv -- "$log" "$log.1"
    : >"$log"
done
exit 0
