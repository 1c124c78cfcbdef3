// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/atomic_file.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/json_value.hpp"
#include "sextant/format/array_formats.hpp"
#include "sextant/format/chunk_cutter.hpp"
#include "sextant/format/zarr_array.hpp"
#include "sextant/format/zarr_chunks.hpp"
#include "sextant/format/zarr_writing.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sextant::format {

namespace {

/// The axes of OME-Zarr 0.4 in their order.
constexpr std::string_view ome_letters = "tczyx";

/// True if OME-Zarr can describe the axes: the last ones are y and x, and all are in its order.
bool has_ome_axes(const ArrayHeader& header) {
    std::size_t next = 0;
    for (const std::string& name : header.names) {
        const std::size_t at = name.size() == 1 ? ome_letters.find(name) : std::string::npos;
        if (at == std::string::npos || at < next)
            return false;
        next = at + 1;
    }
    const std::size_t axes = header.names.size();
    return axes >= 2 && header.names[axes - 2] == "y" && header.names[axes - 1] == "x";
}

/// The attributes of the group: OME-Zarr's metadata, if it knows the axes.
std::string group_attributes(const std::string& path, const ArrayHeader& header) {
    if (!has_ome_axes(header))
        return "{}\n";
    const bool known = header.pixel.known();
    const std::string unit = known ? ome_unit(header.pixel.unit) : "";
    Json axes = Json::array(), scale = Json::array();
    for (const std::string& name : header.names) {
        double step = 1;
        if (name == "t") {
            step = header.frame_interval > 0 ? header.frame_interval : 1;
            axes.add(ome_axis(name, "time", header.frame_interval > 0 ? "second" : ""));
        } else if (name == "c") {
            axes.add(ome_axis(name, "channel", ""));
        } else {
            const bool stated = known && (name != "z" || header.slice_distance > 0);
            axes.add(ome_axis(name, "space", stated ? unit : ""));
            if (stated)
                step = name == "z"   ? header.slice_distance
                       : name == "y" ? header.pixel.y
                                     : header.pixel.x;
        }
        scale.add(step);
    }
    const Json transformations = Json::array({Json{{"type", "scale"}, {"scale", scale}}});
    const Json dataset{{"path", "0"}, {"coordinateTransformations", transformations}};
    const Json image{{"version", "0.4"},
                     {"name", std::filesystem::path(path).stem().string()},
                     {"axes", axes},
                     {"datasets", Json::array({dataset})}};
    return Json{{"multiscales", Json::array({image})}}.text() + "\n";
}

class ZarrBlockSink final : public ArraySink {
  public:
    ZarrBlockSink(const std::string& path, ArrayHeader header)
        : ArraySink(path, std::move(header)),
          folder_(new_zarr_store(path)),
          array_(zarr_array(this->header())),
          buffers_(static_cast<std::size_t>(zarr_threads(array_.chunk_bytes()))),
          cutter_(
              this->header(),
              [this](std::span<const std::int64_t> position, ChunkBuffers& chunk) {
                  encode_zarr_chunk(chunk.chunk, chunk.stored);
                  put("0/" + array_.chunk_name(position),
                      {reinterpret_cast<const char*>(chunk.stored.data()), chunk.stored.size()});
              },
              buffers_) {
        put(".zgroup", zarr_group_text);
        put(".zattrs", group_attributes(path, this->header()));
        put("0/.zarray", zarr_array_text(array_));
        if (!this->header().names.empty())
            put("0/.zattrs", Json{{"_ARRAY_DIMENSIONS", Json(this->header().names)}}.text() + "\n");
    }

    void commit() override { folder_.commit(); }

  private:
    static ZarrArray zarr_array(const ArrayHeader& header) {
        ZarrArray array{header.lengths, header.chunk, header.sample};
        array.fill = header.fill;
        array.separator = '/';
        array.codec = ZarrCodec::zstd;
        return array;
    }

    void put(const std::string& name, std::string_view bytes) {
        put_zarr_file(path(), folder_.temporary(), name, bytes);
    }

    void store(const ArrayBlock& block, std::span<const std::byte> from) override {
        cutter_.cut(block, from);
    }

    AtomicFolder folder_;
    ZarrArray array_;
    std::vector<ChunkBuffers> buffers_; ///< one per thread
    BlockCutter cutter_;
};

} // namespace

bool zarr_array_keeps_pixel(const ArrayHeader& header) {
    return has_ome_axes(header);
}

std::unique_ptr<ArraySink> create_zarr_array(const std::string& path, ArrayHeader header) {
    return std::make_unique<ZarrBlockSink>(path, std::move(header));
}

} // namespace sextant::format
