// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/atomic_file.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/json_value.hpp"
#include "sextant/format/checks.hpp"
#include "sextant/format/chunk_cutter.hpp"
#include "sextant/format/formats.hpp"
#include "sextant/format/frame_axes.hpp"
#include "sextant/format/zarr/halving.hpp"
#include "sextant/format/zarr/zarr.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
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

// Folders.

bool holds_only_zarr(const fs::path& folder);

bool is_store(const fs::path& folder) {
    std::error_code unknown;
    return fs::exists(folder / "zarr.json", unknown) || fs::exists(folder / ".zgroup", unknown) ||
           fs::exists(folder / ".zarray", unknown);
}

/// True if a folder entry belongs to a Zarr store: metadata, chunks, arrays and groups. A folder
/// belongs to the store only if all of its contents do.
bool belongs_to_zarr(const fs::directory_entry& entry) {
    const std::string name = entry.path().filename().string();
    const std::string_view key = std::string_view(name).substr(name.starts_with('c') ? 1 : 0);
    const bool numbers =
        std::ranges::all_of(key, [](unsigned char c) { return std::isdigit(c) != 0 || c == '.'; });
    std::error_code unknown;
    if (fs::is_directory(entry.symlink_status(unknown)))
        return (numbers || is_store(entry.path())) && holds_only_zarr(entry.path());
    return (numbers && !key.empty()) || name.starts_with(".z") || name == "zarr.json";
}

bool holds_only_zarr(const fs::path& folder) {
    std::error_code unknown;
    fs::directory_iterator entry(folder, unknown);
    for (; !unknown && entry != fs::directory_iterator(); entry.increment(unknown)) {
        if (!belongs_to_zarr(*entry))
            return false;
    }
    return !unknown;
}

/// Returns the entries of a store that may be deleted when the store is replaced; empty if the
/// folder is not a store.
std::vector<std::string> replaceable_entries(const std::string& path) {
    std::vector<std::string> names;
    if (!is_store(path))
        return names;
    std::error_code unknown;
    for (fs::directory_iterator entry(path, unknown), end; !unknown && entry != end;
         entry.increment(unknown)) {
        if (belongs_to_zarr(*entry))
            names.push_back(entry->path().filename().string());
    }
    return names;
}

/// Creates a folder for a new store, which replaces an earlier store at `path`. Throws InvalidFile.
std::unique_ptr<AtomicFolder> new_store(const std::string& path) {
    const std::vector<std::string> names = replaceable_entries(path);
    const std::vector<std::string_view> entries(names.begin(), names.end());
    return std::make_unique<AtomicFolder>(path, entries);
}

/// A folder in a store that is being written. Errors name the store.
struct Folder {
    std::string store;  ///< final path of the store
    std::string folder; ///< current path of the folder

    void put(const std::string& name, const std::function<void(AtomicFile&)>& write) const {
        const fs::path file = fs::path(folder) / name;
        std::error_code error;
        fs::create_directories(file.parent_path(), error);
        if (error)
            throw InvalidFile(store, "cannot be written: " + error.message());
        try {
            AtomicFile made(file.string());
            write(made);
            made.commit();
        } catch (const InvalidFile& failed) {
            throw InvalidFile(store, std::string(failed.what()).substr(failed.path().size() + 2));
        }
    }
    void put(const std::string& name, std::string_view text) const {
        put(name, [&](AtomicFile& file) { file.write(text); });
    }
    void put(const std::string& name, std::span<const std::byte> bytes) const {
        put(name, [&](AtomicFile& file) { file.write(bytes); });
    }
    Folder in(const std::string& name) const { return {store, folder + "/" + name}; }
};

// Metadata.

/// Returns the name of a unit in OME-Zarr, which uses the names of UDUNITS-2.
std::string ome_unit(const std::string& unit) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 7> names{
        {{"pm", "picometer"},
         {"Å", "angstrom"},
         {"nm", "nanometer"},
         {"µm", "micrometer"},
         {"mm", "millimeter"},
         {"cm", "centimeter"},
         {"m", "meter"}}};
    const auto* const row =
        std::find_if(names.begin(), names.end(), [&](auto& each) { return each.first == unit; });
    return row == names.end() ? unit : std::string(row->second);
}

