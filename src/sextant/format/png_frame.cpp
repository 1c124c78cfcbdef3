// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/png_frame.hpp"

#include "sextant/core/atomic_file.hpp"
#include "sextant/format/frame_check.hpp"
#include "sextant/format/limits.hpp"
#include "sextant/format/png_library.hpp"
#include "sextant/format/rowwise_frame.hpp"
#include "sextant/format/source_file.hpp"

#include <array>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

namespace sextant::format {

namespace {

/// Which pixels a pass of an interlaced file has: from the first on, in steps.
struct Pass {
    std::int64_t x, y, step_x, step_y;
    std::int64_t width(std::int64_t row) const { return row > x ? (row - x - 1) / step_x + 1 : 0; }
    bool has(std::int64_t row) const { return row >= y && (row - y) % step_y == 0; }
};
constexpr std::array passes{Pass{0, 0, 8, 8}, Pass{4, 0, 8, 8}, Pass{0, 4, 4, 8}, Pass{2, 0, 4, 4},
                            Pass{0, 2, 2, 4}, Pass{1, 0, 2, 2}, Pass{0, 1, 1, 2}};

/// Samples of fewer bits than 8, highest first, scaled to 8.
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

/// An open PNG and what is to be decoded of it.
class Decoder {
  public:
    explicit Decoder(const std::string& path) : file_(path), context_(make_png_context(0)) {
        constexpr std::size_t most = std::size_t{1} << 24; // for texts and profiles
        require(spng_set_chunk_limits(context_.get(), most, most));
        require(spng_set_png_file(context_.get(), file_.handle()));
        require(spng_get_ihdr(context_.get(), &header_));
    }

    FrameHeader header() {
        FrameHeader frame;
        frame.frames = 1;
        frame.shape = checked_shape(file_.path(), header_.width, header_.height);
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
    /// The next line, of a row or of a pass of it, which has the samples that `to` has room for.
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
    /// The same of the line that a pass has in a row; lines in front of it are passed over.
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
    /// Greys of fewer bits than 8.
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
        if (error != SPNG_EOI) // which the last line gives
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

    void require(int error) const { check_png(file_.path(), "cannot be read as PNG", error); }

    SourceFile file_;
    PngContext context_;
    spng_ihdr header_{};
    std::vector<std::byte> packed_, passed_;
};

/// Seven decoders go through an interlaced file, one for each pass, so that its rows come in order
/// and none is kept.
class PngFrame : public RowwiseFrame {
  public:
    PngFrame(const std::string& path, FrameHeader header) : RowwiseFrame(path, std::move(header)) {}

  private:
    void restart() override {
        decoders_.clear();
        do {
            decoders_.push_back(std::make_unique<Decoder>(path()));
            const FrameHeader now = decoders_.back()->header();
            check_alike(path(), 0, now, header()); // the file may have changed meanwhile
            decoders_.back()->begin_rows();
        } while (decoders_.front()->interlaced() && decoders_.size() < passes.size());
    }
    void decode_row(std::int64_t number, std::span<std::byte> to) override {
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

    std::vector<std::unique_ptr<Decoder>> decoders_;
    std::vector<std::byte> line_;
};

class PngSink : public FrameSink {
  public:
    PngSink(const std::string& path, const FrameHeader& header)
        : FrameSink(path, header), file_(path), context_(make_png_context(SPNG_CTX_ENCODER)) {
        spng_ihdr stated{};
        stated.width = static_cast<std::uint32_t>(header.shape.width);
        stated.height = static_cast<std::uint32_t>(header.shape.height);
        stated.bit_depth = header.sample == Sample::u16 ? 16 : 8;
        stated.color_type = SPNG_COLOR_TYPE_GRAYSCALE;
        require(spng_set_png_stream(context_.get(), write_png_bytes, &file_));
        require(spng_set_ihdr(context_.get(), &stated));
        require(spng_encode_image(context_.get(), nullptr, 0, SPNG_FMT_PNG,
                                  SPNG_ENCODE_PROGRESSIVE | SPNG_ENCODE_FINALIZE));
    }

  private:
    void append(std::int64_t, Rows rows, std::span<const std::byte> samples) override {
        const auto bytes = static_cast<std::size_t>(row_bytes());
        for (std::int64_t y = rows.first; y < rows.last; ++y, samples = samples.subspan(bytes)) {
            const int error = spng_encode_row(context_.get(), samples.data(), bytes);
            if (error != SPNG_EOI)
                require(error);
        }
    }
    void finish() override { file_.commit(); }

    void require(int error) const {
        if (error)
            file_.require_intact(); // the system's reason, rather than the library's number
        check_png(path(), "cannot be written", error);
    }

    AtomicFile file_;
    PngContext context_;
};

} // namespace

std::unique_ptr<FrameSource> open_png_frame(const std::string& path, const std::string& detail,
                                            const SourceOptions&) {
    refuse_detail(path, detail);
    return std::make_unique<PngFrame>(path, Decoder(path).header());
}

std::unique_ptr<FrameSink> create_png_frame(const std::string& path, const FrameHeader& header,
                                            const SinkOptions&) {
    check_sink(path, header, {Sample::u8, Sample::u16});
    constexpr std::int64_t longest = std::numeric_limits<std::int32_t>::max();
    if (header.frames != 1 || std::max(header.shape.width, header.shape.height) > longest) {
        throw InvalidFile(path, fmt::format("cannot hold {} frames of {}, expected one with sides "
                                            "of at most {}",
                                            header.frames, to_text(header.shape), longest));
    }
    return std::make_unique<PngSink>(path, header);
}

} // namespace sextant::format
