// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/atomic_file.hpp"
#include "sextant/core/error.hpp"
#include "sextant/format/frame_check.hpp"
#include "sextant/format/limits.hpp"
#include "sextant/format/stored_frames.hpp"
#include "sextant/format/tiff.hpp"
#include "sextant/format/tiff_layout.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

namespace sextant::format {

namespace {

class TiffSink : public FrameSink {
  public:
    TiffSink(const std::string& path, const FrameHeader& header, const SinkOptions& options)
        : FrameSink(path, header), layout_(header, options), file_(path) {
        file_.write(layout_.start());
    }

  private:
    void append(std::int64_t, Rows, std::span<const std::byte> samples) override {
        file_.write(samples);
    }

    void finish() override {
        constexpr std::array<std::byte, 8> zeros{};
        file_.write(std::span(zeros).first(static_cast<std::size_t>(layout_.padding())));
        for (std::int64_t frame = 1; frame < layout_.directories(); ++frame)
            file_.write(layout_.directory(frame));
        file_.commit();
    }

    TiffLayout layout_;
    AtomicFile file_;
};

} // namespace

std::unique_ptr<FrameSink> create_tiff(const std::string& path, const FrameHeader& header,
                                       const SinkOptions& options) {
    check_sink(path, header, {Sample::u8, Sample::u16, Sample::u32, Sample::f32});
    checked_frames(path, header);
    constexpr std::int64_t longest = std::numeric_limits<std::int32_t>::max();
    if (std::max(header.shape.width, header.shape.height) > longest) {
        throw InvalidFile(path,
                          fmt::format("cannot hold frames of {}, expected sides of at most {}",
                                      to_text(header.shape), longest));
    }
    return std::make_unique<TiffSink>(path, header, options);
}

} // namespace sextant::format
