// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/atomic_file.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/json_value.hpp"
#include "sextant/format/checks.hpp"
#include "sextant/format/chunk_cutter.hpp"
#include "sextant/format/formats.hpp"
#include "sextant/format/halving.hpp"
#include "sextant/format/zarr.hpp"

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

/// True for an entry of a store: metadata, chunks, arrays and groups. Folders belong to it with all
/// that is in them, or not at all.
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

/// The entries of a folder that may be removed with it: those of Zarr, if it is a store.
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

/// A folder for a new store, which replaces an earlier store at `path`. Throws InvalidFile.
AtomicFolder new_store(const std::string& path) {
    const std::vector<std::string> names = replaceable_entries(path);
    const std::vector<std::string_view> entries(names.begin(), names.end());
    return {path, entries};
}

/// A folder in a store that is being made. Errors name the store.
struct Folder {
    std::string store;  ///< its path when it is complete
    std::string folder; ///< where it is made

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

/// The name of a unit in OME-Zarr, which is that of UDUNITS-2.
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

/// True if OME-Zarr can describe the axes: the last ones are y and x, and all are in its order.
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

/// An axis in the metadata of OME-Zarr, with the distance of samples; 1 without a unit if unknown.
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

/// The levels of an image: the distance of samples along each axis, in samples of level 0.
struct OmeLevels {
    std::vector<std::vector<std::int64_t>> steps;
    bool labels = false; ///< samples are labels, of which levels have no means
};

/// A level in the metadata of OME-Zarr. Means are between the voxels of level 0.
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

/// The metadata of OME-Zarr 0.4, or 0.5 in Zarr version 3; none if it does not define the axes.
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

/// An array compressed by zstd.
ZarrArray new_array(int version, std::vector<std::int64_t> sides, std::vector<std::int64_t> chunk,
                    Sample sample) {
    ZarrArray array{std::move(sides), std::move(chunk), sample, version};
    array.codecs = {ZarrCodec::zstd};
    array.prefixed = version == 3;
    return array;
}

// Chunks.

/// Shards of about 64 MiB, of the same depth as chunks: whole rows of chunks, or else parts of one,
/// so that few are incomplete at a time while rows are written in order. None if there would be one
/// chunk in each.
std::optional<ZarrShards> shards_for(const ZarrArray& array) {
    constexpr Bytes wanted = Bytes{1} << 26;
    ZarrShards shards{array.chunk};
    const std::size_t axes = array.sides.size();
    Bytes bytes = array.chunk_bytes();
    for (std::size_t axis = axes; axis-- > axes - 2;) {
        const std::int64_t chunks = (array.sides[axis] + array.chunk[axis] - 1) / array.chunk[axis];
        const std::int64_t most = std::max<std::int64_t>(1, wanted / bytes);
        const std::int64_t count = (chunks + most - 1) / most; // of shards, alike in size
        const std::int64_t together = (chunks + count - 1) / count;
        shards.sides[axis] *= together;
        bytes *= together;
        if (count > 1)
            break;
    }
    return shards.sides == array.chunk ? std::nullopt : std::optional(std::move(shards));
}

/// Writes chunks, in files of their own or in shards. A shard is written when all of its chunks are
/// there, which until then are in memory, compressed.
class ChunkFiles {
  public:
    ChunkFiles(ZarrArray array, Folder folder)
        : array_(std::move(array)), folder_(std::move(folder)) {}

    const ZarrArray& array() const { return array_; }

    /// Compresses and writes `buffers.chunk`, unless it is `missing` because it consists of the
    /// fill value. Several threads call it.
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
    /// The chunks of a shard, in C order; empty if they are missing or not there yet.
    struct Shard {
        std::vector<std::vector<std::byte>> chunks = {};
        Elements left = 0; ///< chunks that are not there yet
    };

