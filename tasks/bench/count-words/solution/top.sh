#!/bin/sh
# top.sh [N]: the most frequent words of standard input.
count=${1-10}
case $count in
'' | *[!0-9]* | 0)
    echo "top.sh: N must be a number from 1 on" >&2
    exit 2
    ;;
esac
LC_ALL=C
export LC_ALL
tr -cs 'A-Za-z' '\n' | tr 'A-Z' 'a-z' | sed '/^$/d' | sort | uniq -c | awk '{ print $1, $2 }' |
    sort -k1,1nr -k2,2 | head -n "$count"
