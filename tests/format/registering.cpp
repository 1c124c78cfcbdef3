// SPDX-License-Identifier: BSD-3-Clause
// A series gives the same registration in every file format.
#include "sextant/registration/series/frame_series.hpp"

#include <functional>
#include <stdexcept>

#include "tests/format/fixtures.hpp"
#include "tests/format/hdf5_files.hpp"
#include "tests/format/images.hpp"
#include "tests/format/jpeg_files.hpp"
#include "tests/format/temporary_folder.hpp"
#include "tests/registration/made_series.hpp"
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

constexpr ImageShape small{72, 64};
constexpr std::int64_t count = 5;
constexpr auto little = std::endian::little;

/// Frames of integers up to 255, which every format can store.
FramesMade counted_frames() {
    SeriesPlan plan;
    plan.shape = small;
    plan.frames = count;
    plan.drift = {-.003, -1.4, .9};
    plan.dose = 40;
    registration::SpecimenPlan specimen;
    specimen.field = registration::field_for(plan);
    const SyntheticSeries series(plan, registration::find_specimen("carbon").make(specimen));
    FramesMade frames;
    for (int frame = 0; frame < count; ++frame)
        frames.push_back(series.counted(frame));
    return frames;
}

const FramesMade& frames() {
    static const FramesMade made = counted_frames();
    return made;
}

float sample_at(std::int64_t frame, std::int64_t x, std::int64_t y) {
    return frames()[static_cast<std::size_t>(frame)].image().row(y)[x];
}

template <class T>
std::vector<T> samples_of(std::int64_t frame) {
    std::vector<T> samples;
    for (std::int64_t y = 0; y < small.height; ++y) {
        for (std::int64_t x = 0; x < small.width; ++x)
            samples.push_back(static_cast<T>(sample_at(frame, x, y)));
    }
    return samples;
}

template <class T>
std::vector<T> samples_of_all() {
    std::vector<T> all;
    for (std::int64_t frame = 0; frame < count; ++frame) {
        const std::vector<T> one = samples_of<T>(frame);
        all.insert(all.end(), one.begin(), one.end());
    }
    return all;
}

template <class T>
std::string bytes_of_frame(std::int64_t frame) {
    return Bytewise(little).put_all(samples_of<T>(frame)).bytes();
}

/// A file in which the samples of the series replace those of the pattern.
template <class T>
std::string with_our_samples(std::string file) {
    for (std::int64_t frame = 0; frame < count; ++frame) {
        const std::string theirs = Bytewise(little).put_all(pattern_frame<T>(frame, small)).bytes();
        const std::size_t at = file.find(theirs);
        if (at == std::string::npos)
            throw std::logic_error("a fixture without the pattern");
        file.replace(at, theirs.size(), bytes_of_frame<T>(frame));
    }
    return file;
}

void write_sink(const std::string& path, Sample sample, std::int64_t first, std::int64_t last) {
    FrameHeader header;
    header.frames = last - first;
    header.shape = small;
    header.sample = sample;
    const auto sink = format::create_frames(path, header);
    for (std::int64_t frame = first; frame < last; ++frame)
        sink->write(samples_of<float>(frame));
    sink->commit();
}

/// Writes one file per frame.
void write_files(const TemporaryFolder& folder, const std::string& extension) {
    for (std::int64_t frame = 0; frame < count; ++frame)
        write_sink(folder.path("f_" + std::to_string(frame) + extension), Sample::u8, frame,
                   frame + 1);
}

void write_jpegs(const TemporaryFolder& folder) {
    for (std::int64_t frame = 0; frame < count; ++frame)
        write_jpeg(folder.path("f_" + std::to_string(frame) + ".jpg"), small.width, small.height, 1,
                   samples_of<unsigned char>(frame), false);
}

void write_velox(const std::string& path) {
    std::vector<std::uint16_t> values; // the frame index varies fastest
    for (std::int64_t y = 0; y < small.height; ++y) {
        for (std::int64_t x = 0; x < small.width; ++x) {
            for (std::int64_t frame = 0; frame < count; ++frame)
                values.push_back(static_cast<std::uint16_t>(sample_at(frame, x, y)));
        }
    }
    Hdf5File(path).dataset("/Data/Image/0a1b/Data", {64, 72, 5}, H5T_STD_U16LE, H5T_NATIVE_UINT16,
                           values, {16, 72, 1});
}

void write_berkeley(const std::string& path) {
    Hdf5File file(path);
    file.dataset("/data/movie/data", {5, 64, 72}, H5T_STD_I16BE, H5T_NATIVE_INT16,
                 samples_of_all<std::int16_t>());
    file.number("/data/movie", "emd_group_type", 1);
}

void write_plain(const std::string& path, const std::string& dataset) {
    Hdf5File(path).dataset(dataset, {5, 64, 72}, H5T_IEEE_F32LE, H5T_NATIVE_INT16,
                           samples_of_all<std::int16_t>(), {1, 32, 72});
}

