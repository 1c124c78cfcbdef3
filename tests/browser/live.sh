#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Opens the page of a series that is followed in a headless browser; exit code 77 if there is none. As pages.sh.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
chromium=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || true)}
node=${NODE:-$(command -v node || true)}
if [ -z "$chromium" ] || [ -z "$node" ]; then
    echo "skipped: pages are looked at where chromium and nodejs are installed"
    exit 77
fi
folder=$(mktemp -d)
trap 'kill $producer $process 2>/dev/null || true; rm -rf "$folder"' EXIT
producer= process=
"$SEXTANT" synthesize -o "$folder/movie.mrc" --frames 200 --width 256 --height 256 --specimen carbon --blanks 5 \
    --drift-x .3 >/dev/null
/usr/bin/python3 -B "$here/../command/pace.py" "$folder/movie.mrc" "$folder/grows.mrc" mrc 20 "$folder/gate" &
producer=$!
"$SEXTANT" register "$folder/grows.mrc" -o "$folder/out" --follow --serve 127.0.0.1:0 >"$folder/text" 2>"$folder/errors" &
process=$!
url=
for _ in $(seq 600); do
    url=$(sed -n 's/^sextant: the page is at //p' "$folder/errors")
    [ -z "$url" ] || break
    if ! kill -0 $process 2>/dev/null; then
        cat "$folder/errors"
        grep -q 'was built without cpp-httplib' "$folder/errors" && exit 77
        exit 1
    fi
    sleep .1
done
"$node" "$here/live.mjs" "$chromium" "$url" "$folder/gate" ${PICTURES:+"$PICTURES"}
wait $process || { cat "$folder/errors"; exit 1; }
