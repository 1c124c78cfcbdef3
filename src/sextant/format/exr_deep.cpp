// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/exr_deep.hpp"

#include "sextant/format/limits.hpp"

#include <array>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

#include <OpenEXR/ImfDeepFrameBuffer.h>
#include <OpenEXR/ImfDeepScanLineInputFile.h>
#include <OpenEXR/ImfDeepScanLineOutputFile.h>
#include <OpenEXR/ImfPartType.h>

namespace sextant::format {

namespace {

struct DeepChannel {
    const char* name;
    std::size_t offset; ///< in a Fragment
};
constexpr std::array deep_channels{
    DeepChannel{"R", offsetof(Fragment, r)}, DeepChannel{"G", offsetof(Fragment, g)},
    DeepChannel{"B", offsetof(Fragment, b)}, DeepChannel{"A", offsetof(Fragment, a)},
    DeepChannel{"Z", offsetof(Fragment, depth)}};

void check_deep_channels(const std::string& path, const Imf::ChannelList& channels) {
    for (const DeepChannel& wanted : deep_channels) {
        const Imf::Channel* channel = channels.findChannel(wanted.name);
        if (!channel) {
            throw InvalidFile(path, fmt::format("has no channel {}; it has {}, expected R, G, B, A "
                                                "and Z in a deep image",
                                                wanted.name, names_of(channels)));
        }
        if (channel->xSampling != 1 || channel->ySampling != 1) {
            throw InvalidFile(
                path,
                fmt::format("channel {} is subsampled, expected full resolution", wanted.name));
        }
    }
    if (channels.findChannel("ZBack")) {
        throw InvalidFile(path, "has channel ZBack: samples with an extent, which are not merged; "
                                "expected points");
    }
}

/// How many samples each pixel of a window has, and where those of each channel go or come from:
/// the library wants a pointer a pixel, and to know where before anything is there.
class Samples {
  public:
    /// `frame`'s pixels are the image's; the library asks for those of `window`, within it.
    Samples(const Window& frame, const Window& window)
        : frame_(frame),
          window_(window),
          counts_(static_cast<std::size_t>(window.width() * window.height())) {
        for (auto& pointers : pointers_)
            pointers.resize(counts_.size());
    }

    Imf::DeepFrameBuffer buffer() {
        Imf::DeepFrameBuffer buffer;
        buffer.insertSampleCountSlice(
            Imf::Slice(Imf::UINT, from_origin(counts_.data()), sizeof(unsigned), row<unsigned>()));
        for (std::size_t c = 0; c < deep_channels.size(); ++c) {
            buffer.insert(deep_channels[c].name,
                          Imf::DeepSlice(Imf::FLOAT, from_origin(pointers_[c].data()),
                                         sizeof(char*), row<char*>(), sizeof(Fragment)));
        }
        return buffer;
    }

    /// The counts that were read, as the image has them.
    void lay_out(DeepImage& image) const {
        each([&](std::size_t i, std::size_t pixel) { image.first[pixel + 1] = counts_[i]; });
        std::partial_sum(image.first.begin(), image.first.end(), image.first.begin());
    }

    /// The image's counts, and where its fragments lie.
    void point_to(const DeepImage& image, Fragment* fragments) {
        each([&](std::size_t i, std::size_t pixel) {
            counts_[i] = static_cast<unsigned>(image.first[pixel + 1] - image.first[pixel]);
            char* const first = reinterpret_cast<char*>(fragments + image.first[pixel]);
            for (std::size_t c = 0; c < deep_channels.size(); ++c)
                pointers_[c][i] = first + deep_channels[c].offset;
        });
    }

  private:
    /// Calls `part` with each pixel's number in the window and in the image.
    template <class Part>
    void each(const Part& part) const {
        std::size_t i = 0;
        for (std::int64_t y = window_.top; y < window_.bottom; ++y) {
            for (std::int64_t x = window_.left; x < window_.right; ++x)
                part(i++,
                     static_cast<std::size_t>((y - frame_.top) * frame_.width() + x - frame_.left));
        }
    }