/// True if OME-Zarr can describe the axes: they are among t, c, z, y and x, in this order, and the
/// last two are y and x.
bool has_ome_axes(const ArrayHeader& header) {
    constexpr std::string_view letters = "tczyx";
    std::size_t next = 0;
    for (const std::string& name : header.names) {
        const std::size_t at = name.size() == 1 ? letters.find(name) : std::string::npos;
        if (at == std::string::npos || at < next)
            return false;
        next = at + 1;
    }
    const std::size_t axes = header.names.size();
    return axes >= 2 && header.names[axes - 2] == "y" && header.names[axes - 1] == "x";
}

/// An axis in the metadata of OME-Zarr. The step is 1, without a unit, if it is unknown.
struct OmeAxis {
    std::string name;
    const char* type = "space";
    double step = 1;
    std::string unit = {};
};

OmeAxis ome_axis(const std::string& name, const ArrayHeader& header) {
    const bool timed = header.frame_interval > 0;
    if (name == "t")
        return {name, "time", timed ? header.frame_interval : 1, timed ? "second" : ""};
    if (name == "c")
        return {name, "channel"};
    if (!header.pixel.known() || (name == "z" && header.slice_distance <= 0))
        return {name};
    return {name, "space",
            name == "z"   ? header.slice_distance
            : name == "y" ? header.pixel.y
                          : header.pixel.x,
            ome_unit(header.pixel.unit)};
}

/// The levels of a pyramid. `steps` has the distance of samples per level and axis, in samples of
/// level 0.
struct OmeLevels {
    std::vector<std::vector<std::int64_t>> steps;
    bool labels = false; ///< true if samples are labels, which are not averaged
};

/// Returns the metadata of a level. The mean of several voxels of level 0 is at their common
/// centre, hence the translation; labels are not averaged.
Json ome_dataset(std::span<const OmeAxis> axes, const OmeLevels& levels, std::size_t number) {
    Json scale = Json::array(), shift = Json::array();
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
        const auto factor = static_cast<double>(levels.steps[number][axis]);
        scale.add(axes[axis].step * factor);
        shift.add(axes[axis].step * (factor - 1) / 2);
    }
    Json transformations = Json::array({Json{{"type", "scale"}, {"scale", scale}}});
    if (!levels.labels && number > 0)
        transformations.add(Json{{"type", "translation"}, {"translation", shift}});
    return Json{{"path", std::to_string(number)}, {"coordinateTransformations", transformations}};
}

/// Returns the metadata of OME-Zarr 0.4, or 0.5 in Zarr version 3; empty if OME-Zarr does not
/// define the axes.
Json ome_metadata(const std::string& path, const ArrayHeader& header, const OmeLevels& levels,
                  int version) {
    if (!has_ome_axes(header))
        return Json::object();
    std::vector<OmeAxis> axes;
    Json described = Json::array(), datasets = Json::array();
    for (const std::string& name : header.names) {
        axes.push_back(ome_axis(name, header));
        Json axis = {{"name", name}, {"type", axes.back().type}};
        if (!axes.back().unit.empty())
            axis.set("unit", axes.back().unit);
        described.add(axis);
    }
    for (std::size_t level = 0; level < levels.steps.size(); ++level)
        datasets.add(ome_dataset(axes, levels, level));
    Json image;
    if (version == 2)
        image.set("version", "0.4");
    image.set("name", fs::path(path).stem().string());
    image.set("axes", described);
    image.set("datasets", datasets);
    if (levels.steps.size() > 1)
        image.set("type", levels.labels ? "nearest" : "mean");
    Json all;
    if (version == 3)
        all.set("version", "0.5");
    all.set("multiscales", Json::array({image}));
    if (levels.labels)
        all.set("image-label", version == 2 ? Json{{"version", "0.4"}} : Json::object());
    return version == 2 ? all : Json{{"ome", all}};
}

void put_group(const Folder& folder, const ArrayHeader& header, const OmeLevels& levels,
               int version) {
    const Json attributes = ome_metadata(folder.store, header, levels, version);
    if (version == 2) {
        folder.put(".zgroup", Json{{"zarr_format", 2}}.text() + "\n");
        folder.put(".zattrs", attributes.text() + "\n");
    } else {
        folder.put(
            "zarr.json",
            Json{{"zarr_format", 3}, {"node_type", "group"}, {"attributes", attributes}}.text() +
                "\n");
    }
}

void put_array(const Folder& folder, const ZarrArray& array) {
    folder.put(array.version == 2 ? ".zarray" : "zarr.json", zarr_array_text(array));
}

