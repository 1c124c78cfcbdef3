// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/format/zarr_files.hpp"

namespace sextant::test {

/// A store of Zarr in one text, for a fuzzer: the attributes of its group, the metadata of its
/// array "0" and the chunk "0.0.0", separated by zero bytes. If the attributes have units, they are
/// those of the first and last axes of a signal of HyperSpy, whose array is "data".
struct FuzzedStore {
    std::string attributes, array, chunk;

    static FuzzedStore of(const std::string& text) {
        const std::size_t first = std::min(text.find('\0'), text.size());
        const std::size_t second = std::min(text.find('\0', first + 1), text.size());
        return {text.substr(0, first), text.substr(std::min(first + 1, second), second - first),
                text.substr(std::min(second + 1, text.size()))};
    }
    std::string text() const { return attributes + '\0' + array + '\0' + chunk; }
    void write(const std::string& path) const {
        const bool signal = attributes.find("units") != std::string::npos;
        const std::string group = signal ? path + "/Experiments/a" : path;
        const std::string samples = group + (signal ? "/data" : "/0");
        std::filesystem::remove_all(path);
        put_file(group + (signal ? "/axis-0" : "") + "/.zattrs", attributes);
        if (signal)
            put_file(group + "/axis-2/.zattrs", attributes);
        put_file(samples + "/.zarray", array.substr(0, array.find('\0')));
        put_file(samples + "/0.0.0", chunk);
    }
};

/// Valid stores, one for each compressor.
inline std::vector<FuzzedStore> zarr_seeds() {
    std::vector<FuzzedStore> all;
    for (const ZarrCompressor& compressor : zarr_compressors()) {
        const ZarrPattern array{.compressor = compressor};
        all.push_back(
            {R"({"multiscales": [{"axes": [{"name": "z", "type": "space"}, {"name": "y", )"
             R"("type": "space", "unit": "nanometer"}, {"name": "x", "type": "space", )"
             R"("unit": "nanometer"}], "datasets": [{"path": "0", "coordinateTransformations": )"
             R"([{"type": "scale", "scale": [1, 2.5, 2.5]}]}]}]})",
             array.text(), compressor.compress(zarr_chunk<std::uint16_t>(array, {0, 0, 0}))});
    }
    const ZarrPattern array;
    all.push_back({R"({"_type": "UniformDataAxis", "name": "x", "scale": 0.5, "units": "nm"})",
                   array.text(), zarr_chunk<std::uint16_t>(array, {0, 0, 0})});
    return all;
}

} // namespace sextant::test
