// SPDX-License-Identifier: BSD-3-Clause
// What holds for every row of the catalogue: frames, rows and blocks are views of the same samples.
#include "sextant/array/memory_frames.hpp"
#include "sextant/format/catalogue.hpp"
#include "sextant/format/checks.hpp"

#include <filesystem>
#include <functional>
#include <regex>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/format/file_size_limit.hpp"
#include "tests/format/frames.hpp"
#include "tests/format/images.hpp"
#include "tests/format/temporary_folder.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

constexpr ImageShape shape{13, 7};

/// A way to write frames: a file extension of a format, and the types of samples that it holds.
struct Writable {
    std::string extension, types;
    bool one_frame = false, keeps_pixel = false, keeps_interval = false;
    format::SinkOptions options = {};
};

constexpr const char* all_types = "u8 i8 u16 i16 u32 i32 u64 i64 f16 f32 f64";

/// Each format that can be written, compressed by gzip too, and both versions of Zarr.
std::vector<Writable> writable() {
    std::vector<Writable> all;
    for (const format::FrameFormat& row : format::frame_catalogue()) {
        const bool zarr = row.name == "Zarr";
        std::istringstream extensions{std::string(row.extensions)};
        std::string extension, first;
        while (!row.written.empty() && extensions >> extension) {
            if (first.empty())
                first = extension;
            else if (extension != first + ".gz")
                continue;
            all.push_back({extension, row.written == "any" ? all_types : std::string(row.written),
                           row.name == "PNG", row.keeps_pixel || zarr,
                           row.name == "TIFF" || row.name == "NIfTI" || zarr});
        }
        if (zarr) {
            all.push_back(all.back());
            all.back().options.zarr_version = 2;
        }
    }
    return all;
}

/// A written file and its samples.
struct Written {
    const Writable& row;
    std::string path;
    FrameHeader header;
    std::span<const std::byte> samples;
};

/// Calls `check` for a file of each row and type.
void for_each_written(const std::function<void(const Written&)>& check) {
    const TemporaryFolder folder;
    const std::vector<Writable> rows = writable();
    for (const Writable& row : rows) {
        std::istringstream types(row.types);
        for (std::string type; types >> type;) {
            SCOPED_TRACE(row.extension + ", " + type);
            const FrameHeader header{
                row.one_frame ? 1 : 5, shape, *sample_named(type), 1, {.5, .25, "nm"}, {}, .125};
            const std::string path = folder.path(type + row.extension);
            std::filesystem::remove_all(path);
            write_pattern(path, header, row.options);
            std::vector<std::byte> samples;
            for (std::int64_t frame = 0; frame < header.frames; ++frame) {
                const auto values = pattern_frame<float>(frame, shape);
                std::vector<std::byte> stored(values.size() *
                                              static_cast<std::size_t>(size_of(header.sample)));
                from_floats(header.sample, values, stored);
                samples.insert(samples.end(), stored.begin(), stored.end());
            }
            check({row, path, header, samples});
        }
    }
}

/// A part of the samples of a series.
std::vector<std::byte> part_of(const FrameHeader& header, std::span<const std::byte> samples,
                               const ArrayBlock& block) {
    const Bytes size = size_of(header.sample);
    const std::vector<std::int64_t> lengths{header.frames, shape.height, shape.width};
    const std::vector<Elements> steps = steps_of(lengths);
    std::vector<std::byte> part(static_cast<std::size_t>(block.elements() * size));
    const Elements first =
        block.start[0] * steps[0] + block.start[1] * steps[1] + block.start[2] * steps[2];
    copy_block(block.count, size, samples.data() + first * size, steps, part.data(),
               steps_of(block.count));
    return part;
}