/// Returns the description of an array that is compressed by zstd.
ZarrArray new_array(const ArrayHeader& header, int version) {
    ZarrArray array{header.lengths, header.chunk, header.sample, version};
    array.codecs = {ZarrCodec::zstd};
    array.prefixed = version == 3;
    array.fill = header.fill;
    array.names = header.names;
    return array;
}

// Chunks.

/// Returns shards of about 64 MiB that have the depth of a chunk. A shard has whole rows of chunks
/// or, if a row is too large, a part of one row. Few shards are then incomplete at a time when rows
/// are written in order. Empty if each shard would have a single chunk.
std::optional<ZarrShards> shards_for(const ZarrArray& array) {
    constexpr Bytes wanted = Bytes{1} << 26;
    ZarrShards shards{array.chunk};
    const std::size_t axes = array.sides.size();
    Bytes bytes = array.chunk_bytes();
    for (std::size_t axis = axes; axis-- > axes - 2;) {
        const std::int64_t chunks = (array.sides[axis] + array.chunk[axis] - 1) / array.chunk[axis];
        const std::int64_t most = std::max<std::int64_t>(1, wanted / bytes);
        const std::int64_t count = (chunks + most - 1) / most; // shards of about the same size
        const std::int64_t together = (chunks + count - 1) / count;
        shards.sides[axis] *= together;
        bytes *= together;
        if (count > 1)
            break;
    }
    return shards.sides == array.chunk ? std::nullopt : std::optional(std::move(shards));
}

/// Writes chunks to separate files or to shards. The compressed chunks of a shard are held in
/// memory until the shard is complete.
class ChunkFiles {
  public:
    ChunkFiles(ZarrArray array, Folder folder)
        : array_(std::move(array)), folder_(std::move(folder)) {}

    /// Compresses and writes `buffers.chunk`. If `missing`, the chunk consists of the fill value
    /// and is not stored. Several threads call this function.
    void put(std::span<const std::int64_t> position, ChunkBuffers& buffers, bool missing) {
        if (missing)
            buffers.stored.clear();
        else
            encode_zarr_chunk(buffers.chunk, buffers.stored);
        const std::span<const std::byte> stored = buffers.stored;
        if (array_.shards)
            put_in_shard(position, stored);
        else if (!missing)
            folder_.put(array_.chunk_name(position), stored);
    }

  private:
    /// The chunks of a shard, in C order. A chunk is empty if it is not stored or has not arrived.
    struct Shard {
        std::vector<std::vector<std::byte>> chunks = {};
        Elements left = 0; ///< number of chunks that have not arrived
    };

    void put_in_shard(std::span<const std::int64_t> position, std::span<const std::byte> stored) {
        const auto [at, number] = array_.in_shard(position);
        Elements inside = 1; // number of chunks of the shard within the array
        for (std::size_t axis = 0; axis < position.size(); ++axis) {
            const std::int64_t chunk = array_.chunk[axis],
                               count = array_.shards->sides[axis] / chunk;
            const std::int64_t chunks = (array_.sides[axis] + chunk - 1) / chunk;
            inside *= std::min(count, chunks - at[axis] * count);
        }
        std::vector<std::byte> bytes(stored.begin(), stored.end());
        Shard complete;
        {
            const std::scoped_lock held(lock_);
            const auto [shard, is_new] = shards_.try_emplace(at);
            if (is_new)
                shard->second = {std::vector<std::vector<std::byte>>(
                                     static_cast<std::size_t>(array_.chunks_per_shard())),
                                 inside};
            shard->second.chunks[number] = std::move(bytes);
            if (--shard->second.left > 0)
                return;
            complete = std::move(shard->second);
            shards_.erase(shard);
        }
        write(at, complete);
    }

    void write(std::span<const std::int64_t> at, const Shard& shard) const {
        std::vector<ZarrRange> index;
        std::uint64_t offset = 0;
        for (const std::vector<std::byte>& chunk : shard.chunks) {
            index.push_back(chunk.empty() ? ZarrRange{} : ZarrRange{offset, chunk.size()});
            offset += chunk.size();
        }
        if (offset == 0)
            return;
        folder_.put(array_.chunk_name(at), [&](AtomicFile& file) {
            for (const std::vector<std::byte>& chunk : shard.chunks)
                file.write(chunk);
            file.write(encode_zarr_index(index));
        });
    }

