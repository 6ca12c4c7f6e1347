#!/usr/bin/env bash
# Makes a virtual environment with pi-batch in it, outside of the checkout.
# Every package is held by its hash (requirements.txt), unless another version was asked for.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
venv=$RUNNER_TEMP/pi-batch/venv
version=${PI_BATCH_ACTION_VERSION:-}
wanted=$version-$(cksum < "$here/requirements.txt")
[[ -f $venv/.stamp && $(< "$venv/.stamp") == "$wanted" ]] && exit 0

if [[ -n $version && ! $version =~ ^[0-9][0-9A-Za-z.+-]*$ ]]; then
    echo "::error title=pi-batch::input version: not a version number"
    exit 2
fi
for python in python3.14 python3.13 python3.12 python3.11 python3; do
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null && break
    python=""
done
if [[ -z $python ]]; then
    echo "::error title=pi-batch::Python 3.11 or newer is needed: put actions/setup-python before this step"
    exit 2
fi

cd / # no module and no configuration of the checkout has a say
rm -rf "$venv"
"$python" -I -m venv "$venv"
pip=("$venv/bin/python" -I -m pip install --quiet --disable-pip-version-check --no-input)
if [[ -n $version ]]; then
    "${pip[@]}" "pi-batch==$version"
else
    "${pip[@]}" --require-hashes -r "$here/requirements.txt"
    "${pip[@]}" --no-deps --no-build-isolation "$here/.."
fi
printf '%s' "$wanted" > "$venv/.stamp"
