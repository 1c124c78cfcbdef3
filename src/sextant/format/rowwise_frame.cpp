// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/rowwise_frame.hpp"

#include <utility>

namespace sextant::format {

RowwiseFrame::RowwiseFrame(const std::string& path, FrameHeader header)
    : FrameSource(path, std::move(header)) {}

void RowwiseFrame::load(std::int64_t, Rows rows, std::span<std::byte> to) {
    const auto bytes = static_cast<std::size_t>(row_bytes());
    std::int64_t next = std::exchange(next_, -1); // until all went well
    if (next < 0 || next > rows.first) {
        restart();
        next = 0;
    }
    passed_.resize(bytes);
    for (; next < rows.first; ++next)
        decode_row(next, passed_);
    for (; next < rows.last; ++next) {
        decode_row(next, to.first(bytes));
        to = to.subspan(bytes);
    }
    next_ = next;
}

} // namespace sextant::format