std::vector<RigidMotion> motions_of(FrameSource& source) {
    std::vector<RigidMotion> motions;
    run_threads(1, [&](const Communicator& communicator) {
        const RegistrationOptions options;
        for (const FrameRegistration& place : register_series({communicator, source, options}))
            motions.push_back(place.result.motion);
    });
    return motions;
}

const std::vector<RigidMotion>& expected() {
    static const std::vector<RigidMotion> motions = [] {
        MadeSource source(frames());
        return motions_of(source);
    }();
    return motions;
}

/// A file format; `make` writes the series and returns the name with which to open it.
struct Keeping {
    std::string name;
    std::function<std::string(const TemporaryFolder& folder)> make;
};

std::vector<Keeping> keepings() {
    const auto file = [](const std::string& name, const std::function<void(std::string)>& write) {
        return [=](const TemporaryFolder& folder) {
            write(folder.path(name));
            return folder.path(name);
        };
    };
    const auto bytes = [=](const std::string& name, const std::function<std::string()>& make) {
        return file(name, [=](const std::string& path) { fill_file(path, make()); });
    };
    const auto sink = [=](const std::string& name, Sample sample) {
        return file(name, [=](const std::string& path) { write_sink(path, sample, 0, count); });
    };
    const auto all_i16 = [] { return Bytewise(little).put_all(samples_of_all<std::int16_t>()); };
    const auto files = [](const std::string& extension) {
        return [=](const TemporaryFolder& folder) {
            write_files(folder, extension);
            return folder.path("f_*" + extension);
        };
    };
    return {
        {"TiffStack", sink("a.tif", Sample::u16)},
        {"TiffOfFloats", sink("a.tif", Sample::f32)},
        {"TiffFiles", files(".tif")},
        {"PngFiles", files(".png")},
        {"Mrc", sink("a.mrcs", Sample::i16)},
        {"Npy", sink("a.npy", Sample::u16)},
        {"Ser", bytes("a.ser",
                      [] {
                          return with_our_samples<std::uint16_t>(
                              ser_bytes(true, std::vector<ImageShape>(count, small), count));
                      })},
        {"Dm3", bytes("a.dm3",
                      [] {
                          return with_our_samples<std::int16_t>(
                              DmBytes(3, little).stack(count, small));
                      })},
        {"Dm4", bytes("a.dm4",
                      [] {
                          return with_our_samples<std::int16_t>(
                              DmBytes(4, little).stack(count, small));
                      })},
        {"Velox", file("a.emd", write_velox)},
        {"Berkeley", file("b.emd", write_berkeley)},
        {"HyperSpy",
         file("a.hspy",
              [](const std::string& path) { write_plain(path, "/Experiments/series/data"); })},
        {"Dataset",
         [](const TemporaryFolder& folder) {
             write_plain(folder.path("a.h5"), "/images");
             return folder.path("a.h5") + "::/images";
         }},
        {"Headerless",
         [=](const TemporaryFolder& folder) {
             fill_file(folder.path("a.raw"), all_i16().bytes());
             return folder.path("a.raw") + "::72x64,i16";
         }},
    };
}

class Registering : public testing::TestWithParam<Keeping> {};

TEST_P(Registering, from_files_gives_the_same_bits_as_from_memory) {
    const TemporaryFolder folder;
    const auto source = format::open_frames(GetParam().make(folder));
    const std::vector<RigidMotion> motions = motions_of(*source);
    ASSERT_EQ(motions.size(), expected().size());
    for (std::size_t frame = 0; frame < motions.size(); ++frame) {
        EXPECT_EQ(motions[frame].alpha, expected()[frame].alpha) << frame;
        EXPECT_EQ(motions[frame].tx, expected()[frame].tx) << frame;
        EXPECT_EQ(motions[frame].ty, expected()[frame].ty) << frame;
    }
    EXPECT_GT(std::abs(motions.back().tx), 3); // the motions are not trivial
}

INSTANTIATE_TEST_SUITE_P(FromEveryFormat, Registering, testing::ValuesIn(keepings()),
                         [](const auto& test) { return test.param.name; });

TEST(RegisteringJpeg, changes_motions_by_less_than_a_fiftieth_of_a_pixel) {
    const TemporaryFolder folder;
    write_jpegs(folder);
    const auto source = format::open_frames(folder.path("f_*.jpg"));
    const std::vector<RigidMotion> motions = motions_of(*source);
    ASSERT_EQ(motions.size(), expected().size());
    for (std::size_t frame = 0; frame < motions.size(); ++frame)
        EXPECT_LT(registration::rms_distance(motions[frame], expected()[frame], small), .02)
            << frame;
}

} // namespace
} // namespace sextant::test
