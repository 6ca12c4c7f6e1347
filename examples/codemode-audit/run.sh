#!/bin/sh
# Runs task.yaml on a throwaway repository of project/ and 300 generated files. Arguments go to `pi-batch run`.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
. "$here/../throwaway.sh"
run_builtin task.yaml "$@"
