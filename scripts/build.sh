# SPDX-License-Identifier: BSD-3-Clause
# Sourced by ./run and ./test.

# build LOG COMMAND...: runs a build, writes its output to LOG and shows its progress: in one line
# on a terminal, otherwise every half minute. If the build fails, prints the end of its output and
# fails.
build() {
    log=$1
    shift
    mkdir -p "$(dirname "$log")"
    : >"$log"
    { "$@" 2>&1 || echo "sextant: the build failed"; } | {
        shown=$(date +%s)
        while IFS= read -r line; do
            printf '%s\n' "$line" >>"$log"
            case $line in
            "["*/*"] "*)
                if [ -t 1 ]; then
                    printf '\r%s] ' "${line%%]*}"
                elif [ $(($(date +%s) - shown)) -ge 30 ]; then
                    shown=$(date +%s)
                    echo "${line%%]*}]"
                fi ;;
            esac
        done
        [ ! -t 1 ] || printf '\r\033[K'
    }
    if tail -n 1 "$log" | grep -q '^sextant: the build failed$'; then
        tail -n 40 "$log" >&2
        return 1
    fi
}
