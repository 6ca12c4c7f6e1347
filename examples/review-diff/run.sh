#!/bin/sh
# Runs the built-in spec review-diff on a throwaway repository of project/. Arguments go to `pi-batch run`.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$here/../throwaway.sh"
run_builtin review-diff -i base=main "$@"
