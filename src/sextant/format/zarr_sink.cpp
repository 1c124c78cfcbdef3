// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/atomic_file.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/json_value.hpp"
#include "sextant/format/checks.hpp"
#include "sextant/format/frame_formats.hpp"
#include "sextant/format/zarr_array.hpp"
#include "sextant/format/zarr_chunks.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace sextant::format {

namespace {

namespace fs = std::filesystem;

/// True for an entry of a store: metadata, chunks, arrays and groups.
bool belongs_to_zarr(const fs::directory_entry& entry) {
    const std::string name = entry.path().filename().string();
    const bool numbers = std::all_of(
        name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c) != 0 || c == '.'; });
    if (numbers || name.starts_with(".z") || name == "zarr.json")
        return true;
    std::error_code unknown;
    return fs::exists(entry.path() / ".zarray", unknown) ||
           fs::exists(entry.path() / ".zgroup", unknown);
}

/// The entries of a folder that may be removed with it: those of Zarr, if it is a store.
std::vector<std::string> replaceable_entries(const std::string& path) {
    std::vector<std::string> names;
    std::error_code unknown;
    const bool store = fs::exists(fs::path(path) / ".zgroup", unknown) ||
                       fs::exists(fs::path(path) / ".zarray", unknown);
    if (!store)
        return names;
    for (fs::directory_iterator entry(path, unknown), end; !unknown && entry != end;
         entry.increment(unknown)) {
        if (belongs_to_zarr(*entry))
            names.push_back(entry->path().filename().string());
    }
    return names;
}

AtomicFolder new_store(const std::string& path) {
    const std::vector<std::string> names = replaceable_entries(path);
    const std::vector<std::string_view> entries(names.begin(), names.end());
    return {path, entries};
}

constexpr std::int64_t chunk_frames = 64;
constexpr Bytes wanted_chunk_bytes = Bytes{1} << 22, most_layer_bytes = Bytes{1} << 28;

/// Returns an array of frames, or of rows and columns for one frame, in chunks of about 4 MiB.
ZarrArray array_for(const FrameHeader& header) {
    const ImageShape shape = header.shape;
    const Bytes sample = size_of(header.sample), frame = shape.elements() * sample;
    std::int64_t depth = std::min(chunk_frames, header.frames);
    if (depth > 1 && depth > most_layer_bytes / frame)
        depth = std::int64_t{1} << (std::bit_width(static_cast<std::uint64_t>(
                                        std::max<Bytes>(1, most_layer_bytes / frame))) -
                                    1);
    std::int64_t rows = 1, columns = 1;
    const auto fits = [&] { return 2 * depth * rows * columns * sample <= wanted_chunk_bytes; };
    while (fits() && (rows < shape.height || columns < shape.width)) {
        const bool grow_rows = rows < shape.height && (rows < columns || columns == shape.width);
        std::int64_t& side = grow_rows ? rows : columns;
        side = std::min(2 * side, grow_rows ? shape.height : shape.width);
    }
    ZarrArray array{{shape.height, shape.width}, {rows, columns}, header.sample};
    if (header.frames > 1) {
        array.sides.insert(array.sides.begin(), header.frames);
        array.chunk.insert(array.chunk.begin(), depth);
    }
    array.separator = '/'; // as OME-Zarr requires
    array.codec = ZarrCodec::zstd;
    return array;
}

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

Json ome_axis(const char* name, const char* type, const std::string& unit) {
    Json axis = {{"name", name}, {"type", type}};
    if (!unit.empty())
        axis.set("unit", unit);
    return axis;
}

