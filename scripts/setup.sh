#!/bin/sh
# Makes .venv with everything that the project and its tests need. Does nothing when it is up to date.
# Missing system packages are installed where that is possible without a question (as root, or by sudo -n).
set -eu
cd "$(dirname "$0")/.."

say() { printf '%s\n' "setup: $*" >&2; }

install_packages() { # install_packages PACKAGE...: by apt, as root or with a sudo that asks nothing
    if [ "$(id -u)" = 0 ]; then sudo=""; elif sudo -n true 2>/dev/null; then sudo="sudo -n"; else sudo=none; fi
    if ! command -v apt-get >/dev/null || [ "$sudo" = none ]; then
        say "please install: $*"
        exit 1
    fi
    say "installing $*"
    $sudo apt-get update -qq >/dev/null
    DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

find_python() { # print the newest python that is at least 3.11
    for name in ${PYTHON:-} python3.14 python3.13 python3.12 python3.11 python3; do
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$name"
            return 0
        fi
    done
    return 1
}

python=$(find_python) || { install_packages python3 python3-venv && python=$(find_python); } || {
    say "Python 3.11 or newer is needed"
    exit 1
}
command -v git >/dev/null || install_packages git ca-certificates

stamp=".venv/.stamp"
wanted=$(cat pyproject.toml pi_batch/__init__.py scripts/setup.sh | cksum)
[ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted $PWD" ] && exit 0

# Without it sandboxes are tried by Landlock alone.
if [ "$(uname -s)" = Linux ] && ! command -v bwrap >/dev/null; then
    (install_packages bubblewrap) || say "going on without bubblewrap"
fi

say "making .venv with $("$python" --version 2>&1)"
rm -rf .venv
if ! "$python" -m venv .venv 2>/dev/null; then
    rm -rf .venv
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    install_packages "python$version-venv"
    "$python" -m venv .venv
fi
.venv/bin/python -m pip install -qq --disable-pip-version-check -e '.[dev]' || {
    say "pip could not install the dependencies (see above)"
    exit 1
}
printf '%s' "$wanted $PWD" > "$stamp"
