#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The page of a series that is followed, with clients of all kinds (live_clients.py), and what it does to the run:
# nothing.
. "$(dirname "$0")/start.sh"
python=/usr/bin/python3
here=$(cd "$(dirname "$0")" && pwd)
"$python" -c 'import sys' 2>/dev/null || { echo "skipped: no Python"; exit 77; }
cd "$folder"
producer= process=
before_exit() { kill $producer $process 2>/dev/null || true; }
"$SEXTANT" synthesize -o movie.mrc --frames 240 --width 256 --height 256 --specimen carbon --drift-x .3 --blanks 5 >/dev/null

if ! "$SEXTANT" register movie.mrc -o refused --follow --serve pear 2>errors; then
    grep -q '"pear" is not an address, expected for example 127.0.0.1:8080' errors || { cat errors; fail "pear"; }
else
    fail "pear is accepted as an address"
fi
"$python" -B "$here/pace.py" movie.mrc grows.mrc mrc 15 gate &
producer=$!
"$SEXTANT" register grows.mrc -o out --follow --reproducible --serve 127.0.0.1:0 >text 2>errors &
process=$!
for _ in $(seq 600); do
    url=$(sed -n 's/^sextant: the page is at //p' errors)
    [ -z "$url" ] || break
    if ! kill -0 $process 2>/dev/null; then # a program without a server says so
        grep -q 'was built without cpp-httplib' errors || { cat errors; fail "no page"; }
        [ ! -e out ] || fail "a run without its page left a folder"
        echo "skipped: built without cpp-httplib"
        exit 77
    fi
    sleep .1
done
port=${url#http://127.0.0.1:}
port=${port%%/*}
"$SEXTANT" register grows.mrc -o refused --follow --serve "127.0.0.1:$port" >text2 2>errors2 && fail "a port in use is accepted"
grep -q "127.0.0.1:$port: no server can listen there: Address already in use" errors2 || { cat errors2; fail "no message that the port is in use"; }
[ ! -e refused ] || fail "a refused page left a folder"
"$python" -B "$here/live_clients.py" "$url" gate || fail "clients"
wait $producer
wait $process || { cat errors; fail "the run with a page"; }
grep -q 'the page: 1 client disconnected, because it was too slow' errors || { cat errors; fail "the slow client is not reported"; }
"$SEXTANT" register grows.mrc -o batch --reproducible >text 2>errors || { cat errors; fail "register"; }
diff -r batch out || fail "the page changes the results"
