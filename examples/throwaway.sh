# Read by the run.sh of each example: runs a spec on a git repository made for this one run.
#
#   here=...; run_builtin NAME [ARGUMENT...]
#
# The repository is a copy of project/ in a temporary directory, with what generate.py writes where there is one;
# where there is a change/, its files are a second commit, on a branch. The model's part is session.jsonl, unless the arguments name a model.

run_builtin() {
    name=$1
    shift
    root=$(CDPATH= cd -- "$here/../.." && pwd)
    if [ -x "$root/.venv/bin/pi-batch" ]; then PATH=$root/.venv/bin:$PATH; fi
    if ! command -v pi-batch >/dev/null; then
        echo "pi-batch is not installed: run \`make demo\` in $root once, or \`pip install $root\`" >&2
        return 2
    fi
    repository=$(mktemp -d "${TMPDIR:-/tmp}/pi-batch-example.XXXXXX")/$(basename "$here")
    make_repository "$here" "$repository" >&2 || return
    model=replay
    for argument in "$@"; do
        case $argument in -m* | --model | --model=*) model=given ;; esac
    done
    if [ "$model" = replay ]; then set -- -m "replay/$here/session.jsonl" "$@"; fi
    echo "repository: $repository" >&2
    (cd "$repository" && pi-batch run "$name" "$@")
}

make_repository() { # make_repository EXAMPLE DIRECTORY
    unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY
    mkdir "$2" && cp -R "$1/project/." "$2" || return
    if [ -f "$1/generate.py" ]; then python3 "$1/generate.py" "$2" || return; fi
    git_in "$2" init -q --template= || return
    git_in "$2" symbolic-ref HEAD refs/heads/main && commit "$2" "The project" || return
    if [ -d "$1/change" ]; then
        git_in "$2" checkout -q -b change && cp -R "$1/change/." "$2" && commit "$2" "The change"
    fi
}

commit() { # commit DIRECTORY MESSAGE
    find "$1" -name __pycache__ -prune -exec rm -rf {} +
    git_in "$1" add -A && git_in "$1" commit -q -m "$2"
}

git_in() { # git_in DIRECTORY ARGUMENT...: git as the user has not configured it
    directory=$1
    shift
    GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null \
        GIT_AUTHOR_DATE='2026-11-30T12:00:00Z' GIT_COMMITTER_DATE='2026-11-30T12:00:00Z' \
        git -C "$directory" -c user.name=example -c user.email=example@example.invalid \
        -c commit.gpgSign=false -c core.hooksPath=/dev/null -c core.excludesFile=/dev/null "$@"
}
