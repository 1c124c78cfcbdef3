// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/png.hpp"

#include "sextant/core/atomic_file.hpp"
#include "sextant/core/error.hpp"
#include "sextant/format/checks.hpp"
#include "sextant/format/frame_sources.hpp"
#include "sextant/format/source_file.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <spng.h>

namespace sextant::format {

namespace {

struct FreePng {
    void operator()(spng_ctx* context) const { spng_ctx_free(context); }
};
using PngContext = std::unique_ptr<spng_ctx, FreePng>;

PngContext make_png_context(int flags) {
    PngContext context(spng_ctx_new(flags));
    if (!context)
        throw std::bad_alloc();
    return context;
}

void check_png(const std::string& path, const char* failed, int error) {
    if (error)
        throw InvalidFile(path, fmt::format("{}: {}", failed, spng_strerror(error)));
}

int samples_a_pixel(int color_type) {
    switch (color_type) {
    case SPNG_COLOR_TYPE_TRUECOLOR:
        return 3;
    case SPNG_COLOR_TYPE_GRAYSCALE_ALPHA:
        return 2;
    case SPNG_COLOR_TYPE_TRUECOLOR_ALPHA:
        return 4;
    default:
        return 1; // one grey value or palette index
    }
}

/// libspng's write callback. Returns error codes, because exceptions must not pass through C code.
int write_png_bytes(spng_ctx*, void* user, void* bytes, std::size_t size) {
    try {
        static_cast<AtomicFile*>(user)->write({static_cast<const std::byte*>(bytes), size});
        return 0;
    } catch (...) {
        return SPNG_IO_ERROR; // the AtomicFile records why the write failed
    }
}

/// An open PNG file, with the state that both readers need.
class PngInput {
  protected:
    explicit PngInput(const std::string& path) : file_(path), context_(make_png_context(0)) {
        // Limits the memory of texts and profiles, which are not used.
        constexpr std::size_t most = std::size_t{1} << 24;
        require(spng_set_chunk_limits(context_.get(), most, most));
        require(spng_set_png_file(context_.get(), file_.handle()));
        require(spng_get_ihdr(context_.get(), &header_));
    }
    ImageShape checked_shape() const {
        return format::checked_shape(file_.path(), header_.width, header_.height);
    }
    void require(int error) const { check_png(file_.path(), "cannot be read as PNG", error); }

    SourceFile file_;
    PngContext context_;
    spng_ihdr header_{};
};

/// Starts an image whose rows are encoded one by one. Returns libspng's error code.
int begin_rows(spng_ctx* context, ImageShape shape, int color_type, int bit_depth) {
    spng_ihdr header{};
    header.width = static_cast<std::uint32_t>(shape.width);
    header.height = static_cast<std::uint32_t>(shape.height);
    header.bit_depth = static_cast<std::uint8_t>(bit_depth);
    header.color_type = static_cast<std::uint8_t>(color_type);
    if (const int error = spng_set_ihdr(context, &header))
        return error;
    return spng_encode_image(context, nullptr, 0, SPNG_FMT_PNG,
                             SPNG_ENCODE_PROGRESSIVE | SPNG_ENCODE_FINALIZE);
}

int encode_row(spng_ctx* context, const void* row, std::size_t bytes) {
    const int error = spng_encode_row(context, row, bytes);
    return error == SPNG_EOI ? 0 : error; // SPNG_EOI is returned for the last row
}

/// Straight (not premultiplied) RGBA, 16 bits per sample. All PNG files are read in this format:
/// samples of 1 to 8 bits scale to 16 bits exactly, because 65535 is a multiple of 255, 15, 3 and
/// 1.
using Straight = std::array<std::uint16_t, 4>;

/// An open PNG file with a plausible header, which is decoded as a whole.
class PngReader : private PngInput {
  public:
    explicit PngReader(const std::string& path) : PngInput(path), shape_(checked_shape()) {
        const Bytes bits = Bytes{samples_a_pixel(header_.color_type)} * header_.bit_depth;
        check_plausible(path, shape_.elements() * bits / 8, file_.size(), deflate_ratio);
        check_held(path, shape_.elements(), file_.size());
    }

    ImageHeader header() const { return {shape_, rgba_f32}; }

    /// Decodes the image into `to`, which must hold 8 bytes per pixel, and reads to the end of the
    /// file.
    void decode(std::span<std::byte> to) {
        require(spng_decode_image(context_.get(), to.data(), to.size(), SPNG_FMT_RGBA16,
                                  SPNG_DECODE_TRNS));
        require(spng_decode_chunks(context_.get()));
    }