TEST(EveryFormat, reads_the_frames_and_rows_that_were_written) {
    for_each_written([](const Written& file) {
        const auto& [row, path, header, samples] = file;
        const auto source = format::open_frames(path);
        ASSERT_EQ(source->header().frames, header.frames);
        ASSERT_EQ(source->header().shape, shape);
        ASSERT_EQ(source->header().sample, header.sample);
        EXPECT_EQ(remarks(*source), "");
        EXPECT_TRUE(holds_pattern(*source));
        const PixelSize pixel = source->header().pixel;
        const double metres = format::metres_of(pixel.unit);
        EXPECT_NEAR(pixel.x * metres, row.keeps_pixel ? .5e-9 : 0, 1e-16);
        EXPECT_NEAR(pixel.y * metres, row.keeps_pixel ? .25e-9 : 0, 1e-16);
        EXPECT_EQ(source->header().frame_interval, row.keeps_interval ? .125 : 0);
        EXPECT_TRUE(!row.extension.ends_with(".gz") || content(path).starts_with("\x1f\x8b"));
        for (std::int64_t first = 0; first < header.frames; ++first) {
            for (std::int64_t count = 1; first + count <= header.frames; ++count) {
                const ArrayBlock block{{first, 0, 0}, {count, shape.height, shape.width}};
                std::vector<std::byte> read(
                    static_cast<std::size_t>(block.elements() * size_of(header.sample)));
                source->read_frames(first, count, read);
                EXPECT_EQ(read, part_of(header, samples, block)) << first << ", " << count;
            }
        }
        std::vector<std::byte> none;
        EXPECT_THROW(source->read_frames(header.frames, 1, none), std::logic_error);
        EXPECT_THROW(source->read_samples(0, {0, shape.height + 1}, none), std::logic_error);
    });
}

TEST(EveryFormat, keeps_all_bits_of_samples_in_a_complete_file_or_leaves_the_old_one) {
    for_each_written([](const Written& file) {
        const auto& [row, path, header, samples] = file;
        std::vector<std::byte> bits(samples.size()), read(samples.size());
        Random random(1);
        for (std::byte& byte : bits)
            byte = static_cast<std::byte>(random.number(0, 255));
        const auto entries = [&] {
            const std::filesystem::path folder = std::filesystem::path(path).parent_path();
            return std::distance(std::filesystem::directory_iterator(folder), {});
        };
        const auto before = entries();
        const auto rows =
            static_cast<std::size_t>(2 * shape.width * size_of(header.sample)); // two of them
        const auto write_rows = [&](FrameSink& sink) {
            EXPECT_THROW(sink.write_samples(std::span(bits).first(rows - 1)), std::logic_error);
            sink.write_samples(std::span(bits).first(rows));
        };
        {
            const auto partial = format::create_frames(path, header, row.options);
            write_rows(*partial);
            EXPECT_THROW(partial->commit(), std::logic_error);
        }
        EXPECT_EQ(entries(), before);
        EXPECT_TRUE(holds_pattern(*format::open_frames(path)));
        const auto sink = format::create_frames(path, header, row.options);
        write_rows(*sink);
        const std::size_t frame = samples.size() / static_cast<std::size_t>(header.frames);
        for (std::size_t at = rows; at < bits.size(); at = (at / frame + 1) * frame)
            sink->write_samples(std::span(bits).subspan(at, frame - at % frame));
        sink->commit();
        EXPECT_EQ(entries(), before);
        format::open_frames(path)->read_frames(0, header.frames, read);
        EXPECT_EQ(read, bits);
    });
}

TEST(EveryFormat, reads_blocks_of_the_samples_that_were_written) {
    for_each_written([](const Written& file) {
        const auto& [row, path, header, samples] = file;
        const auto source = format::open_array(path, {}, Bytes{1} << 20);
        const std::vector<std::int64_t>& lengths = source->header().lengths;
        const std::size_t leading = lengths.size() - 2;
        std::size_t frame_axis = 0; // formats may have further axes of one position, or none
        for (std::size_t axis = 0; axis < leading; ++axis) {
            ASSERT_TRUE(lengths[axis] == 1 || lengths[axis] == header.frames);
            frame_axis = lengths[axis] > 1 ? axis : frame_axis;
        }
        ASSERT_EQ(lengths[leading], shape.height);
        ASSERT_EQ(lengths[leading + 1], shape.width);
        const std::int64_t last = header.frames - 1;
        for (const ArrayBlock& block :
             {ArrayBlock{{0, 0, 0}, {header.frames, shape.height, shape.width}},
              ArrayBlock{{last, 2, 0}, {1, 3, shape.width}},
              ArrayBlock{{last / 2, 1, 4}, {last - last / 2 + 1, 5, 6}},
              ArrayBlock{{0, 6, 12}, {header.frames, 1, 1}}}) {
            std::vector<std::byte> read(
                static_cast<std::size_t>(block.elements() * size_of(header.sample)));
            ArrayBlock of_file{std::vector<std::int64_t>(lengths.size(), 0),
                               std::vector<std::int64_t>(lengths.size(), 1)};
            for (const std::size_t axis : {std::size_t{1}, std::size_t{2}}) {
                of_file.start[leading + axis - 1] = block.start[axis];
                of_file.count[leading + axis - 1] = block.count[axis];
            }
            if (leading > 0) {
                of_file.start[frame_axis] = block.start[0];
                of_file.count[frame_axis] = block.count[0];
            }
            source->read(of_file, read);
            EXPECT_EQ(read, part_of(header, samples, block));
        }
        std::vector<std::byte> some(1);
        EXPECT_THROW(source->read({lengths, lengths}, some), std::logic_error);
    });
}

