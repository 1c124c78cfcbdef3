// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/png_frame.hpp"

#include "sextant/format/atomic_file.hpp"
#include "sextant/format/frame_check.hpp"
#include "sextant/format/limits.hpp"
#include "sextant/format/png_library.hpp"
#include "sextant/format/rowwise_frame.hpp"
#include "sextant/format/source_file.hpp"

#include <cstring>
#include <limits>
#include <utility>
#include <vector>

namespace sextant::format {

namespace {

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
    void decode_row(std::span<std::byte> to) {
        const int error = spng_decode_row(context_.get(), to.data(), to.size());
        if (error != SPNG_EOI) // which the last row gives
            require(error);
    }
    void decode_image(std::span<std::byte> to) {
        require(spng_decode_image(context_.get(), to.data(), to.size(), format(), 0));
    }

  private:
    bool is_palette() const { return header_.color_type == SPNG_COLOR_TYPE_INDEXED; }
    int format() const {
        const bool grey = header_.color_type == SPNG_COLOR_TYPE_GRAYSCALE;
        return is_palette()                     ? SPNG_FMT_RGB8
               : grey && header_.bit_depth <= 8 ? SPNG_FMT_G8
                                                : SPNG_FMT_PNG;
    }
    void require(int error) const { check_png(file_.path(), "cannot be read as PNG", error); }

    SourceFile file_;
    PngContext context_;
    spng_ihdr header_{};
};

class PngFrame : public RowwiseFrame {
  public:
    PngFrame(const std::string& path, FrameHeader header) : RowwiseFrame(path, std::move(header)) {}

  private:
    void restart() override {
        decoder_ = std::make_unique<Decoder>(path());
        const FrameHeader now = decoder_->header();
        check_alike(path(), 0, now, header()); // the file may have changed meanwhile
        if (decoder_->interlaced()) {
            whole_.resize(static_cast<std::size_t>(header().shape.height * row_bytes()));
            decoder_->decode_image(whole_);
        } else {
            decoder_->begin_rows();
        }
    }
    void decode_row(std::int64_t number, std::span<std::byte> to) override {
        if (decoder_->interlaced())
            std::memcpy(to.data(), whole_.data() + number * row_bytes(), to.size());
        else
            decoder_->decode_row(to);
    }

    std::unique_ptr<Decoder> decoder_;
    std::vector<std::byte> whole_; ///< of an interlaced file
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
