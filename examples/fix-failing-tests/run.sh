#!/bin/sh
# Runs the built-in spec fix-failing-tests on a throwaway repository of project/. Arguments go to `pi-batch run`.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$here/../throwaway.sh"
run_builtin fix-failing-tests -i test_command="python3 -m unittest" "$@"
