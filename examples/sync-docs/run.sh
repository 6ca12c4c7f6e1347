#!/bin/sh
# Runs the built-in spec sync-docs on a throwaway repository of project/. Arguments go to `pi-batch run`.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$here/../throwaway.sh"
run_builtin sync-docs -i check_command="python3 -m doctest README.md" "$@"
