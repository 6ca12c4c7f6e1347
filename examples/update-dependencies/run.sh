#!/bin/sh
# Runs the built-in spec update-dependencies on a throwaway repository of project/. Arguments go to `pi-batch run`.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$here/../throwaway.sh"
run_builtin update-dependencies \
    -i outdated_command="python3 tools/outdated.py" -i setup_command="python3 tools/install.py" \
    -i test_command="PYTHONPATH=.deps python3 -m unittest" "$@"
