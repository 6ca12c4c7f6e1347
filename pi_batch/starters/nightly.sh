#!/bin/sh
# Every night, from cron or a systemd timer: tasks on a clean checkout, one branch per task that passed.
#
#   cron:     17 2 * * *  /home/me/project/pi-batch-nightly.sh
#   systemd:  systemd-run --user --on-calendar='*-*-* 02:17' --unit pi-batch-nightly /home/me/project/pi-batch-nightly.sh
#
# Keys stand in the environment or in a file that only you can read, named here:
set -eu
key_file=${PI_BATCH_KEY_FILE:-$HOME/.config/pi-batch/keys}
# shellcheck source=/dev/null
[ -r "$key_file" ] && . "$key_file"

cd "$(dirname "$0")"
git pull --quiet --ff-only
run=.pi-batch/runs/nightly-$(date -u +%Y%m%d-%H%M%S)

# A lock, so that a night that takes long is not met by the next one.
exec 9> .git/pi-batch-nightly.lock
flock -n 9 || { echo "pi-batch-nightly: the last night still runs" >&2; exit 0; }

code=0
pi-batch run fix-lint sync-docs triage-todos --max-cost-usd 1 --output "$run" --markdown "$run.md" || code=$?
pi-batch apply "$run" --as branch --push || code=$?
exit "$code"
