// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/error.hpp"
#include "sextant/format/checks.hpp"
#include "sextant/format/formats.hpp"
#include "sextant/format/frame_sources.hpp"
#include "sextant/format/source_file.hpp"

#include <array>
#include <csetjmp>
#include <cstdio>
#include <utility>

#include <fmt/format.h>
#include <jpeglib.h>

namespace sextant::format {

namespace {

/// Upper bound on the compression ratio. A block of 64 samples takes at least about one bit, or a
/// third of a bit with subsampled colours.
constexpr Bytes jpeg_ratio = 2048;

/// libjpeg's error handler. It returns by longjmp, because exceptions must not pass through C code.
struct Errors {
    jpeg_error_mgr manager{};
    std::jmp_buf back{};
    std::array<char, JMSG_LENGTH_MAX> message{};
};

[[noreturn]] void jump_back(j_common_ptr library) {
    auto* const errors = reinterpret_cast<Errors*>(library->err);
    library->err->format_message(library, errors->message.data());
    std::longjmp(errors->back, 1);
}

/// Treats warnings (negative levels) as errors, because they report damaged data.
void take_warnings_as_errors(j_common_ptr library, int level) {
    if (level < 0)
        jump_back(library);
}

/// Limits the number of scans: many scans of a few bytes each would keep the decoder busy for
/// hours.
void limit_scans(j_common_ptr library) {
    constexpr int most = 500;
    if (reinterpret_cast<j_decompress_ptr>(library)->input_scan_number > most) {
        auto* const errors = reinterpret_cast<Errors*>(library->err);
        std::snprintf(errors->message.data(), errors->message.size(), "more than %d scans", most);
        std::longjmp(errors->back, 1);
    }
}

class Decoder {
  public:
    explicit Decoder(const std::string& path) : file_(path) {
        library_.err = jpeg_std_error(&errors_.manager);
        errors_.manager.error_exit = jump_back;
        errors_.manager.emit_message = take_warnings_as_errors;
        progress_.progress_monitor = limit_scans;
        try {
            guarded([&] {
                jpeg_create_decompress(&library_);
                library_.progress = &progress_;
                jpeg_stdio_src(&library_, file_.handle());
                jpeg_read_header(&library_, TRUE);
            });
            choose_colours();
        } catch (...) {
            jpeg_destroy_decompress(&library_);
            throw;
        }
    }
    Decoder(const Decoder&) = delete;
    Decoder& operator=(const Decoder&) = delete;
    ~Decoder() { jpeg_destroy_decompress(&library_); }

    FrameHeader header() {
        FrameHeader frame;
        frame.frames = 1;
        frame.shape = checked_shape(file_.path(), library_.image_width, library_.image_height);
        frame.sample = Sample::u8;
        frame.channels = library_.out_color_space == JCS_GRAYSCALE ? 1 : 3;
        check_plausible(file_.path(), frame.shape.elements() * frame.channels, file_.size(),
                        jpeg_ratio);
        // libjpeg holds all coefficients of a file with several scans, two bytes each.
        constexpr Bytes always_held = Bytes{1} << 30, held_ratio = 512;
        const Bytes held = 2 * frame.shape.elements() * frame.channels;
        if (jpeg_has_multiple_scans(&library_) && held > always_held)
            check_plausible(file_.path(), held, file_.size(), held_ratio);
        return frame;
    }

    void begin_rows() {
        guarded([&] { jpeg_start_decompress(&library_); });
    }
    void decode_row(std::span<std::byte> to) {
        auto* row = reinterpret_cast<JSAMPROW>(to.data());
        guarded([&] { jpeg_read_scanlines(&library_, &row, 1); });
    }

  private:
    /// `action` must only call libjpeg, because errors leave `action` by longjmp.
    template <class Action>
    void guarded(const Action& action) {
        if (setjmp(errors_.back) != 0) {
            throw InvalidFile(file_.path(),
                              fmt::format("cannot be read as JPEG: {}", errors_.message.data()));
        }
        action();
    }

    void choose_colours() {
        switch (library_.jpeg_color_space) {
        case JCS_GRAYSCALE:
            library_.out_color_space = JCS_GRAYSCALE;
            break;
        case JCS_RGB:
        case JCS_YCbCr:
            library_.out_color_space = JCS_RGB;
            break;
        default:
            throw InvalidFile(file_.path(), fmt::format("has {} channels that are neither grey nor "
                                                        "RGB",
                                                        library_.num_components));
        }
    }

    SourceFile file_;
    Errors errors_;
    jpeg_progress_mgr progress_{};
    jpeg_decompress_struct library_{};
};

class JpegFrame : public FrameFile {
  public:
    using FrameFile::FrameFile;

    void restart() {
        decoder_ = std::make_unique<Decoder>(path());
        check_alike(path(), 0, decoder_->header(), header()); // the file may have changed
        decoder_->begin_rows();
    }
    void decode_row(std::int64_t, std::span<std::byte> to) { decoder_->decode_row(to); }

  private:
    std::unique_ptr<Decoder> decoder_;
};

} // namespace

std::unique_ptr<FrameSource> open_jpeg_frame(const std::string& path, const SourceOptions&) {
    return frames_of(std::make_unique<RowwiseFrame<JpegFrame>>(path, Decoder(path).header()));
}

} // namespace sextant::format