    template <class Value>
    std::size_t row() const {
        return sizeof(Value) * static_cast<std::size_t>(window_.width());
    }
    /// The library counts pixels from the origin, wherever the window lies.
    template <class Value>
    char* from_origin(Value* values) const {
        const std::ptrdiff_t before = window_.top * window_.width() + window_.left;
        return reinterpret_cast<char*>(values) -
               before * static_cast<std::ptrdiff_t>(sizeof(Value));
    }

    const Window frame_, window_;
    std::vector<unsigned> counts_;
    std::array<std::vector<char*>, deep_channels.size()> pointers_;
};

void write_samples(AtomicFile& to, const DeepImage& image) {
    const int width = static_cast<int>(image.shape.width);
    const int height = static_cast<int>(image.shape.height);
    Imf::Header header(width, height);
    header.setType(Imf::DEEPSCANLINE);
    header.compression() = Imf::ZIPS_COMPRESSION;
    for (const DeepChannel& channel : deep_channels)
        header.channels().insert(channel.name, Imf::Channel(Imf::FLOAT));
    const Window window(header.dataWindow());
    // The library takes char* for both directions and only reads here.
    Samples samples(window, window);
    samples.point_to(image, const_cast<Fragment*>(image.fragments.data()));
    AtomicStream stream(to);
    Imf::DeepScanLineOutputFile file(stream, header);
    file.setFrameBuffer(samples.buffer());
    file.writePixels(height);
}

} // namespace

ImageHeader deep_exr_header(const std::string& path, const ExrStart& start) {
    const Imf::Header& header = start.header;
    if (!header.hasType() || header.type() != Imf::DEEPSCANLINE) {
        throw InvalidFile(path, fmt::format("is of type '{}', expected deep scan lines",
                                            header.hasType() ? header.type() : "none"));
    }
    check_deep_channels(path, header.channels());
    const Window frame(header.displayWindow()), window(header.dataWindow());
    const ImageShape shape = checked_shape(path, frame.width(), frame.height());
    const bool inside = window.left >= frame.left && window.top >= frame.top &&
                        window.right <= frame.right && window.bottom <= frame.bottom;
    if (!inside) {
        throw InvalidFile(path, "has deep pixels outside the picture (data window beyond the "
                                "display window)");
    }
    check_plausible(path, shape.elements() * static_cast<Bytes>(sizeof(unsigned)), start.file_size,
                    deflate_ratio);
    return {shape, deep_f32};
}

DeepImage read_exr_deep(const std::string& path) {
    return reporting(path, "cannot be read", [&] {
        const ExrStart start = read_exr_start(path);
        if (!start.deep)
            throw InvalidFile(path, "is flat, expected deep pixels");
        DeepImage image = empty_deep_image(deep_exr_header(path, start).shape);
        const Window frame(start.header.displayWindow()), window(start.header.dataWindow());
        const int top = static_cast<int>(window.top), last = static_cast<int>(window.bottom) - 1;
        Samples samples(frame, window);
        Imf::DeepScanLineInputFile file(path.c_str());
        file.setFrameBuffer(samples.buffer());
        file.readPixelSampleCounts(top, last);
        samples.lay_out(image);
        check_plausible(path, image.first.back() * stored_pixel(start.header.channels()),
                        start.file_size, deflate_ratio);
        image.fragments.resize(static_cast<std::size_t>(image.first.back()));
        samples.point_to(image, image.fragments.data());
        file.readPixels(top, last);
        return image;
    });
}

void write_exr_deep(const std::string& path, const DeepImage& image) {
    constexpr std::int64_t longest_side = std::numeric_limits<int>::max() / 2 - 1;
    const auto [width, height] = image.shape;
    if (width < 1 || height < 1 || width > longest_side || height > longest_side) {
        throw InvalidFile(path, fmt::format("cannot hold an image of {}x{} pixels", width, height));
    }
    reporting(path, "cannot be written", [&] {
        AtomicFile file(path);
        write_samples(file, image); // the library's file is complete only once it is destroyed
        file.commit();
    });
}

} // namespace sextant::format
