// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/format/zarr3_files.hpp"

namespace sextant::test {

/// A store of Zarr in one text, for a fuzzer: the attributes of its group, the metadata of its
/// array "0" and the chunk "0.0.0", separated by zero bytes. If the attributes have units, they are
/// those of the first and last axes of a signal of HyperSpy, whose array is "data". If the metadata
/// of the array state the type of the node, all are of version 3.
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
        if (array.find("node_type") != std::string::npos)
            return write_version_3(path);
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
    void write_version_3(const std::string& path) const {
        std::filesystem::remove_all(path);
        put_file(path + "/zarr.json", R"({"zarr_format": 3, "node_type": "group", "attributes": )" +
                                          attributes.substr(0, attributes.find('\0')) + "}");
        put_file(path + "/0/zarr.json", array.substr(0, array.find('\0')));
        put_file(path + "/0/c/0/0/0", chunk);
    }
};

/// Valid stores, one for each compressor; of version 3, also with shards.
inline std::vector<FuzzedStore> zarr_seeds() {
    std::vector<FuzzedStore> all;
    for (const ZarrCompressor& compressor : zarr_compressors()) {
        const ZarrPattern array{.compressor = compressor};
        all.push_back(
            {R"({"multiscales": [{"axes": [{"name": "z", "type": "space"}, {"name": "y", )"
             R"("type": "space", "unit": "nanometer"}, {"name": "x", "type": "space", )"
             R"("unit": "nanometer"}], "datasets": [{"path": "0", "coordinateTransformations": )"
             R"([{"type": "scale", "scale": [1, 2.5, 2.5]}]}]}]})",
             array.text(), compressor.compress(zarr_chunk(array, {0, 0, 0}))});
    }
    for (const ZarrCompressor& compressor : zarr3_compressors()) {
        const std::string image =
            R"({"ome": {"version": "0.5", "multiscales": [{"axes": [{"name": "t", "type": )"
            R"("time"}, {"name": "y", "type": "space"}, {"name": "x", "type": "space"}], )"
            R"("datasets": [{"path": "0"}]}]}})";
        Zarr3Pattern array{.order = {2, 0, 1}, .compressor = compressor};
        all.push_back({image, array.text(), compressor.compress(zarr3_chunk(array, {0, 0, 0}))});
        array.shards = Zarr3Shards{};
        all.push_back({image, array.text(), zarr3_shard(array, {0, 0, 0})});
    }
    const ZarrPattern array;
    all.push_back({R"({"_type": "UniformDataAxis", "name": "x", "scale": 0.5, "units": "nm"})",
                   array.text(), zarr_chunk(array, {0, 0, 0})});
    return all;
}

} // namespace sextant::test
