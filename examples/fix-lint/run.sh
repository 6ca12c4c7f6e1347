#!/bin/sh
# Runs the built-in spec fix-lint on a throwaway repository of project/. Arguments go to `pi-batch run`.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$here/../throwaway.sh"
run_builtin fix-lint -i lint_command="python3 tools/lint.py ." -i test_command="python3 -m unittest" "$@"
