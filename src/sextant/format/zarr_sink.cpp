// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/atomic_file.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/json_value.hpp"
#include "sextant/format/checks.hpp"
#include "sextant/format/frame_formats.hpp"
#include "sextant/format/halving.hpp"
#include "sextant/format/zarr_array.hpp"
#include "sextant/format/zarr_array_sink.hpp"
#include "sextant/format/zarr_chunks.hpp"
#include "sextant/format/zarr_writing.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace sextant::format {

namespace {

namespace fs = std::filesystem;

/// The first axis of the arrays of a store.
struct Axes {
    bool stack;  ///< true if it is that of frames
    bool slices; ///< true if frames are slices of a volume
};

/// An array of the store: level 0 has all samples, each further one half as many along each axis.
struct Level {
    std::int64_t frames;
    ImageShape shape;
    std::int64_t z = 1, y = 1, x = 1; ///< the distance of samples, in samples of level 0
};

/// The next level of a pyramid; none if the largest side is small enough.
std::optional<Level> next_level(const Level& level, Axes axes) {
    constexpr std::int64_t small = 256;
    const std::int64_t planes = axes.slices ? level.frames : 1;
    if (std::max({planes, level.shape.height, level.shape.width}) <= small)
        return std::nullopt;
    Level next = level;
    const auto halve = [](std::int64_t& side, std::int64_t& distance) {
        distance *= side > 1 ? 2 : 1;
        side = (side + 1) / 2;
    };
    if (axes.slices)
        halve(next.frames, next.z);
    halve(next.shape.height, next.y);
    halve(next.shape.width, next.x);
    return next;
}

std::vector<Level> levels_of(const FrameHeader& header, Axes axes, bool pyramid) {
    std::vector<Level> levels{{header.frames, header.shape}};
    for (auto next = next_level(levels[0], axes); pyramid && next;
         next = next_level(levels.back(), axes))
        levels.push_back(*next);
    return levels;
}

/// The distances of frames, rows and columns; 1 if unknown.
struct Spacing {
    double frames = 1, y = 1, x = 1;
};

/// A level in the metadata of OME-Zarr. Means are between the voxels of level 0.
Json ome_dataset(std::size_t number, const Level& level, const Spacing& spacing, Axes axes,
                 bool means) {
    Json scale = Json::array(), shift = Json::array();
    const auto add = [&](double distance, std::int64_t factor) {
        scale.add(distance * static_cast<double>(factor));
        shift.add(distance * static_cast<double>(factor - 1) / 2);
    };
    if (axes.stack)
        add(spacing.frames, level.z);
    add(spacing.y, level.y);
    add(spacing.x, level.x);
    Json transformations = Json::array({Json{{"type", "scale"}, {"scale", scale}}});
    if (means && number > 0)
        transformations.add(Json{{"type", "translation"}, {"translation", shift}});
    return Json{{"path", std::to_string(number)}, {"coordinateTransformations", transformations}};
}

/// The metadata of OME-Zarr 0.4. An unknown pixel size is written as 1, without a unit.
std::string ome_text(const std::string& path, const FrameHeader& header, Axes axes_of_array,
                     const std::vector<Level>& levels, bool labels) {
    Json axes = Json::array();
    const bool known = header.pixel.known();
    const std::string unit = known ? ome_unit(header.pixel.unit) : "";
    Spacing spacing;
    if (known)
        spacing = {1, header.pixel.y, header.pixel.x};
    if (axes_of_array.slices) {
        const bool distance = known && header.slice_distance > 0;
        axes.add(ome_axis("z", "space", distance ? unit : ""));
        spacing.frames = distance ? header.slice_distance : 1;
    } else if (axes_of_array.stack) {
        const bool interval = header.frame_interval > 0;
        axes.add(ome_axis("t", "time", interval ? "second" : ""));
        spacing.frames = interval ? header.frame_interval : 1;
    }
    axes.add(ome_axis("y", "space", unit));
    axes.add(ome_axis("x", "space", unit));
    Json datasets = Json::array();
    for (std::size_t i = 0; i < levels.size(); ++i)
        datasets.add(ome_dataset(i, levels[i], spacing, axes_of_array, !labels));
    Json image{{"version", "0.4"},
               {"name", fs::path(path).stem().string()},
               {"axes", axes},
               {"datasets", datasets}};
    if (levels.size() > 1)
        image.set("type", labels ? "nearest" : "mean");
    Json all{{"multiscales", Json::array({image})}};
    if (labels)
        all.set("image-label", Json{{"version", "0.4"}});
    return all.text() + "\n";
}

/// Writes a series as level 0, and a pyramid from the rows of each level to the next.
class ZarrSink : public FrameFile {
  public:
    ZarrSink(const std::string& path, const FrameHeader& header, const SinkOptions& options)
        : FrameFile(path, header), folder_(new_zarr_store(path)) {
        const bool stack = header.frames > 1;
        const Axes axes{stack, stack && options.axis == StackAxis::slices};
        const std::vector<Level> levels = levels_of(header, axes, options.pyramid);
        put(".zgroup", zarr_group_text);
        put(".zattrs", ome_text(path, header, axes, levels, options.label_image));
        std::int64_t depth = 64; // frames per chunk
        for (std::size_t i = 0; i < levels.size(); ++i) {
            const Level& level = levels[i];
            const ZarrArray array =
                zarr_array_for(header.sample, level.frames, level.shape, stack, depth);
            if (i == 0)
                buffers_.resize(static_cast<std::size_t>(zarr_threads(array.chunk_bytes())));
            depth =
                array.chunk.front(); // not more in further levels: their memory adds up to a third
            arrays_.push_back(std::make_unique<ZarrArraySink>(
                array,
                [this, i](const std::string& name, std::string_view bytes) {
                    put(fmt::format("{}/{}", i, name), bytes);
                },
                buffers_));
            if (i + 1 < levels.size())
                halvings_.push_back(
                    make_halving(options.label_image ? HalvedBy::nearest : HalvedBy::mean,
                                 header.sample, level.frames, level.shape, axes.slices));
        }
    }

