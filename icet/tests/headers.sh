#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# headers.sh OURS THEIRS FLAGS...: compares two folders of IceT's headers as a C compiler sees them: the value of
# every constant, the size and the members' offsets of every type, and every prototype.
set -eu
ours=$1 theirs=$2
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/headers.h" <<'END'
#include <stddef.h>
#include <stdio.h>
#include <IceT.h>
#include <IceTGL.h>
#include <IceTMPI.h>
END
seen_by_compiler() {
    includes=-I$1
    shift
    cc "$includes" "$@" -E -dM "$folder/headers.h" 2>/dev/null | awk '$2 ~ /^ICET_[A-Z0-9_]+$/ && NF > 2 {print $2}' |
        grep -vE '_EXPORT$|_H_?$|^ICET_(DEPRECATED|NO_EXPORT)' | sort >"$folder/names"
    {
        printf '#include "headers.h"\n#define MEMBER(type, member) printf(#type " " #member " %%zu\\n", offsetof(struct type, member));\n'
        printf '#define CONSTANT(name) printf(#name " %%s%%lld\\n", _Generic((name), char*: "text ", void*: "pointer ", \
            default: ""), (long long)(name));\n#define TYPE(name) printf(#name " %%zu\\n", sizeof(name));\nint main(void) {\n'
        grep -vE 'VERSION$|COMM_NULL|COMM_REQUEST_NULL|NUM_SI_STRATEGY_BUFFERS' "$folder/names" | sed 's/.*/CONSTANT(&)/'
        printf 'puts(ICET_VERSION);\n'
        for type in IceTEnum IceTBitField IceTFloat IceTDouble IceTShort IceTInt IceTUShort IceTUInt IceTByte IceTUByte \
            IceTBoolean IceTVoid IceTInt8 IceTInt16 IceTInt32 IceTInt64 IceTUnsignedInt8 IceTUnsignedInt16 \
            IceTUnsignedInt32 IceTUnsignedInt64 IceTSizeType IceTPointerArithmetic IceTContext IceTCommunicator \
            IceTCommRequest IceTImage IceTDrawCallbackType IceTGLDrawCallbackType 'struct IceTCommunicatorStruct' \
            'struct IceTCommRequestStruct'; do
            printf 'TYPE(%s)\n' "$type"
        done
        for member in Duplicate Subset Destroy Barrier Send Recv Sendrecv Gather Gatherv Allgather Alltoall Isend Irecv \
            Wait Waitany Comm_size Comm_rank data; do
            printf 'MEMBER(IceTCommunicatorStruct, %s)\n' "$member"
        done
        printf 'MEMBER(IceTCommRequestStruct, magic_number)\nMEMBER(IceTCommRequestStruct, internals)\nreturn 0;\n}\n'
    } >"$folder/values.c"
    cc -w "$includes" "$@" -aux-info "$folder/prototypes" -o "$folder/values" "$folder/values.c"
    "$folder/values"
    sed -nE 's|^/\*.*\*/ (extern .*[ *]icet[A-Z].*)|\1|p' "$folder/prototypes" | sort
}
seen_by_compiler "$ours" "$@" >"$folder/ours"
seen_by_compiler "$theirs" "$@" >"$folder/theirs"
diff "$folder/theirs" "$folder/ours"
prototypes=$(grep -c '^extern' "$folder/ours")
echo "$(wc -l <"$folder/ours") lines are equal, $prototypes of them prototypes"
[ "$prototypes" -eq 62 ]
