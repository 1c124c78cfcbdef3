// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/atomic_file.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/json_value.hpp"
#include "sextant/format/array_formats.hpp"
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
        : ArraySink(path, std::move(header)), folder_(new_zarr_store(path)) {
        array_.sides = this->header().lengths;
        array_.chunk = this->header().chunk;
        array_.sample = this->header().sample;
        array_.fill = this->header().fill;
        array_.separator = '/';
        array_.codec = ZarrCodec::zstd;
        buffers_.resize(static_cast<std::size_t>(zarr_threads(array_.chunk_bytes())));
        put(".zgroup", zarr_group_text);
        put(".zattrs", group_attributes(path, this->header()));
        put("0/.zarray", zarr_array_text(array_));
        if (!this->header().names.empty())
            put("0/.zattrs", Json{{"_ARRAY_DIMENSIONS", Json(this->header().names)}}.text() + "\n");
    }

    void commit() override { folder_.commit(); }

  private:
    struct Buffers {
        std::vector<std::byte> chunk, stored;
    };

    void put(const std::string& name, std::string_view bytes) {
        put_zarr_file(path(), folder_.temporary(), name, bytes);
    }

    void store(const ArrayBlock& block, std::span<const std::byte> from) override {
        std::vector<std::int64_t> counts;
        std::int64_t all = 1;
        for (std::size_t axis = 0; axis < block.start.size(); ++axis) {
            counts.push_back((block.count[axis] + array_.chunk[axis] - 1) / array_.chunk[axis]);
            all *= counts.back();
        }
        const std::vector<Elements> steps = steps_of(block.count);
        run_zarr_tasks(all, static_cast<int>(buffers_.size()), [&](std::int64_t task, int thread) {
            store_chunk(block, counts, steps, task, from,
                        buffers_[static_cast<std::size_t>(thread)]);
        });
    }

    void store_chunk(const ArrayBlock& block, std::span<const std::int64_t> counts,
                     std::span<const Elements> steps, std::int64_t task,
                     std::span<const std::byte> from, Buffers& buffers) {
        const std::size_t axes = block.start.size();
        const Bytes size = size_of(array_.sample);
        std::vector<std::int64_t> position(axes), count(axes);
        Elements offset = 0;
        bool whole = true;
        for (std::size_t axis = axes; axis-- > 0;) {
            const std::int64_t at = task % counts[axis] * array_.chunk[axis];
            task /= counts[axis];
            position[axis] = (block.start[axis] + at) / array_.chunk[axis];
            count[axis] = std::min(array_.chunk[axis], block.count[axis] - at);
            whole = whole && count[axis] == array_.chunk[axis];
            offset += at * steps[axis];
        }
        buffers.chunk.resize(static_cast<std::size_t>(array_.chunk_bytes()));
        if (!whole)
            fill_samples(array_.fill, buffers.chunk);
        copy_block(count, size, from.data() + offset * size, steps, buffers.chunk.data(),
                   steps_of(array_.chunk));
        if (consists_of(array_.fill, buffers.chunk))
            return;
        encode_zarr_chunk(buffers.chunk, buffers.stored);
        put("0/" + array_.chunk_name(position),
            {reinterpret_cast<const char*>(buffers.stored.data()), buffers.stored.size()});
    }

    AtomicFolder folder_;
    ZarrArray array_;
    std::vector<Buffers> buffers_; ///< one per thread
};

} // namespace

std::unique_ptr<ArraySink> create_zarr_array(const std::string& path, ArrayHeader header) {
    return std::make_unique<ZarrBlockSink>(path, std::move(header));
}

} // namespace sextant::format