  private:
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
        return 0; // zero, negative or NaN
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
    int error = begin_rows(context, shape, SPNG_COLOR_TYPE_TRUECOLOR_ALPHA, 8);
    std::vector<std::uint8_t> row(static_cast<std::size_t>(shape.width) * 4);
    for (std::int64_t y = 0; y < shape.height && !error; ++y) {
        write_row(image.pixels<Pixel>().data() + y * shape.width, row);
        error = encode_row(context, row.data(), row.size());
    }
    return error;
}

} // namespace

ImageHeader read_png_header(const std::string& path) {
    return PngReader(path).header();
}

void read_png(const std::string& path, const ImageHeader& expected, std::span<std::byte> to) {
    PngReader reader(path);
    check_expected(path, reader.header(), expected, to);
    // Straight pixels take half the memory of floats. They are decoded into the upper half of the
    // buffer and converted in place from first to last, so each pixel is read before it is
    // overwritten.
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
    const std::string path = "picture.png"; // used only in messages
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
    file.require_intact(); // the system's reason is clearer than libspng's error code
    check_png(path, "cannot be written", error);
    file.commit();
}

namespace {

/// A pass of an interlaced file: the position of its first pixel, and the steps between its pixels.
struct Pass {
    std::int64_t x, y, step_x, step_y;
    std::int64_t width(std::int64_t row) const { return row > x ? (row - x - 1) / step_x + 1 : 0; }
    bool has(std::int64_t row) const { return row >= y && (row - y) % step_y == 0; }
};
constexpr std::array passes{Pass{0, 0, 8, 8}, Pass{4, 0, 8, 8}, Pass{0, 4, 4, 8}, Pass{2, 0, 4, 4},
                            Pass{0, 2, 2, 4}, Pass{1, 0, 2, 2}, Pass{0, 1, 1, 2}};

/// Unpacks samples of fewer than 8 bits, highest bits first, and scales them to 8.
template <int bits>
void unpack(std::span<const std::byte> packed, std::span<std::byte> to) {
    constexpr unsigned most = (1U << bits) - 1, scale = 255 / most;
    constexpr std::size_t each = 8 / bits;
    for (std::size_t i = 0; i < to.size(); ++i) {
        const auto shift = static_cast<unsigned>(bits * (each - 1 - i % each));
        const unsigned sample = std::to_integer<unsigned>(packed[i / each]) >> shift & most;
        to[i] = static_cast<std::byte>(sample * scale);
    }
}

/// An open PNG file that is decoded line by line.
class PngDecoder : private PngInput {
  public:
    explicit PngDecoder(const std::string& path) : PngInput(path) {}

    FrameHeader header() {
        FrameHeader frame;
        frame.frames = 1;
        frame.shape = checked_shape();
        frame.sample = header_.bit_depth == 16 ? Sample::u16 : Sample::u8;
        const int stored = samples_a_pixel(header_.color_type);
        frame.channels = is_palette() ? 3 : stored;
        check_plausible(file_.path(), frame.shape.elements() * stored * header_.bit_depth / 8,
                        file_.size(), deflate_ratio);
        check_row(file_.path(), frame, file_.size());
        spng_phys resolution{};
        if (spng_get_phys(context_.get(), &resolution) == 0 && resolution.unit_specifier == 1 &&
            resolution.ppu_x > 0 && resolution.ppu_y > 0)
            frame.pixel = {1.0 / resolution.ppu_x, 1.0 / resolution.ppu_y, "m"};
        return frame;
    }

    bool interlaced() const { return header_.interlace_method != 0; }

    void begin_rows() {
        require(spng_decode_image(context_.get(), nullptr, 0, format(), SPNG_DECODE_PROGRESSIVE));
    }
    /// Decodes the next line: a row of the image or, if the file is interlaced, of a pass. `to`
    /// must have the size of the line.
    void decode_line(std::span<std::byte> to) {
        if (!is_packed()) {
            decode_stored(to);
            return;
        }
        decode_packed(to.size());
        if (header_.bit_depth == 1)
            unpack<1>(packed_, to);
        else if (header_.bit_depth == 2)
            unpack<2>(packed_, to);
        else
            unpack<4>(packed_, to);
    }
    /// Decodes the line of a pass that belongs to an image row. Skips the lines before it.
    void decode_line(int pass, std::int64_t row, std::span<std::byte> to) {
        for (;;) {
            spng_row_info next{};
            require(spng_get_row_info(context_.get(), &next));
            if (next.pass == pass && std::int64_t{next.row_num} == row)
                break;
            pass_over(next.pass);
        }
        decode_line(to);
    }

