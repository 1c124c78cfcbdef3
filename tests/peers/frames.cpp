// SPDX-License-Identifier: BSD-3-Clause
// Writes series with the library, and prints or stores what it reads, for comparison with other
// programs.
#include "sextant/core/error.hpp"
#include "sextant/format/catalogue.hpp"
#include "sextant/format/tiff/layout.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace {

using namespace sextant;

/// Header from the arguments SAMPLE FRAMES WIDTH HEIGHT, with a pixel size and a frame interval.
FrameHeader header_from(std::span<char*> words) {
    FrameHeader header;
    header.sample = sample_named(words[0]).value();
    header.frames = std::stoll(words[1]);
    header.shape = {std::stoll(words[2]), std::stoll(words[3])};
    header.pixel = {.25, .5, "µm"};
    header.frame_interval = .05;
    return header;
}

/// Writes samples that differ between frames and between pixels.
void write(const std::string& path, const FrameHeader& header) {
    const auto sink = format::create_frames(path, header);
    std::vector<float> samples(static_cast<std::size_t>(header.shape.elements()));
    for (std::int64_t frame = 0; frame < header.frames; ++frame) {
        for (std::size_t i = 0; i < samples.size(); ++i)
            samples[i] = static_cast<float>((i * 7 + static_cast<std::size_t>(frame) * 31) % 251);
        sink->write(samples);
    }
    sink->commit();
}

/// Writes a file of the same layout in which all samples are zero, and take no space on disk,
/// except the first byte of the last frame.
void write_sparse(const std::string& path, const FrameHeader& header) {
    const format::TiffLayout layout(header, {});
    const auto put = [](std::ofstream& file, const std::vector<std::byte>& bytes) {
        file.write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
    };
    const Bytes frame = header.shape.elements() * size_of(header.sample);
    const Bytes last = std::ssize(layout.start()) + (header.frames - 1) * frame;
    std::ofstream file(path, std::ios::binary);
    put(file, layout.start());
    file.seekp(last);
    file.put(77);
    file.seekp(last + frame + layout.padding());
    for (std::int64_t i = 1; i < layout.directories(); ++i)
        put(file, layout.directory(i));
    file.close();
    const auto length = static_cast<std::uintmax_t>(last + frame);
    if (std::filesystem::file_size(path) < length)
        std::filesystem::resize_file(path, length);
}

nlohmann::json look_at(FrameSource& source, std::int64_t frame) {
    const ImageShape shape = source.header().shape;
    std::vector<float> row(static_cast<std::size_t>(shape.width));
    double sum = 0, least = 0, largest = 0;
    for (std::int64_t y = 0; y < shape.height; ++y) {
        source.read_rows(frame, {y, y + 1}, row);
        if (y == 0)
            least = largest = static_cast<double>(row.front());
        for (const float value : row) {
            sum += static_cast<double>(value);
            least = std::min(least, static_cast<double>(value));
            largest = std::max(largest, static_cast<double>(value));
        }
    }
    return {sum / static_cast<double>(shape.elements()), least, largest};
}

/// Prints the mean, smallest and largest value of each frame, or of the last frame only.
void show(const std::string& name, const format::SourceOptions& options, bool only_last) {
    const auto source = format::open_frames(name, options);
    const FrameHeader& header = source->header();
    nlohmann::json all{{"frames", header.frames},
                       {"width", header.shape.width},
                       {"height", header.shape.height},
                       {"sample", std::string(sextant::name(header.sample))},
                       {"pixel", {header.pixel.x, header.pixel.y}},
                       {"unit", header.pixel.unit},
                       {"interval", header.frame_interval},
                       {"channels", header.hyperstack.channels},
                       {"slices", header.hyperstack.slices},
                       {"remarks", header.remarks}};
    all["values"] = nlohmann::json::array();
    for (std::int64_t frame = only_last ? header.frames - 1 : 0; frame < header.frames; ++frame)
        all["values"].push_back(look_at(*source, frame));
    std::cout << all.dump() << '\n';
}

/// Reads series and stores their samples without a header. Each line of standard input has a name,
/// a channel, a slice and the file for the samples. Prints a line per series, with its shape and
/// sample type, or why it cannot be read.
void store_samples() {
    std::string name, file;
    std::int64_t channel = 0, slice = 0;
    while (std::cin >> name >> channel >> slice >> file) {
        try {
            format::SourceOptions options{.channel = channel};
            if (slice >= 0)
                options.slice = slice;
            const auto source = format::open_frames(name, options);
            const FrameHeader& header = source->header();
            std::vector<std::byte> samples(
                static_cast<std::size_t>(header.shape.elements() * size_of(header.sample)));
            std::ofstream to(file, std::ios::binary);
            for (std::int64_t frame = 0; frame < header.frames; ++frame) {
                source->read_samples(frame, {0, header.shape.height}, samples);
                to.write(reinterpret_cast<const char*>(samples.data()), std::ssize(samples));
            }
            std::cout << fmt::format("{} {} {} {}\n", header.frames, header.shape.height,
                                     header.shape.width, sextant::name(header.sample));
        } catch (const InvalidFile& error) {
            std::cout << "refused: " << error.what() << '\n';
        }
    }
}

/// Writes series from files of samples without a header. Each line of standard input has the file,
/// the name of the series, its sample type, and its numbers of frames, columns and rows. Stores of
/// Zarr have this version.
void store_series(int zarr_version) {
    format::SinkOptions options;
    options.zarr_version = zarr_version;
    std::string file, name, sample;
    FrameHeader header;
    while (std::cin >> file >> name >> sample >> header.frames >> header.shape.width >>
           header.shape.height) {
        header.sample = sample_named(sample).value();
        const auto sink = format::create_frames(name, header, options);
        std::vector<std::byte> samples(
            static_cast<std::size_t>(header.shape.elements() * size_of(header.sample)));
        std::ifstream from(file, std::ios::binary);
        for (std::int64_t frame = 0; frame < header.frames; ++frame) {
            from.read(reinterpret_cast<char*>(samples.data()), std::ssize(samples));
            sink->write_samples(samples);
        }
        sink->commit();
    }
}

format::SourceOptions options_from(std::span<char*> words) {
    format::SourceOptions options;
    if (words.size() == 2) {
        options.channel = std::stoll(words[0]);
        options.slice = std::stoll(words[1]);
    }
    return options;
}

} // namespace

int main(int count, char** given) {
    const std::span<char*> words(given, static_cast<std::size_t>(count));
    const std::string verb = count > 1 ? words[1] : "";
    try {
        if (verb == "store-samples")
            store_samples();
        else if (verb == "store-series")
            store_series(count > 2 ? std::stoi(words[2]) : 3);
        else if (count > 2 && (verb == "show" || verb == "show-last"))
            show(words[2], options_from(words.subspan(3)), verb == "show-last");
        else if (verb == "write" && count == 7)
            write(words[2], header_from(words.subspan(3)));
        else if (verb == "sparse" && count == 7)
            write_sparse(words[2], header_from(words.subspan(3)));
        else
            return 2;
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 1;
    }
    return 0;
}
