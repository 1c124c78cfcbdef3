#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Blending in f16 and u8: reported, and stored in the file if its format has the type.
. "$(dirname "$0")/start.sh"
composite="$SEXTANT composite"

for element in f32 f16 u8; do
    $composite "$SAMPLE" -o "$folder/$element.exr" --element $element --json="$folder/$element.json" >/dev/null
    grep -q "\"element\": \"rgba $element\"" "$folder/$element.json" || fail "the report does not show $element"
    $composite "$folder/$element.exr" -o "$folder/again.exr" --element $element >/dev/null
    cmp "$folder/$element.exr" "$folder/again.exr" || fail "$element does not survive reading and writing"
done
cmp -s "$folder/f32.exr" "$folder/f16.exr" && fail "halves were floats"
cmp -s "$folder/f32.exr" "$folder/u8.exr" && fail "bytes were floats"
[ "$(stat -c %s "$folder/f16.exr")" -lt "$(stat -c %s "$folder/f32.exr")" ] || fail "halves take as much as floats"
$composite "$SAMPLE" -o "$folder/u8.png" --element u8 --background white >/dev/null
echo "f32, f16 and u8 blended and written"
