#!/bin/sh
tr -cs 'A-Za-z' '\n' | tr 'A-Z' 'a-z' | sed '/^$/d' | sort | uniq -c | sort -rn | head -n "${1:-10}"