    ZarrArray array_;
    Folder folder_;
    std::mutex lock_;
    std::map<std::vector<std::int64_t>, Shard> shards_; ///< incomplete shards
};

/// Writes an array in a store.
class ZarrArraySink final : public ArraySink {
  public:
    /// Arrays that are written one after another share `buffers`. `whole` is the store, if this
    /// array completes it; otherwise null.
    ZarrArraySink(const std::string& path, ArrayHeader header, ZarrArray array, Folder folder,
                  std::shared_ptr<std::vector<ChunkBuffers>> buffers,
                  std::unique_ptr<AtomicFolder> whole = nullptr)
        : ArraySink(path, std::move(header)),
          whole_(std::move(whole)),
          buffers_(std::move(buffers)),
          files_(std::move(array), std::move(folder)) {}

    void commit() override {
        if (whole_)
            whole_->commit();
    }

  private:
    void store(const ArrayBlock& block, std::span<const std::byte> from) override {
        cut_into_chunks(header(), block, from, *buffers_,
                        [this](std::span<const std::int64_t> position, ChunkBuffers& chunk,
                               bool is_fill) { files_.put(position, chunk, is_fill); });
    }

    std::unique_ptr<AtomicFolder> whole_;
    std::shared_ptr<std::vector<ChunkBuffers>> buffers_;
    ChunkFiles files_;
};

// Series of frames.

/// A level of a pyramid. Level 0 has all samples; each level halves the sides of the previous one.
struct Level {
    std::int64_t frames;
    ImageShape shape;
    std::int64_t z = 1, y = 1, x = 1; ///< distance of samples, in samples of level 0
};

/// The arrays in which a series is stored: frames, rows and columns, or rows and columns.
struct Series {
    Series(const FrameHeader& series, const SinkOptions& options)
        : version(options.zarr_version),
          slices(series.frames > 1 && options.axis == StackAxis::slices),
          header(series_array(series, options.axis)) {
        levels.push_back({series.frames, series.shape});
        for (auto next = next_level(); options.pyramid && next; next = next_level())
            levels.push_back(*next);
        ome.labels = options.label_image;
        for (const Level& level : levels) {
            ome.steps.push_back({level.y, level.x});
            if (header.lengths.size() > 2)
                ome.steps.back().insert(ome.steps.back().begin(), level.z);
        }
    }

    /// Returns the next level of the pyramid; empty if the longest side is short enough.
    std::optional<Level> next_level() const {
        constexpr std::int64_t small = 256;
        Level next = levels.back();
        if (std::max({slices ? next.frames : 1, next.shape.height, next.shape.width}) <= small)
            return std::nullopt;
        const auto halve = [](std::int64_t& side, std::int64_t& distance) {
            distance *= side > 1 ? 2 : 1;
            side = (side + 1) / 2;
        };
        if (slices)
            halve(next.frames, next.z);
        halve(next.shape.height, next.y);
        halve(next.shape.width, next.x);
        return next;
    }

    /// Returns the array header of a level, with chunks of up to `most_depth` frames.
    ArrayHeader array(const Level& level, std::int64_t most_depth = 64) const {
        ArrayHeader array{{level.shape.height, level.shape.width}, header.names, header.sample};
        if (header.lengths.size() > 2)
            array.lengths.insert(array.lengths.begin(), level.frames);
        array.chunk = chunk_for(array.sample, array.lengths, most_depth);
        array.complete();
        return array;
    }
    ZarrArray stored(const ArrayHeader& array) const {
        ZarrArray stored = new_array(array, version);
        if (version == 3)
            stored.shards = shards_for(stored);
        return stored;
    }

    int version;
    bool slices; ///< true if frames are slices of a volume
    std::vector<Level> levels = {};
    ArrayHeader header;
    OmeLevels ome = {};
};

/// Removes temporary files of a process that was killed.
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

/// Writes a series in parts, which are layers of chunks. A shard has the depth of one layer, so
/// that a single process writes it.
class ZarrParts final : public FrameParts {
  public:
    ZarrParts(std::string path, const FrameHeader& header, const SinkOptions& options)
        : path_(std::move(path)),
          header_(header),
          series_(header, options),
          array_(series_.array(series_.levels.front())) {}

