// SPDX-License-Identifier: BSD-3-Clause
// Reads arbitrary bytes as a file with an array. The format is chosen by an extension, which is set
// at compile time.
#include "sextant/core/error.hpp"
#include "sextant/format/catalogue.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/format/temporary_folder.hpp"
#include "tests/fuzz/read_some.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    static const sextant::test::TemporaryFolder folder;
    static const std::string path = folder.path("fuzz" SEXTANT_FUZZ_EXTENSION);
    sextant::test::fill_file(path, {reinterpret_cast<const char*>(bytes), size});
    try {
        sextant::test::read_some(*sextant::format::open_array(path, {}, 1 << 16));
    } catch (const sextant::InvalidFile&) {
        return 0;
    }
    return 0;
}