    void append(std::int64_t frame, Rows rows, std::span<const std::byte> samples) {
        append_to(0, frame, rows, samples);
    }
    void finish() { folder_.commit(); }

  private:
    void put(const std::string& name, std::string_view bytes) {
        put_zarr_file(path(), folder_.temporary(), name, bytes);
    }

    void append_to(std::size_t level, std::int64_t frame, Rows rows,
                   std::span<const std::byte> samples) {
        arrays_[level]->append(frame, rows, samples);
        if (level < halvings_.size())
            halvings_[level]->add(
                frame, rows, samples,
                [this, level](std::int64_t to, Rows halved, std::span<const std::byte> means) {
                    append_to(level + 1, to, halved, means);
                });
    }

    AtomicFolder folder_;
    std::vector<ChunkBuffers> buffers_;
    std::vector<std::unique_ptr<ZarrArraySink>> arrays_; ///< by level
    std::vector<std::unique_ptr<Halving>> halvings_;     ///< from each level to the next
};

/// Writes successive frames of a store, which begin at a chunk.
class ZarrPartSink : public FrameFile {
  public:
    /// `header`: with the number of frames to write.
    ZarrPartSink(const std::string& path, const FrameHeader& header, const ZarrArray& array,
                 const std::string& folder, std::int64_t first)
        : FrameFile(path, header),
          first_(first),
          buffers_(static_cast<std::size_t>(zarr_threads(array.chunk_bytes()))),
          array_(
              array,
              [path, folder](const std::string& name, std::string_view bytes) {
                  put_zarr_file(path, folder, "0/" + name, bytes);
              },
              buffers_) {}

    void append(std::int64_t frame, Rows rows, std::span<const std::byte> samples) {
        array_.append(first_ + frame, rows, samples);
    }
    void finish() {}

  private:
    std::int64_t first_;
    std::vector<ChunkBuffers> buffers_;
    ZarrArraySink array_;
};

/// Removes the temporary files that a process has left when it was killed.
void remove_temporary_files(const std::string& folder) {
    std::error_code unknown;
    std::vector<fs::path> found;
    for (fs::recursive_directory_iterator entry(folder, unknown), end; !unknown && entry != end;
         entry.increment(unknown)) {
        const std::string name = entry->path().filename().string();
        if (name.starts_with(".sextant-") && name.ends_with(".tmp"))
            found.push_back(entry->path());
    }
    for (const fs::path& file : found)
        fs::remove(file, unknown);
}

/// Parts are layers of chunks.
class ZarrParts final : public FrameParts {
  public:
    ZarrParts(std::string path, const FrameHeader& header, const SinkOptions& options)
        : path_(std::move(path)),
          header_(header),
          axes_{header.frames > 1, header.frames > 1 && options.axis == StackAxis::slices},
          labels_(options.label_image),
          array_(zarr_array_for(header.sample, header.frames, header.shape, axes_.stack)) {}

    std::int64_t frames_per_part() const override { return axes_.stack ? array_.chunk.front() : 1; }
    void create(const std::string& folder) override {
        remove_temporary_files(folder);
        put_zarr_file(path_, folder, ".zgroup", zarr_group_text);
        put_zarr_file(path_, folder, ".zattrs",
                      ome_text(path_, header_, axes_, levels_of(header_, axes_, false), labels_));
        put_zarr_file(path_, folder, "0/.zarray", zarr_array_text(array_));
    }
    std::unique_ptr<FrameSink> part(const std::string& folder, std::int64_t first,
                                    std::int64_t count) override {
        FrameHeader header = header_;
        header.frames = count;
        return sink_of(std::make_unique<ZarrPartSink>(path_, header, array_, folder, first));
    }
    void commit(const std::string& folder) override {
        const std::vector<std::string> names = replaceable_zarr_entries(path_);
        AtomicFolder(path_, std::vector<std::string_view>(names.begin(), names.end()), folder)
            .commit();
    }

  private:
    std::string path_;
    FrameHeader header_;
    Axes axes_;
    bool labels_;
    ZarrArray array_;
};

void check_zarr_sink(const std::string& path, const FrameHeader& header) {
    check_sink(path, header,
               {Sample::u8, Sample::i8, Sample::u16, Sample::i16, Sample::u32, Sample::i32,
                Sample::u64, Sample::i64, Sample::f16, Sample::f32, Sample::f64});
}

} // namespace

void require_writable_zarr(const std::string& path) {
    new_zarr_store(path);
}

std::unique_ptr<FrameSink> create_zarr(const std::string& path, const FrameHeader& header,
                                       const SinkOptions& options) {
    check_zarr_sink(path, header);
    return sink_of(std::make_unique<ZarrSink>(path, header, options));
}

std::unique_ptr<FrameParts> create_zarr_parts(const std::string& path, const FrameHeader& header,
                                              const SinkOptions& options) {
    check_zarr_sink(path, header);
    return options.pyramid ? nullptr : std::make_unique<ZarrParts>(path, header, options);
}

} // namespace sextant::format
