// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/frame_runs.hpp"

#include <stdexcept>

namespace sextant::format {

void read_frames(FrameSource& source, std::int64_t first, std::int64_t count,
                 std::span<std::byte> to) {
    const FrameHeader& header = source.header();
    const auto frame_bytes = static_cast<std::size_t>(header.shape.elements() * header.channels *
                                                      size_of(header.sample));
    if (first < 0 || count < 0 || first > header.frames - count ||
        to.size() != static_cast<std::size_t>(count) * frame_bytes)
        throw std::logic_error("attempt to read frames that the source does not have");
    auto* const runs = dynamic_cast<FrameRuns*>(&source);
    while (count > 0) {
        std::int64_t done = 1;
        if (runs)
            done = runs->load_frames(first, count, to);
        else
            source.read_samples(first, {0, header.shape.height}, to.first(frame_bytes));
        first += done;
        count -= done;
        to = to.subspan(static_cast<std::size_t>(done) * frame_bytes);
    }
}

} // namespace sextant::format
