// SPDX-License-Identifier: BSD-3-Clause
// Files that other programs write, of every type of sample in both byte orders.
#include <bit>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/format/fixtures.hpp"
#include "tests/format/nifti_files.hpp"
#include "tests/format/temporary_folder.hpp"
#include "tests/format/tiff_bytes.hpp"
#include "tests/format/zarr3_files.hpp"
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

constexpr ImageShape shape{13, 7};
constexpr std::int64_t frames = 3;

/// A way to store the pattern; `write` gets its samples, frame by frame.
struct Stored {
    std::string file, types;
    std::function<void(const std::string& path, Sample, std::endian, const std::string& samples)>
        write;
};

std::vector<Stored> ways_to_store() {
    const std::string integers = "u8 i8 u16 i16 u32 i32 u64 i64", all = integers + " f16 f32 f64";
    const auto bytes_of = [](Sample sample) { return static_cast<int>(size_of(sample)); };
    const auto kind_of = [](Sample sample) { return name(sample).front(); };
    std::vector<Stored> ways{
        {"a.mrc", "i8 i16 f32 u16 f16",
         [](auto& path, Sample sample, std::endian order, auto& samples) {
             const std::map<Sample, int> modes{{Sample::i8, 0},
                                               {Sample::i16, 1},
                                               {Sample::f32, 2},
                                               {Sample::u16, 6},
                                               {Sample::f16, 12}};
             fill_file(path, mrc_bytes(modes.at(sample), frames, shape, order, samples));
         }},
        {"a.npy", all,
         [=](auto& path, Sample sample, std::endian order, auto& samples) {
             const std::string type = fmt::format("{}{}{}", order == std::endian::big ? '>' : '<',
                                                  kind_of(sample), bytes_of(sample));
             const int version = sample == Sample::f32 ? 2 : 1;
             fill_file(path, npy_bytes(type, false, "3, 7, 13", samples, version));
         }},
        {"a.zarr", all,
         [=](auto& path, Sample sample, std::endian order, auto&) {
             write_zarr(path, {.type = fmt::format("{}{}{}", order == std::endian::big ? '>' : '<',
                                                   kind_of(sample), bytes_of(sample))});
         }},
    };
    for (const bool sharded : {false, true})
        ways.push_back({sharded ? "shards.zarr" : "chunks.zarr", all,
                        [=](auto& path, Sample sample, std::endian order, auto&) {
                            Zarr3Pattern array{.type = long_name(sample),
                                               .endian =
                                                   order == std::endian::big ? "big" : "little"};
                            if (sharded)
                                array.shards = Zarr3Shards{};
                            write_zarr3(path, array);
                        }});
    for (const bool big : {false, true})
        ways.push_back(
            {big ? "big.tif" : "a.tif", "u8 i8 u16 i16 u32 i32 f32 f64",
             [=](auto& path, Sample sample, std::endian order, auto& samples) {
                 TiffBytes file(order, big);
                 const int kind = 1 + static_cast<int>(std::string("uif").find(kind_of(sample)));
                 const std::size_t one = samples.size() / frames;
                 for (std::size_t at = 0; at < samples.size(); at += one)
                     file.add({shape, 8 * bytes_of(sample), kind}, samples.substr(at, one));
                 fill_file(path, file.bytes());
             }});
    for (const int version : {1, 2}) {
        for (const bool compressed : {false, true})
            ways.push_back(
                {fmt::format("{}.nii{}", version, compressed ? ".gz" : ""), integers + " f32 f64",
                 [=](auto& path, Sample sample, std::endian order, auto& samples) {
                     const std::map<Sample, int> types{{Sample::u8, 2},     {Sample::i16, 4},
                                                       {Sample::i32, 8},    {Sample::f32, 16},
                                                       {Sample::f64, 64},   {Sample::i8, 256},
                                                       {Sample::u16, 512},  {Sample::u32, 768},
                                                       {Sample::i64, 1024}, {Sample::u64, 1280}};
                     const std::string bytes = NiftiFile{.version = version,
                                                         .order = order,
                                                         .type = types.at(sample),
                                                         .bits = 8 * bytes_of(sample)}
                                                   .bytes(samples);
                     fill_file(path, compressed ? deflated(bytes, true) : bytes);
                 }});
    }
    return ways;
}

TEST(EveryFormat, reads_every_type_of_sample_in_both_byte_orders) {
    for (const Stored& way : ways_to_store()) {
        std::istringstream types(way.types);
        for (std::string type; types >> type;) {
            for (const std::endian order : {std::endian::little, std::endian::big}) {
                SCOPED_TRACE(fmt::format("{}, {}, {}", way.file, type,
                                         order == std::endian::big ? "big" : "little"));
                const Sample sample = *sample_named(type);
                const TemporaryFolder folder;
                Bytewise samples(order);
                for (std::int64_t frame = 0; frame < frames; ++frame) {
                    for (const float value : pattern_frame<float>(frame, shape))
                        put_sample(samples, sample, value);
                }
                way.write(folder.path(way.file), sample, order, samples.bytes());
                const auto source = format::open_frames(folder.path(way.file));
                EXPECT_EQ(source->header().frames, frames);
                EXPECT_EQ(source->header().shape, shape);
                EXPECT_EQ(source->header().sample, sample);
                EXPECT_EQ(remarks(*source), "");
                EXPECT_TRUE(holds_pattern(*source));
                EXPECT_EQ(folder.entries(), 1);
            }
        }
    }
}

} // namespace
} // namespace sextant::test