    void put_in_shard(std::span<const std::int64_t> position, std::span<const std::byte> stored) {
        std::vector<std::int64_t> at;
        std::size_t number = 0;
        Elements inside = 1; // chunks of the shard that are within the array
        for (std::size_t axis = 0; axis < position.size(); ++axis) {
            const std::int64_t chunk = array_.chunk[axis],
                               count = array_.shards->sides[axis] / chunk;
            at.push_back(position[axis] / count);
            number = number * static_cast<std::size_t>(count) +
                     static_cast<std::size_t>(position[axis] % count);
            const std::int64_t chunks = (array_.sides[axis] + chunk - 1) / chunk;
            inside *= std::min(count, chunks - at.back() * count);
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
    std::map<std::vector<std::int64_t>, Shard> shards_; ///< those that are not complete
};

/// Writes an array of frames, or of one image, as soon as the rows of its chunks are there.
class SeriesFiles {
  public:
    /// Keeps a reference to `buffers`.
    SeriesFiles(const ZarrArray& array, Folder folder, std::vector<ChunkBuffers>& buffers)
        : files_(array, std::move(folder)),
          cutter_(
              {array.sides, array.chunk, array.sample},
              [this](std::span<const std::int64_t> position, ChunkBuffers& chunk) {
                  files_.put(position, chunk, is_zero(chunk.chunk));
              },
              buffers) {}
    SeriesFiles(const SeriesFiles&) = delete;
    SeriesFiles& operator=(const SeriesFiles&) = delete;

    void append(std::int64_t frame, Rows rows, std::span<const std::byte> samples) {
        cutter_.append(frame, rows, samples);
    }

  private:
    ChunkFiles files_;
    ChunkCutter cutter_;
};

// Series of frames.

/// An array of a series: level 0 has all samples, each further one half as many along each axis.
struct Level {
    std::int64_t frames;
    ImageShape shape;
    std::int64_t z = 1, y = 1, x = 1; ///< the distance of samples, in samples of level 0
};

/// A series as it is stored: an array of frames, rows and columns, or of rows and columns.
struct Series {
    Series(const FrameHeader& series, const SinkOptions& options)
        : version(options.zarr_version),
          stack(series.frames > 1),
          slices(stack && options.axis == StackAxis::slices) {
        levels.push_back({series.frames, series.shape});
        for (auto next = next_level(); options.pyramid && next; next = next_level())
            levels.push_back(*next);
        header.names = {"y", "x"};
        if (stack)
            header.names.insert(header.names.begin(), slices ? "z" : "t");
        header.sample = series.sample;
        header.pixel = series.pixel;
        header.slice_distance = series.slice_distance;
        header.frame_interval = series.frame_interval;
        ome.labels = options.label_image;
        for (const Level& level : levels) {
            ome.steps.push_back({level.y, level.x});
            if (stack)
                ome.steps.back().insert(ome.steps.back().begin(), level.z);
        }
    }

    /// The next level of a pyramid; none if the largest side is small enough.
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

    ZarrArray array(const Level& level, std::int64_t most_depth = 64) const {
        ChunkGrid grid = chunks_for(header.sample, level.frames, level.shape, stack, most_depth);
        ZarrArray array =
            new_array(version, std::move(grid.sides), std::move(grid.chunk), header.sample);
        array.names = header.names;
        if (version == 3)
            array.shards = shards_for(array);
        return array;
    }

    int version;
    bool stack;  ///< true if the first axis is that of frames
    bool slices; ///< true if frames are slices of a volume
    std::vector<Level> levels = {};
    ArrayHeader header = {};
    OmeLevels ome = {};
};

/// Writes a series as level 0, and a pyramid from the rows of each level to the next.
class ZarrSink : public FrameFile {
  public:
    ZarrSink(const std::string& path, const FrameHeader& header, const SinkOptions& options)
        : FrameFile(path, header), folder_(new_store(path)) {
        const Series series(header, options);
        const Folder store{path, folder_.temporary()};
        put_group(store, series.header, series.ome, series.version);
        std::int64_t depth = 64; // frames per chunk
        for (std::size_t i = 0; i < series.levels.size(); ++i) {
            const Level& level = series.levels[i];
            const ZarrArray array = series.array(level, depth);
            if (i == 0)
                buffers_.resize(static_cast<std::size_t>(chunk_threads(array.chunk_bytes())));
            depth =
                array.chunk.front(); // not more in further levels: their memory adds up to a third
            const Folder folder = store.in(std::to_string(i));
            put_array(folder, array);
            arrays_.push_back(std::make_unique<SeriesFiles>(array, folder, buffers_));
            if (i + 1 < series.levels.size())
                halvings_.push_back(
                    make_halving(options.label_image ? HalvedBy::nearest : HalvedBy::mean,
                                 header.sample, level.frames, level.shape, series.slices));
        }
    }

    void append(std::int64_t frame, Rows rows, std::span<const std::byte> samples) {
        append_to(0, frame, rows, samples);
    }
    void finish() { folder_.commit(); }

  private:
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
    std::vector<std::unique_ptr<SeriesFiles>> arrays_; ///< by level
    std::vector<std::unique_ptr<Halving>> halvings_;   ///< from each level to the next
};

/// Writes successive frames of a store, which begin at a chunk.
class ZarrPartSink : public FrameFile {
  public:
    /// `header`: with the number of frames to write.
    ZarrPartSink(const std::string& path, const FrameHeader& header, const ZarrArray& array,
                 const Folder& folder, std::int64_t first)
        : FrameFile(path, header),
          first_(first),
          buffers_(static_cast<std::size_t>(chunk_threads(array.chunk_bytes()))),
          files_(array, folder, buffers_) {}

    void append(std::int64_t frame, Rows rows, std::span<const std::byte> samples) {
        files_.append(first_ + frame, rows, samples);
    }
    void finish() {}

  private:
    std::int64_t first_;
    std::vector<ChunkBuffers> buffers_;
    SeriesFiles files_;
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

/// Parts are layers of chunks. Shards have the depth of one layer, so that one process writes each.
class ZarrParts final : public FrameParts {
  public:
    ZarrParts(std::string path, const FrameHeader& header, const SinkOptions& options)
        : path_(std::move(path)),
          header_(header),
          series_(header, options),
          array_(series_.array(series_.levels.front())) {}

    std::int64_t frames_per_part() const override {
        return series_.stack ? array_.chunk.front() : 1;
    }
    void create(const std::string& folder) override {
        remove_temporary_files(folder);
        const Folder store{path_, folder};
        put_group(store, series_.header, series_.ome, series_.version);
        put_array(store.in("0"), array_);
    }
    std::unique_ptr<FrameSink> part(const std::string& folder, std::int64_t first,
                                    std::int64_t count) override {
        FrameHeader header = header_;
        header.frames = count;
        return sink_of(std::make_unique<ZarrPartSink>(path_, header, array_,
                                                      Folder{path_, folder}.in("0"), first));
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
    ZarrArray array_;
};

// Arrays of any axes.

/// Writes chunks of the caller's choice in files of their own, because they come in any order.
class ZarrArraySink final : public ArraySink {
  public:
    ZarrArraySink(const std::string& path, ArrayHeader header, int version)
        : ArraySink(path, std::move(header)),
          folder_(new_store(path)),
          files_(array_of(this->header(), version), Folder{path, folder_.temporary()}.in("0")),
          buffers_(static_cast<std::size_t>(chunk_threads(files_.array().chunk_bytes()))),
          cutter_(
              this->header(),
              [this](std::span<const std::int64_t> position, ChunkBuffers& chunk) {
                  files_.put(position, chunk, false);
              },
              buffers_) {
        const Folder store{path, folder_.temporary()};
        const std::vector<std::string>& names = this->header().names;
        put_group(store, this->header(), {{std::vector<std::int64_t>(names.size(), 1)}}, version);
        put_array(store.in("0"), files_.array());
        if (version == 2 && !names.empty())
            store.put("0/.zattrs", Json{{"_ARRAY_DIMENSIONS", Json(names)}}.text() + "\n");
    }

    void commit() override { folder_.commit(); }

  private:
    static ZarrArray array_of(const ArrayHeader& header, int version) {
        ZarrArray array = new_array(version, header.lengths, header.chunk, header.sample);
        array.fill = header.fill;
        array.names = header.names;
        return array;
    }

    void store(const ArrayBlock& block, std::span<const std::byte> from) override {
        cutter_.cut(block, from);
    }

    AtomicFolder folder_;
    ChunkFiles files_;
    std::vector<ChunkBuffers> buffers_; ///< one per thread
    BlockCutter cutter_;
};

void check_zarr_sink(const std::string& path, const FrameHeader& header) {
    check_sink(path, header,
               {Sample::u8, Sample::i8, Sample::u16, Sample::i16, Sample::u32, Sample::i32,
                Sample::u64, Sample::i64, Sample::f16, Sample::f32, Sample::f64});
}

} // namespace

void require_writable_zarr(const std::string& path) {
    new_store(path);
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

bool zarr_array_keeps_pixel(const ArrayHeader& header) {
    return has_ome_axes(header);
}

std::unique_ptr<ArraySink> create_zarr_array(const std::string& path, ArrayHeader header,
                                             const SinkOptions& options) {
    return std::make_unique<ZarrArraySink>(path, std::move(header), options.zarr_version);
}

} // namespace sextant::format