/// The metadata of OME-Zarr 0.4. An unknown pixel size is written as 1, without a unit.
std::string ome_text(const std::string& path, const FrameHeader& header, StackAxis axis) {
    Json axes = Json::array(), scale = Json::array();
    if (header.frames > 1 && axis == StackAxis::time) {
        const bool known = header.frame_interval > 0;
        axes.add(ome_axis("t", "time", known ? "second" : ""));
        scale.add(known ? header.frame_interval : 1);
    } else if (header.frames > 1) {
        axes.add(ome_axis("z", "space", ""));
        scale.add(1.0);
    }
    const bool known = header.pixel.known();
    const std::string unit = known ? ome_unit(header.pixel.unit) : "";
    axes.add(ome_axis("y", "space", unit));
    axes.add(ome_axis("x", "space", unit));
    scale.add(known ? header.pixel.y : 1);
    scale.add(known ? header.pixel.x : 1);
    const Json dataset{
        {"path", "0"},
        {"coordinateTransformations", Json::array({Json{{"type", "scale"}, {"scale", scale}}})}};
    const Json image{{"version", "0.4"},
                     {"name", fs::path(path).stem().string()},
                     {"axes", axes},
                     {"datasets", Json::array({dataset})}};
    return Json{{"multiscales", Json::array({image})}}.text() + "\n";
}

/// Writes a file of the store at `path`, in the folder where it is being made. Errors name the
/// store.
void put(const std::string& path, const std::string& folder, const std::string& name,
         std::string_view bytes) {
    const fs::path file = fs::path(folder) / name;
    std::error_code error;
    fs::create_directories(file.parent_path(), error);
    if (error)
        throw InvalidFile(path, "cannot be written: " + error.message());
    try {
        write_file(file.string(), bytes);
    } catch (const InvalidFile& failed) {
        throw InvalidFile(path, std::string(failed.what()).substr(failed.path().size() + 2));
    }
}

void put_metadata(const std::string& path, const std::string& folder, const FrameHeader& header,
                  const ZarrArray& array, StackAxis axis) {
    put(path, folder, ".zgroup", "{\n  \"zarr_format\": 2\n}\n");
    put(path, folder, ".zattrs", ome_text(path, header, axis));
    put(path, folder, "0/.zarray", zarr_array_text(array));
}

/// Writes the chunks of successive frames, which begin at a chunk.
class ZarrSink : public FrameSink {
  public:
    /// `header`: with the number of frames to write.
    ZarrSink(const std::string& path, const FrameHeader& header, const ZarrArray& array,
             std::int64_t first_frame)
        : FrameSink(path, header),
          array_(array),
          first_(first_frame),
          depth_(array.sides.size() > 2 ? array_.chunk.front() : 1),
          rows_(array_.chunk[array_.chunk.size() - 2]),
          rows_held_(depth_ > 1 ? header.shape.height : rows_),
          held_(static_cast<std::size_t>(depth_ * rows_held_ * row_bytes())),
          threads_(zarr_threads(array_.chunk_bytes())),
          buffers_(static_cast<std::size_t>(threads_)) {}

  private:
    /// The folder of the store that is being made.
    virtual const std::string& folder() const = 0;

    void append(std::int64_t frame, Rows rows, std::span<const std::byte> samples) override {
        const bool last_of_layer = frame % depth_ == depth_ - 1 || frame == header().frames - 1;
        while (rows.count() > 0) {
            const std::int64_t band = rows.first / rows_;
            const std::int64_t band_end = std::min((band + 1) * rows_, header().shape.height);
            const std::int64_t end = std::min(rows.last, band_end);
            const auto bytes = static_cast<std::size_t>((end - rows.first) * row_bytes());
            std::memcpy(held_row(frame % depth_, rows.first), samples.data(), bytes);
            samples = samples.subspan(bytes);
            rows.first = end;
            if (last_of_layer && end == band_end)
                write_band(frame, band);
        }
    }

    std::byte* held_row(std::int64_t frame, std::int64_t row) {
        return held_.data() + (frame * rows_held_ + row % rows_held_) * row_bytes();
    }

    /// Writes the chunks of some rows, all of whose frames up to `frame` are held.
    void write_band(std::int64_t frame, std::int64_t band) {
        const std::int64_t columns = array_.chunk.back(), width = header().shape.width;
        run_zarr_tasks(
            (width + columns - 1) / columns, threads_, [&](std::int64_t column, int thread) {
                write_chunk(frame, band, column, buffers_[static_cast<std::size_t>(thread)]);
            });
    }

    struct Buffers {
        std::vector<std::byte> chunk, stored;
    };