  private:
    bool is_palette() const { return header_.color_type == SPNG_COLOR_TYPE_INDEXED; }
    /// True for grey samples of fewer than 8 bits.
    bool is_packed() const { return !is_palette() && header_.bit_depth < 8; }
    int format() const {
        return is_palette() ? SPNG_FMT_RGB8 : is_packed() ? SPNG_FMT_RAW : SPNG_FMT_PNG;
    }
    std::size_t pixel_bytes() const {
        return is_palette() ? 3
                            : static_cast<std::size_t>(samples_a_pixel(header_.color_type) *
                                                       header_.bit_depth / 8);
    }

    void decode_stored(std::span<std::byte> to) {
        const int error = spng_decode_scanline(context_.get(), to.data(), to.size());
        if (error != SPNG_EOI) // SPNG_EOI is returned for the last line
            require(error);
    }
    void decode_packed(std::size_t pixels) {
        packed_.resize((pixels * header_.bit_depth + 7) / 8);
        decode_stored(packed_);
    }
    void pass_over(int pass) {
        const auto pixels =
            static_cast<std::size_t>(passes[static_cast<std::size_t>(pass)].width(header_.width));
        passed_.resize(pixels * pixel_bytes());
        if (is_packed())
            decode_packed(pixels);
        else
            decode_stored(passed_);
    }

    std::vector<std::byte> packed_, passed_;
};

/// Decodes an interlaced file with seven decoders, one per pass. Rows are decoded in order, so no
/// pass is held in memory.
class PngFrame : public FrameFile {
  public:
    using FrameFile::FrameFile;

    void restart() {
        decoders_.clear();
        do {
            decoders_.push_back(std::make_unique<PngDecoder>(path()));
            const FrameHeader now = decoders_.back()->header();
            check_alike(path(), 0, now, header()); // the file may have changed
            decoders_.back()->begin_rows();
        } while (decoders_.front()->interlaced() && decoders_.size() < passes.size());
    }
    void decode_row(std::int64_t number, std::span<std::byte> to) {
        if (decoders_.size() == 1) {
            decoders_.front()->decode_line(to);
            return;
        }
        const auto pixel = static_cast<std::size_t>(row_bytes() / header().shape.width);
        for (std::size_t i = 0; i < passes.size(); ++i) {
            const Pass& pass = passes[i];
            line_.resize(static_cast<std::size_t>(pass.width(header().shape.width)) * pixel);
            if (line_.empty() || !pass.has(number))
                continue;
            decoders_[i]->decode_line(static_cast<int>(i), number, line_);
            auto at = static_cast<std::size_t>(pass.x) * pixel;
            for (std::size_t from = 0; from < line_.size(); from += pixel) {
                std::memcpy(to.data() + at, line_.data() + from, pixel);
                at += static_cast<std::size_t>(pass.step_x) * pixel;
            }
        }
    }

  private:
    std::vector<std::unique_ptr<PngDecoder>> decoders_;
    std::vector<std::byte> line_;
};

class PngSink : public FrameFile {
  public:
    PngSink(const std::string& path, const FrameHeader& header)
        : FrameFile(path, header), file_(path), context_(make_png_context(SPNG_CTX_ENCODER)) {
        require(spng_set_png_stream(context_.get(), write_png_bytes, &file_));
        require(begin_rows(context_.get(), header.shape, SPNG_COLOR_TYPE_GRAYSCALE,
                           header.sample == Sample::u16 ? 16 : 8));
    }

    void append(std::int64_t, Rows rows, std::span<const std::byte> samples) {
        const auto bytes = static_cast<std::size_t>(row_bytes());
        for (std::int64_t y = rows.first; y < rows.last; ++y, samples = samples.subspan(bytes))
            require(encode_row(context_.get(), samples.data(), bytes));
    }
    void finish() { file_.commit(); }

  private:
    void require(int error) const {
        if (error)
            file_.require_intact(); // the system's reason is clearer than libspng's error code
        check_png(path(), "cannot be written", error);
    }

    AtomicFile file_;
    PngContext context_;
};

} // namespace

std::unique_ptr<FrameSource> open_png_frame(const std::string& path, const SourceOptions&) {
    return frames_of(std::make_unique<RowwiseFrame<PngFrame>>(path, PngDecoder(path).header()));
}

std::unique_ptr<FrameSink> create_png_frame(const std::string& path, const FrameHeader& header,
                                            const SinkOptions&) {
    constexpr std::int64_t longest = std::numeric_limits<std::int32_t>::max();
    if (header.frames != 1 || std::max(header.shape.width, header.shape.height) > longest) {
        throw InvalidFile(
            path,
            fmt::format("cannot hold {} frames of {}, expected one frame with sides of at most {}",
                        header.frames, to_text(header.shape), longest));
    }
    return sink_of(std::make_unique<PngSink>(path, header));
}

} // namespace sextant::format
