#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Manual pages, which man accepts without warnings, and completions of bash and zsh.
# MANUALS: the folder that sextant_manuals has written.
. "$(dirname "$0")/start.sh"

for command in $("$SEXTANT" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
    "$SEXTANT" "$command" --help >"$folder/help" 2>&1 || continue # of a program that is not built
    page=$MANUALS/man1/sextant-$command.1
    [ -s "$page" ] || fail "no manual page of $command"
    grep -qF ".BR sextant\\-$command (1)" "$MANUALS/man1/sextant.1" || fail "sextant(1) does not list $command"
done
if command -v man >/dev/null && command -v groff >/dev/null; then
    for page in "$MANUALS"/man1/*.1; do
        warnings=$(LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2>&1 >/dev/null)
        [ -z "$warnings" ] || fail "$page: $warnings"
    done
    man -l "$MANUALS/man1/sextant-apply.1" >"$folder/apply.txt"
    grep -q -- '--by NAME' "$folder/apply.txt" || fail "sextant-apply(1) lacks an option"
fi

complete() { # WORD...: what bash proposes for the last word
    bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _sextant; echo "${COMPREPLY[*]}"' \
        bash "$MANUALS/bash/sextant" "$@"
}
[ "$(complete sextant comp)" = composite ] || fail "a command: $(complete sextant comp)"
[ "$(complete sextant apply --by l)" = lanczos ] || fail "a value: $(complete sextant apply --by l)"
[ "$(complete sextant apply x.json --mem)" = --memory ] || fail "an option: $(complete sextant apply x.json --mem)"
[ -z "$(complete sextant apply x.j)" ] || fail "a file is completed by bash itself"
if command -v zsh >/dev/null; then
    zsh -n "$MANUALS/zsh/_sextant" || fail "zsh does not accept its completion"
fi