    std::int64_t frames_per_part() const override {
        return array_.chunk.size() > 2 ? array_.chunk.front() : 1;
    }
    void create(const std::string& folder) override {
        remove_temporary_files(folder);
        const Folder store{path_, folder};
        put_group(store, series_.header, series_.ome, series_.version);
        put_array(store.in("0"), series_.stored(array_));
    }
    std::unique_ptr<FrameSink> part(const std::string& folder, std::int64_t first,
                                    std::int64_t count) override {
        FrameHeader header = header_;
        header.frames = count;
        return std::make_unique<FrameSink>(
            std::make_unique<ZarrArraySink>(path_, array_, series_.stored(array_),
                                            Folder{path_, folder}.in("0"),
                                            chunk_buffers(array_.chunk_bytes())),
            header, first);
    }
    void commit(const std::string& folder) override {
        const std::vector<std::string> names = replaceable_entries(path_);
        AtomicFolder(path_, std::vector<std::string_view>(names.begin(), names.end()), folder)
            .commit();
    }

  private:
    std::string path_;
    FrameHeader header_;
    Series series_;
    ArrayHeader array_;
};

} // namespace

void require_writable_zarr(const std::string& path) {
    new_store(path);
}

std::unique_ptr<FrameSink> create_zarr(const std::string& path, const FrameHeader& header,
                                       const SinkOptions& options) {
    std::unique_ptr<AtomicFolder> whole = new_store(path);
    const Series series(header, options);
    const Folder store{path, whole->temporary()};
    put_group(store, series.header, series.ome, series.version);
    std::vector<ArrayHeader> arrays;
    for (const Level& level : series.levels) // further levels add a third of the memory at most
        arrays.push_back(arrays.empty() ? series.array(level)
                                        : series.array(level, arrays.back().chunk.front()));
    const auto buffers = chunk_buffers(arrays.front().chunk_bytes());
    const auto sink_of_level = [&](std::size_t i, TakeRows also) {
        const ZarrArray stored = series.stored(arrays[i]);
        const Folder folder = store.in(std::to_string(i));
        put_array(folder, stored);
        FrameHeader frames = header;
        frames.frames = series.levels[i].frames, frames.shape = series.levels[i].shape;
        return std::make_unique<FrameSink>(
            std::make_unique<ZarrArraySink>(path, arrays[i], stored, folder, buffers,
                                            i == 0 ? std::move(whole) : nullptr),
            std::move(frames), 0, std::move(also));
    };
    TakeRows next; // computes the rows of the next level, and writes them
    for (std::size_t i = arrays.size() - 1; i > 0; --i) {
        const Level& level = series.levels[i - 1];
        const std::shared_ptr<Halving> halving =
            make_halving(options.label_image ? HalvedBy::nearest : HalvedBy::mean, header.sample,
                         level.frames, level.shape, series.slices);
        const std::shared_ptr<FrameSink> sink = sink_of_level(i, std::move(next));
        next = [=](std::int64_t frame, Rows rows, std::span<const std::byte> samples) {
            halving->add(frame, rows, samples,
                         [&](std::int64_t, Rows, std::span<const std::byte> halved) {
                             sink->write_samples(halved);
                         });
        };
    }
    return sink_of_level(0, std::move(next));
}

std::unique_ptr<FrameParts> create_zarr_parts(const std::string& path, const FrameHeader& header,
                                              const SinkOptions& options) {
    return options.pyramid ? nullptr : std::make_unique<ZarrParts>(path, header, options);
}

bool zarr_array_keeps_pixel(const ArrayHeader& header) {
    return has_ome_axes(header);
}

/// Each chunk has its own file, because chunks may arrive in any order.
std::unique_ptr<ArraySink> create_zarr_array(const std::string& path, ArrayHeader header,
                                             const SinkOptions& options) {
    header.check(path);
    auto whole = new_store(path);
    const Folder store{path, whole->temporary()};
    const ZarrArray array = new_array(header, options.zarr_version);
    put_group(store, header, {{std::vector<std::int64_t>(header.names.size(), 1)}}, array.version);
    put_array(store.in("0"), array);
    if (array.version == 2 && !header.names.empty())
        store.put("0/.zattrs", Json{{"_ARRAY_DIMENSIONS", Json(header.names)}}.text() + "\n");
    auto buffers = chunk_buffers(header.chunk_bytes());
    return std::make_unique<ZarrArraySink>(path, std::move(header), array, store.in("0"),
                                           std::move(buffers), std::move(whole));
}

} // namespace sextant::format
