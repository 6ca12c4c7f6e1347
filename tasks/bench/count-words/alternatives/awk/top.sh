#!/bin/sh
n=10
if [ $# -gt 0 ]; then n=$1; fi
if ! printf '%s\n' "$n" | grep -Eq '^[1-9][0-9]*$'; then echo "N?" >&2; exit 2; fi
LC_ALL=C awk '{
    gsub(/[^A-Za-z]+/, " ")
    for (i = 1; i <= NF; i++) count[tolower($i)]++
} END { for (word in count) print count[word], word }' | LC_ALL=C sort -k1,1nr -k2,2 | sed "${n}q"
