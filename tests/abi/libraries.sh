# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the tests of the ABI. Requires CMAKE, and optionally CMAKE_GENERATOR.
libraries="libsextant libsextant-registration libsextant-format"
fail() { echo "FAILED: $*"; exit 1; }

# build_libraries SOURCE BUILD: compiles only the libraries, with debug information. Without optimisation and for one
# SIMD target, this takes less than half as long; exported names and layouts do not depend on either.
build_libraries() {
    "$CMAKE" -S "$1" -B "$2" -DCMAKE_BUILD_TYPE=Debug -DSEXTANT_COMMAND=OFF -DSEXTANT_UNITY=ON \
        -DCMAKE_CXX_FLAGS="-DHWY_COMPILE_ONLY_STATIC -DEIGEN_DONT_VECTORIZE" -DSEXTANT_PRECOMPILE=ON >"$2.log" 2>&1 &&
        "$CMAKE" --build "$2" >>"$2.log" 2>&1 || { tail -n 30 "$2.log"; fail "the libraries do not compile"; }
}

# dump_abi INSTALLED TO: writes the ABI of the libraries installed in a folder, as libabigail's XML, to another folder.
# The ABI includes only the types of installed headers and the standard types that these use: programs do not depend on
# the layout of other types. (libabigail's own option for this, --headers-dir, does not recognise the suffix .hpp.)
dump_abi() {
    headers=$(cd "$1/include/sextant" && find . -name '*.hpp' | sed 's|^\./||; s|^detail/||; s|\.hpp$||' | sort | paste -sd'|' -)
    standard='bits/(stl_vector|basic_string|unique_ptr|shared_ptr|std_function|stl_map)\.h|/(optional|string_view|span|array|variant)'
    printf '[suppress_type]\n  source_location_not_regexp = (/sextant/(%s)\\.hpp|%s)$\n  drop = yes\n' "$headers" \
        "$standard" >"$2/public.abignore"
    for library in $libraries; do
        abidw --suppressions "$2/public.abignore" --exported-interfaces-only --no-show-locs --no-parameter-names \
            --no-corpus-path --no-comp-dir-path --no-elf-needed --out-file "$2/$library.abi" \
            "$(find "$1" -name "$library.so")" || fail "abidw $library"
    done
}

# compare_abi OLD NEW: compares the dumps in two folders.
compare_abi() {
    incompatible=
    for library in $libraries; do
        echo "$library"
        python3 "$SOURCE/tests/abi/layouts.py" "$1/$library.abi" "$2/$library.abi" "$2/extended.abignore" || incompatible=1
        abidiff --no-added-syms --suppressions "$SOURCE/tests/abi/private.abignore" \
            --suppressions "$2/extended.abignore" "$1/$library.abi" "$2/$library.abi" || incompatible=1
    done
    [ -z "$incompatible" ]
}
