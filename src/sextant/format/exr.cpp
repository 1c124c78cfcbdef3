// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/exr.hpp"

#include "sextant/core/error.hpp"
#include "sextant/format/exr_deep.hpp"
#include "sextant/format/exr_library.hpp"
#include "sextant/format/limits.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <vector>

#include <OpenEXR/ImfFrameBuffer.h>
#include <OpenEXR/ImfInputFile.h>
#include <OpenEXR/ImfOutputFile.h>
#include <OpenEXR/ImfTileDescription.h>
#include <fmt/format.h>

namespace sextant::format {

namespace {

/// The channels of both element formats, in their order.
constexpr std::array channel_names{"R", "G", "B", "A", "Z"};

/// Samples that the compressions built on cosine transforms store as one.
constexpr Bytes transform_ratio = 64;

int channels_of(const ElementFormat& element) {
    return element == rgba_depth_f32 ? 5 : 4;
}

void check_channels(const std::string& path, const Imf::ChannelList& channels) {
    for (const char* name : channel_names) {
        const Imf::Channel* channel = channels.findChannel(name);
        const bool required = std::strchr("RGB", *name) != nullptr;
        if (!channel && required) {
            throw InvalidFile(path,
                              fmt::format("has no channel {}; it has {}, expected R, G, B and "
                                          "where wanted A and Z",
                                          name, names_of(channels)));
        }
        if (channel && (channel->xSampling != 1 || channel->ySampling != 1)) {
            throw InvalidFile(
                path, fmt::format("channel {} is subsampled, expected full resolution", name));
        }
    }
}

void check_tiles(const std::string& path, const Imf::Header& header, const ImageShape& data) {
    constexpr std::int64_t believable_side = 4096;
    if (!header.hasTileDescription())
        return;
    const Imf::TileDescription& tile = header.tileDescription();
    if (tile.xSize > std::max(believable_side, data.width) ||
        tile.ySize > std::max(believable_side, data.height)) {
        throw InvalidFile(path, fmt::format("has tiles of {}×{} in an image of {}×{}: damaged",
                                            tile.xSize, tile.ySize, data.width, data.height));
    }
}

/// Believes a header only where the file is large enough for what it claims.
void check_header(const std::string& path, const ExrStart& start) {
    const Imf::Header& header = start.header;
    check_channels(path, header.channels());
    const Window frame(header.displayWindow());
    const Window window(header.dataWindow());
    const ImageShape shape = checked_shape(path, frame.width(), frame.height());
    const ImageShape data = checked_shape(path, window.width(), window.height());
    const bool transformed = header.compression() == Imf::DWAA_COMPRESSION ||
                             header.compression() == Imf::DWAB_COMPRESSION;
    check_plausible(path, data.elements() * stored_pixel(header.channels()), start.file_size,
                    deflate_ratio * (transformed ? transform_ratio : 1));
    if (shape.elements() > data.elements())
        check_held(path, shape.elements(), start.file_size);
    check_tiles(path, header, data);
}

Imf::Header read_flat_header(const std::string& path) {
    const ExrStart start = read_exr_start(path);
    if (start.deep)
        throw InvalidFile(path, "has deep pixels, expected flat ones");
    check_header(path, start);
    return start.header;
}

ImageHeader image_header(const Imf::Header& header) {
    const Window frame(header.displayWindow());
    const bool depth = header.channels().findChannel("Z") != nullptr;
    return {{frame.width(), frame.height()}, depth ? rgba_depth_f32 : rgba_f32};
}

/// Slices that put every row of the file at `row`, pixel by pixel.
Imf::FrameBuffer row_buffer(float* row, const Window& window, int channels) {
    const std::size_t stride = sizeof(float) * static_cast<std::size_t>(channels);
    Imf::FrameBuffer buffer;
    for (int channel = 0; channel < channels; ++channel) {
        const char* name = channel_names[static_cast<std::size_t>(channel)];
        auto* base = reinterpret_cast<char*>(row + channel) -
                     window.left * static_cast<std::ptrdiff_t>(stride);
        const double missing = *name == 'A' ? 1 : 0;
        buffer.insert(name, Imf::Slice(Imf::FLOAT, base, stride, 0, 1, 1, missing));
    }
    return buffer;
}

/// Fills an image with what lies outside the data window.
void fill_empty(float* pixels, Elements count, int channels) {
    std::fill(pixels, pixels + count * channels, 0.0F);
    if (channels < 5)
        return;
    for (Elements i = 0; i < count; ++i)
        pixels[i * channels + 4] = std::numeric_limits<float>::infinity();
}

void read_rows(Imf::InputFile& file, const Window& frame, const Window& window, int channels,
               float* pixels) {
    fill_empty(pixels, frame.width() * frame.height(), channels);
    const std::int64_t left = std::max(frame.left, window.left);
    const std::int64_t right = std::min(frame.right, window.right);
    if (left >= right)
        return;
    std::vector<float> row(static_cast<std::size_t>(window.width() * channels));
    file.setFrameBuffer(row_buffer(row.data(), window, channels));
    const std::int64_t bottom = std::min(frame.bottom, window.bottom);
    for (std::int64_t y = std::max(frame.top, window.top); y < bottom; ++y) {
        file.readPixels(static_cast<int>(y));
        const float* from = row.data() + (left - window.left) * channels;
        float* to = pixels + ((y - frame.top) * frame.width() + left - frame.left) * channels;
        std::copy(from, from + (right - left) * channels, to);
    }
}

void write_rows(AtomicFile& to, const Image& image) {
    const int channels = channels_of(image.element());
    const int height = static_cast<int>(image.shape().height);
    Imf::Header header(static_cast<int>(image.shape().width), height);
    header.compression() = Imf::ZIP_COMPRESSION;
    const auto stride = static_cast<std::size_t>(image.element().size);
    const Imf::PixelType type = image.element() == rgba_f16 ? Imf::HALF : Imf::FLOAT;
    const std::size_t size = type == Imf::HALF ? sizeof(Half) : sizeof(float);
    Imf::FrameBuffer buffer;
    for (int channel = 0; channel < channels; ++channel) {
        const char* name = channel_names[static_cast<std::size_t>(channel)];
        header.channels().insert(name, Imf::Channel(type));
        // The library takes char* for both directions and only reads here.
        auto* base = const_cast<char*>(reinterpret_cast<const char*>(image.bytes().data())) +
                     size * static_cast<std::size_t>(channel);
        const std::size_t row = stride * static_cast<std::size_t>(image.shape().width);
        buffer.insert(name, Imf::Slice(type, base, stride, row));
    }
    AtomicStream stream(to);
    Imf::OutputFile file(stream, header);
    file.setFrameBuffer(buffer);
    file.writePixels(height);
}

} // namespace

ImageHeader read_exr_header(const std::string& path) {
    return reporting(path, "cannot be read", [&] {
        const ExrStart start = read_exr_start(path);
        if (start.deep)
            return deep_exr_header(path, start);
        check_header(path, start);
        return image_header(start.header);
    });
}

void read_exr(const std::string& path, const ImageHeader& expected, std::span<std::byte> to) {
    const Imf::Header header =
        reporting(path, "cannot be read", [&] { return read_flat_header(path); });
    check_expected(path, image_header(header), expected, to);
    reporting(path, "cannot be read", [&] {
        Imf::InputFile file(path.c_str());
        read_rows(file, Window(header.displayWindow()), Window(header.dataWindow()),
                  channels_of(expected.element), reinterpret_cast<float*>(to.data()));
    });
}

void write_exr(const std::string& path, const Image& image) {
    check_writable(path, image, std::numeric_limits<int>::max() / 2 - 1, true);
    reporting(path, "cannot be written", [&] {
        AtomicFile file(path);
        write_rows(file, image); // the library's file is complete only once it is destroyed
        file.commit();
    });
}

} // namespace sextant::format
