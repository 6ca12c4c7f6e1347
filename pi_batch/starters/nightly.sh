#!/bin/sh
# Every night, from cron or a systemd timer: the suite pi-batch/nightly.yaml, one branch per task that passed.
#
#   cron:     17 2 * * *  /home/me/nights/pi-batch-nightly.sh
#   systemd:  `pi-batch init nightly-systemd` writes a service and a timer
#
# Keys stand in the environment, or in a file that only you can read:
set -eu
key_file=${PI_BATCH_KEY_FILE:-$HOME/.config/pi-batch/keys}
# shellcheck source=/dev/null
[ -r "$key_file" ] && . "$key_file"

cd "$(dirname "$0")"
mkdir -p .pi-batch/state
run=.pi-batch/runs/nightly-$(date -u +%Y%m%d-%H%M%S)

# A night that takes long is not met by the next one.
exec 9> .pi-batch/nightly.lock
flock -n 9 || { echo "pi-batch-nightly: the last night still runs" >&2; exit 0; }

code=0
pi-batch run pi-batch/nightly.yaml --state .pi-batch/state --output "$run" --quiet || code=$?
pi-batch apply "$run" --as "${PI_BATCH_AS:-branch}" --push || code=$?
[ -r "$run/digest.md" ] && cat "$run/digest.md"
exit "$code"
