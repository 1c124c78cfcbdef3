// SPDX-License-Identifier: BSD-3-Clause
// Reads arbitrary bytes as the files of a store of Zarr (zarr_store.hpp), as frames and as an
// array.
#include "sextant/core/error.hpp"
#include "sextant/format/catalogue.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/format/temporary_folder.hpp"
#include "tests/fuzz/read_some.hpp"
#include "tests/fuzz/zarr_store.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    static const sextant::test::TemporaryFolder folder;
    const std::string path = folder.path("a.zarr");
    sextant::test::FuzzedStore::of({reinterpret_cast<const char*>(bytes), size}).write(path);
    try {
        sextant::test::read_some(*sextant::format::open_frames(path));
    } catch (const sextant::InvalidFile&) {
    }
    try {
        sextant::test::read_some(*sextant::format::open_array(path, {}, 1 << 16));
    } catch (const sextant::InvalidFile&) {
    }
    return 0;
}
