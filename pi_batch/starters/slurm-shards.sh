#!/bin/sh
# A suite as a Slurm job array: each element runs one shard, and a job that waits for all makes one run of them.
#
#   sh pi-batch-shards.sh SUITE MODEL RUNS_DIR [SHARDS]
#
# RUNS_DIR lies on a file system that all nodes share. Keys come from a file that only you can read, named by
# PI_BATCH_KEYS: lines such as ANTHROPIC_API_KEY=...
# An element that is requeued, or a second call with the same RUNS_DIR, goes on with what is there.
set -eu

run_shard() { # in an element of the array
    if [ -n "${PI_BATCH_KEYS:-}" ]; then
        set -a
        # shellcheck disable=SC1090
        . "$PI_BATCH_KEYS"
        set +a
    fi
    TMPDIR="$RUNS_DIR/tmp" # where workspaces are: another node finds them, too
    export TMPDIR
    code=0
    pi-batch run "$SUITE" -m "$MODEL" --shard "$SLURM_ARRAY_TASK_ID/$SHARDS" --manifest "$RUNS_DIR/manifest.json" \
        --jobs "${SLURM_CPUS_PER_TASK:-1}" --output "$RUNS_DIR/shard-$SLURM_ARRAY_TASK_ID" || code=$?
    [ "$code" -le 1 ] || exit "$code" # tasks that failed are results: the merged run is judged
}

merge_shards() { # when all elements have ended, however they did
    exec pi-batch merge "$RUNS_DIR"/shard-* --output "$RUNS_DIR/merged"
}

case "${PI_BATCH_STEP:-}" in
    shard) run_shard; exit 0 ;;
    merge) merge_shards ;;
esac

SUITE=${1:?SUITE} MODEL=${2:?MODEL} RUNS_DIR=${3:?RUNS_DIR} SHARDS=${4:-4}
mkdir -p "$RUNS_DIR/tmp"
RUNS_DIR=$(cd "$RUNS_DIR" && pwd)
export SUITE MODEL RUNS_DIR SHARDS
[ -e "$RUNS_DIR/manifest.json" ] ||
    pi-batch plan "$SUITE" -m "$MODEL" --shards "$SHARDS" --manifest "$RUNS_DIR/manifest.json"
array=$(PI_BATCH_STEP=shard sbatch --parsable --export=ALL --requeue --job-name=pi-batch-shard \
    --array="1-$SHARDS" --cpus-per-task=2 --time=03:00:00 --output="$RUNS_DIR/shard-%a.log" "$0")
PI_BATCH_STEP=merge sbatch --parsable --export=ALL --job-name=pi-batch-merge --dependency="afterany:${array%%;*}" \
    --time=00:15:00 --output="$RUNS_DIR/merge.log" "$0"