    void write_chunk(std::int64_t frame, std::int64_t band, std::int64_t column, Buffers& buffers) {
        const Bytes size = size_of(header().sample), chunk_row = array_.chunk.back() * size;
        const Bytes left = column * chunk_row, bytes = std::min(chunk_row, row_bytes() - left);
        const std::int64_t first = band * rows_;
        const std::int64_t last = std::min(first + rows_, header().shape.height);
        std::vector<std::byte>& chunk = buffers.chunk;
        chunk.assign(static_cast<std::size_t>(array_.chunk_bytes()), std::byte{0});
        for (std::int64_t i = 0; i <= frame % depth_; ++i) {
            for (std::int64_t y = first; y < last; ++y) {
                std::memcpy(chunk.data() + (i * rows_ + y - first) * chunk_row,
                            held_row(i, y) + left, static_cast<std::size_t>(bytes));
            }
        }
        if (std::all_of(chunk.begin(), chunk.end(), [](std::byte b) { return b == std::byte{0}; }))
            return; // missing chunks consist of zeros
        encode_zarr_chunk(chunk, buffers.stored);
        std::vector<std::int64_t> position{band, column};
        if (array_.sides.size() > 2)
            position.insert(position.begin(), (first_ + frame) / depth_);
        put(path(), folder(), "0/" + array_.chunk_name(position),
            {reinterpret_cast<const char*>(buffers.stored.data()), buffers.stored.size()});
    }

    ZarrArray array_;
    std::int64_t first_;          ///< the first frame, in the series
    std::int64_t depth_;          ///< frames per chunk
    std::int64_t rows_;           ///< rows per chunk
    std::int64_t rows_held_;      ///< rows held of each frame
    std::vector<std::byte> held_; ///< samples whose chunks are not complete
    int threads_;
    std::vector<Buffers> buffers_; ///< one per thread
};

/// A store that is written in order.
class WholeZarrSink final : public ZarrSink {
  public:
    WholeZarrSink(const std::string& path, const FrameHeader& header, StackAxis axis)
        : ZarrSink(path, header, array_for(header), 0), folder_(new_store(path)) {
        put_metadata(path, folder(), header, array_for(header), axis);
    }

  private:
    const std::string& folder() const override { return folder_.temporary(); }
    void finish() override { folder_.commit(); }

    AtomicFolder folder_;
};

class ZarrPartSink final : public ZarrSink {
  public:
    ZarrPartSink(const std::string& path, const FrameHeader& header, const ZarrArray& array,
                 std::int64_t first, std::string folder)
        : ZarrSink(path, header, array, first), folder_(std::move(folder)) {}

  private:
    const std::string& folder() const override { return folder_; }
    void finish() override {}

    std::string folder_;
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

class ZarrParts final : public FrameParts {
  public:
    ZarrParts(std::string path, const FrameHeader& header, StackAxis axis)
        : path_(std::move(path)), header_(header), array_(array_for(header)), axis_(axis) {}

    std::int64_t frames_per_part() const override {
        return array_.sides.size() > 2 ? array_.chunk.front() : 1;
    }
    void create(const std::string& folder) override {
        remove_temporary_files(folder);
        put_metadata(path_, folder, header_, array_, axis_);
    }
    std::unique_ptr<FrameSink> part(const std::string& folder, std::int64_t first,
                                    std::int64_t count) override {
        FrameHeader header = header_;
        header.frames = count;
        return std::make_unique<ZarrPartSink>(path_, header, array_, first, folder);
    }
    void commit(const std::string& folder) override {
        const std::vector<std::string> names = replaceable_entries(path_);
        AtomicFolder(path_, std::vector<std::string_view>(names.begin(), names.end()), folder)
            .commit();
    }

  private:
    std::string path_;
    FrameHeader header_;
    ZarrArray array_;
    StackAxis axis_;
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
    return std::make_unique<WholeZarrSink>(path, header, options.axis);
}

std::unique_ptr<FrameParts> create_zarr_parts(const std::string& path, const FrameHeader& header,
                                              const SinkOptions& options) {
    check_zarr_sink(path, header);
    return std::make_unique<ZarrParts>(path, header, options.axis);
}

} // namespace sextant::format