TEST(EveryFormat, writes_the_samples_of_arrays_that_it_holds) {
    const TemporaryFolder folder;
    for_each_written([&](const Written& file) {
        const auto& [row, path, header, samples] = file;
        const std::string copy =
            folder.path("copy-" + std::filesystem::path(path).filename().string());
        const auto create = [&] {
            return format::create_array(copy,
                                        {{header.frames, shape.height, shape.width},
                                         {"t", "y", "x"},
                                         header.sample,
                                         {1, 3, shape.width}},
                                        row.options);
        };
        const auto sink = create();
        for (std::int64_t frame = 0; frame < header.frames; ++frame) {
            for (const Rows rows : {Rows{0, 3}, Rows{3, shape.height}}) {
                const ArrayBlock block{{frame, rows.first, 0}, {1, rows.count(), shape.width}};
                sink->write(block, part_of(header, samples, block));
            }
        }
        sink->commit();
        EXPECT_TRUE(holds_pattern(*format::open_frames(copy)));
        if (!sink->in_order() || header.frames == 1)
            return;
        const auto partial = create();
        const ArrayBlock second{{1, 0, 0}, {1, shape.height, shape.width}};
        EXPECT_THROW(partial->write(second, part_of(header, samples, second)), std::logic_error);
        EXPECT_THROW(partial->commit(), std::logic_error);
        EXPECT_TRUE(holds_pattern(*format::open_frames(copy))) << "the old file is kept";
    });
}

TEST(EveryFormat, writes_frames_of_any_shape) {
    const TemporaryFolder folder;
    for (const Writable& row : writable()) {
        const std::string path = folder.path("a" + row.extension);
        std::istringstream types(row.types);
        std::string type;
        for (const auto& [frames, of] :
             std::vector<std::pair<std::int64_t, ImageShape>>{{1, {1, 1}},
                                                              {1, {3000, 1700}},
                                                              {130, {70, 50}},
                                                              {64, {300, 280}},
                                                              {65, {1, 5000}},
                                                              {70, {70001, 1}},
                                                              {2, {2000, 1500}}}) {
            types >> type; // the last one again, if there are fewer types than shapes
            const bool in_chunks = row.extension == ".zarr" || row.extension == ".h5";
            if (!in_chunks && frames * of.elements() > 1'000'000)
                continue;
            SCOPED_TRACE(row.extension + ", " + type + ", " + std::to_string(of.width));
            const FrameHeader header{row.one_frame ? 1 : frames, of, *sample_named(type)};
            write_pattern(path, header, row.options);
            const auto source = format::open_frames(path);
            EXPECT_EQ(source->header().frames, header.frames);
            EXPECT_EQ(source->header().shape, of);
            EXPECT_TRUE(holds_pattern(*source));
        }
        EXPECT_EQ(folder.entries(), 1);
        std::filesystem::remove_all(path);
    }
}

