// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/png.hpp"

#include "sextant/core/atomic_file.hpp"
#include "sextant/core/error.hpp"
#include "sextant/format/limits.hpp"
#include "sextant/format/png_library.hpp"
#include "sextant/format/source_file.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

namespace sextant::format {

namespace {

/// Straight RGBA, 16 bits a sample. Samples of fewer bits are scaled to it exactly, since 65535 is
/// a multiple of 255, 15, 3 and 1: one path reads every PNG.
using Straight = std::array<std::uint16_t, 4>;

/// An open PNG, its header read and found believable.
class Reader {
  public:
    explicit Reader(const std::string& path) : file_(path), context_(make_png_context(0)) {
        // Texts and profiles are not used; none may take more than this.
        constexpr std::size_t most = std::size_t{1} << 24;
        require(spng_set_chunk_limits(context_.get(), most, most));
        require(spng_set_png_file(context_.get(), file_.handle()));
        spng_ihdr header{};
        require(spng_get_ihdr(context_.get(), &header));
        shape_ = checked_shape(path, header.width, header.height);
        const Bytes bits = Bytes{samples_a_pixel(header.color_type)} * header.bit_depth;
        check_plausible(path, shape_.elements() * bits / 8, file_.size(), deflate_ratio);
        check_held(path, shape_.elements(), file_.size());
    }

    ImageHeader header() const { return {shape_, rgba_f32}; }

    /// Decodes into `to`, which must hold 8 bytes a pixel, and on to the end of the file.
    void decode(std::span<std::byte> to) {
        require(spng_decode_image(context_.get(), to.data(), to.size(), SPNG_FMT_RGBA16,
                                  SPNG_DECODE_TRNS));
        require(spng_decode_chunks(context_.get()));
    }

  private:
    void require(int error) const { check_png(file_.path(), "cannot be read as PNG", error); }

    SourceFile file_;
    PngContext context_;
    ImageShape shape_;
};

RgbaF32 premultiplied(const Straight& straight) {
    constexpr float most = 65535;
    const float a = static_cast<float>(straight[3]) / most;
    return {static_cast<float>(straight[0]) / most * a, static_cast<float>(straight[1]) / most * a,
            static_cast<float>(straight[2]) / most * a, a};
}

std::uint8_t quantized(float value) {
    if (!(value > 0))
        return 0; // also NaN
    return static_cast<std::uint8_t>(std::floor(std::fmin(value, 1.0F) * 255 + 0.5F));
}

template <class Pixel>
void write_row(const Pixel* pixels, std::vector<std::uint8_t>& row) {
    for (std::size_t i = 0; i < row.size() / 4; ++i) {
        const Pixel& pixel = pixels[i];
        const bool visible = pixel.a > 0;
        row[4 * i] = visible ? quantized(pixel.r / pixel.a) : 0;
        row[4 * i + 1] = visible ? quantized(pixel.g / pixel.a) : 0;
        row[4 * i + 2] = visible ? quantized(pixel.b / pixel.a) : 0;
        row[4 * i + 3] = quantized(pixel.a);
    }
}

template <class Pixel>
int encode(spng_ctx* context, const Image& image) {
    const ImageShape shape = image.shape();
    spng_ihdr header{};
    header.width = static_cast<std::uint32_t>(shape.width);
    header.height = static_cast<std::uint32_t>(shape.height);
    header.bit_depth = 8;
    header.color_type = SPNG_COLOR_TYPE_TRUECOLOR_ALPHA;
    if (const int error = spng_set_ihdr(context, &header))
        return error;
    if (const int error = spng_encode_image(context, nullptr, 0, SPNG_FMT_PNG,
                                            SPNG_ENCODE_PROGRESSIVE | SPNG_ENCODE_FINALIZE)) {
        return error;
    }
    std::vector<std::uint8_t> row(static_cast<std::size_t>(shape.width) * 4);
    int error = 0;
    for (std::int64_t y = 0; y < shape.height && !error; ++y) {
        write_row(image.pixels<Pixel>().data() + y * shape.width, row);
        error = spng_encode_row(context, row.data(), row.size());
    }
    return error == SPNG_EOI ? 0 : error;
}

} // namespace

ImageHeader read_png_header(const std::string& path) {
    return Reader(path).header();
}

void read_png(const std::string& path, const ImageHeader& expected, std::span<std::byte> to) {
    Reader reader(path);
    check_expected(path, reader.header(), expected, to);
    // Straight pixels take half the room of floats: they are decoded into the upper half and
    // converted in place, first to last, where a result never reaches a pixel still to be read.
    const std::span<std::byte> upper = to.subspan(to.size() / 2);
    reader.decode(upper);
    for (std::size_t i = 0; i < to.size() / sizeof(RgbaF32); ++i) {
        Straight straight;
        std::memcpy(&straight, upper.data() + i * sizeof(Straight), sizeof(Straight));
        const RgbaF32 pixel = premultiplied(straight);
        std::memcpy(to.data() + i * sizeof(RgbaF32), &pixel, sizeof(RgbaF32));
    }
}

std::string encode_png(const Image& image) {
    const std::string path = "picture.png"; // for messages
    check_writable(path, image, std::numeric_limits<std::int32_t>::max());
    const PngContext context = make_png_context(SPNG_CTX_ENCODER);
    check_png(path, "cannot be encoded", spng_set_option(context.get(), SPNG_ENCODE_TO_BUFFER, 1));
    check_png(path, "cannot be encoded",
              image.element() == rgba_depth_f32 ? encode<RgbaDepthF32>(context.get(), image)
                                                : encode<RgbaF32>(context.get(), image));
    std::size_t size = 0;
    int error = 0;
    const std::unique_ptr<void, decltype(&std::free)> bytes(
        spng_get_png_buffer(context.get(), &size, &error), std::free);
    check_png(path, "cannot be encoded", error);
    return {static_cast<const char*>(bytes.get()), size};
}

void write_png(const std::string& path, const Image& image) {
    check_writable(path, image, std::numeric_limits<std::int32_t>::max());
    AtomicFile file(path);
    const PngContext context = make_png_context(SPNG_CTX_ENCODER);
    int error = spng_set_png_stream(context.get(), write_png_bytes, &file);
    if (!error) {
        error = image.element() == rgba_depth_f32 ? encode<RgbaDepthF32>(context.get(), image)
                                                  : encode<RgbaF32>(context.get(), image);
    }
    file.require_intact(); // the system's reason, rather than the library's number
    check_png(path, "cannot be written", error);
    file.commit();
}

} // namespace sextant::format
