// SPDX-License-Identifier: BSD-3-Clause
// Reads arbitrary bytes as an image of colours, which may be deep. The format is chosen by an
// extension, which is set at compile time.
#include "sextant/core/error.hpp"
#include "sextant/format/catalogue.hpp"

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "tests/format/temporary_folder.hpp"

namespace {

using sextant::test::TemporaryFolder;

/// A folder with the manifest that raw pixels need.
const TemporaryFolder& folder_with_manifest() {
    static const TemporaryFolder folder;
    static const bool written = [] {
        sextant::test::fill_file(folder.path("manifest.json"), R"({"size": [13, 7]})");
        return true;
    }();
    (void)written;
    return folder;
}

void read_image(const std::string& path) {
    constexpr sextant::Elements most = 1 << 20;
    const sextant::format::ImageHeader header = sextant::format::read_header(path);
    if (header.shape.elements() > most)
        return;
    const bool deep = header.element == sextant::deep_f32;
    const sextant::ImageShape read =
        deep ? sextant::format::read_deep(path).shape : sextant::format::read_image(path).shape();
    if (read != header.shape)
        throw std::logic_error("an image has another shape than its header states");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    static const std::string path = folder_with_manifest().path("fuzz" SEXTANT_FUZZ_EXTENSION);
    sextant::test::fill_file(path, {reinterpret_cast<const char*>(bytes), size});
    try {
        read_image(path);
    } catch (const sextant::InvalidFile&) {
        return 0;
    }
    return 0;
}