TEST(EveryFormat, leaves_nothing_of_a_file_that_is_not_committed_or_too_large) {
    const TemporaryFolder folder;
    for (const Writable& row : writable()) {
        const std::string path = folder.path("a" + row.extension);
        const FrameHeader header{row.one_frame ? 1 : 40, {400, 100}, Sample::u16};
        Random random(1);
        std::vector<std::byte> noise(static_cast<std::size_t>(2 * header.shape.elements()));
        for (std::byte& byte : noise)
            byte = static_cast<std::byte>(random.number(0, 255));
        for (const rlim_t most : {rlim_t{100}, rlim_t{1} << 16}) {
            EXPECT_THAT(failure([&] {
                            const FileSizeLimit limit(most);
                            const auto sink = format::create_frames(path, header, row.options);
                            for (std::int64_t frame = 0; frame < header.frames; ++frame)
                                sink->write_samples(noise);
                            sink->commit();
                        }),
                        testing::StartsWith(path + ": cannot be written: File too large"));
        }
        {
            const auto sink = format::create_frames(path, header, row.options);
            sink->write(pattern_frame<float>(0, header.shape));
            EXPECT_FALSE(std::filesystem::exists(path)) << path;
        }
        EXPECT_EQ(folder.entries(), 0) << path;
    }
}

TEST(EveryFormat, refuses_samples_that_it_cannot_hold) {
    const TemporaryFolder folder;
    const auto refused = [&](const std::string& extension, const FrameHeader& header) {
        const std::string path = folder.path("a" + extension);
        return failure([&] { format::create_frames(path, header); }).substr(path.size() + 2);
    };
    for (const Writable& row : writable()) {
        EXPECT_EQ(refused(row.extension, {0, {1, 1}}),
                  "cannot hold 0 frames of 1×1, expected at least one with positive sides");
        const std::string held = std::regex_replace(row.types, std::regex(" "), ", ");
        std::istringstream types(all_types);
        for (std::string type; types >> type;) {
            if ((" " + row.types + " ").find(" " + type + " ") == std::string::npos) {
                EXPECT_EQ(refused(row.extension, {1, {1, 1}, *sample_named(type)}),
                          "cannot hold samples of " + type + ", expected one of " + held);
            }
        }
    }
    for (const format::FrameFormat& row : format::frame_catalogue()) {
        const std::string extension(row.extensions.substr(0, row.extensions.find(' ')));
        if (row.written.empty()) {
            EXPECT_EQ(refused(extension, {1, {2, 2}, Sample::u8}),
                      std::string(row.name) + " files can only be read");
        }
    }
    EXPECT_EQ(refused(".mrc.bz2", {1, {2, 2}, Sample::u16}),
              "cannot be written: bzip2 files can only be read, expected .mrc or .mrc.gz");
    EXPECT_EQ(folder.entries(), 0);
}

TEST(FrameSource, reads_the_chosen_axes_of_an_array) {
    // Two times, three channels, two slices; the value of a sample is its position.
    const std::vector<std::int64_t> lengths{2, 3, 2, 4, 5};
    std::vector<std::uint8_t> values(240);
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<std::uint8_t>(i);
    const auto array = [&] {
        FrameHeader planes{.frames = 12, .shape = {5, 4}, .sample = Sample::u8};
        planes.axes = {lengths, "TCZYX"};
        return std::move(MemoryFrames(planes, std::as_bytes(std::span(values)))).into_array();
    };
    ASSERT_EQ(array()->header().lengths, lengths);
    EXPECT_EQ(array()->header().names, (std::vector<std::string>{"t", "c", "z", "y", "x"}));
    FrameSource times(array(), {.frames = 2, .shape = {5, 4}, .sample = Sample::u8},
                      {{0}, {0, 2, 1, 0, 0}});
    std::vector<std::byte> row(5), both(40);
    times.read_samples(1, {3, 4}, row);
    EXPECT_EQ(std::to_integer<int>(row[0]), ((1 * 3 + 2) * 2 + 1) * 20 + 15);
    times.read_frames(0, 2, both);
    EXPECT_EQ(std::to_integer<int>(both[0]), (2 * 2 + 1) * 20);
    EXPECT_EQ(std::to_integer<int>(both[20]), ((1 * 3 + 2) * 2 + 1) * 20);
    // Frames of two axes, some of which are read together.
    FrameSource planes(array(), {.frames = 6, .shape = {5, 4}, .sample = Sample::u8},
                       {{0, 1}, {0, 0, 1, 0, 0}});
    std::vector<std::byte> four(80);
    planes.read_frames(1, 4, four);
    for (const int frame : {1, 2, 3, 4})
        EXPECT_EQ(std::to_integer<int>(four[static_cast<std::size_t>(frame - 1) * 20]),
                  (frame * 2 + 1) * 20)
            << frame;
}

} // namespace
} // namespace sextant::test
