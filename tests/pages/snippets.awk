# SPDX-License-Identifier: BSD-3-Clause
# Writes the C++ blocks of pages as functions, one per block, in a namespace named after the page. Blocks that
# include headers are programs of their own, which tests/command/embed.sh compiles.
/^```cpp$/ { inside = 1; first = FNR + 1; text = ""; is_program = 0; next }
/^```$/ && inside {
    inside = 0
    if (is_program)
        next
    name = FILENAME
    sub(/.*\//, "", name)
    sub(/\.md$/, "", name)
    printf "namespace page_%s {\nvoid snippet_%d() {\n#line %d \"%s\"\n%s}\n}\n", tolower(name), first, first, FILENAME, text
}
inside { text = text $0 "\n" }
inside && /^#include/ { is_program = 1 }
