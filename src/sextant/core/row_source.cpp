// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/row_source.hpp"

#include "sextant/core/error.hpp"

#include <utility>

#include <fmt/format.h>

namespace sextant {

namespace {

ElementFormat element_of(const FrameHeader& header) {
    const bool gray = header.channels == 1;
    return gray && header.sample == Sample::u8    ? gray_u8
           : gray && header.sample == Sample::u16 ? gray_u16
                                                  : gray_f32;
}

} // namespace

RowSource::RowSource(std::unique_ptr<FrameSource> frames, std::int64_t frame)
    : frames_(std::move(frames)),
      frame_(frame),
      element_(element_of(header())),
      as_stored_(element_ != gray_f32 ||
                 (header().channels == 1 && header().sample == Sample::f32)) {
    if (frame < 0 || frame >= header().frames)
        throw InvalidTask(
            fmt::format("frame {} of {}, which has {}", frame, path(), header().frames));
}

void RowSource::read(Elements first, Elements rows, std::span<std::byte> to) {
    const Rows some{first, first + rows};
    if (as_stored_)
        return frames_->read_samples(frame_, some, to);
    frames_->read_rows(frame_, some,
                       {reinterpret_cast<float*>(to.data()), to.size() / sizeof(float)});
}

} // namespace sextant
