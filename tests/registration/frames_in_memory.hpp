// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/kernel/filter/float_plane.hpp"
#include "sextant/registration/series/ledger.hpp"
#include "sextant/registration/synthetic.hpp"

#include <cstring>
#include <map>
#include <string_view>
#include <vector>

// Frames and results of registrations in memory.
namespace sextant::test {

using FramesMade = std::vector<kernel::FloatPlane>;

/// A specimen for a series, with detail in the area of its frames and a margin.
inline registration::Specimen specimen_of(const registration::SeriesPlan& plan,
                                          std::string_view kind = "carbon", std::uint64_t seed = 1,
                                          Elements margin = 0, double amorphous = .38) {
    registration::SpecimenPlan specimen;
    const ImageShape field = registration::field_for(plan);
    specimen.field = {field.width + 2 * margin, field.height + 2 * margin};
    specimen.amorphous = amorphous;
    specimen.seed = seed;
    return registration::find_specimen(kind).make(specimen);
}

/// The frames of a series from `first` on.
inline FramesMade counted_frames(const registration::SyntheticSeries& series, int first = 0) {
    FramesMade frames;
    for (int frame = first; frame < series.plan().frames; ++frame)
        frames.push_back(series.counted(frame));
    return frames;
}

/// A source of frames in memory.
class MadeSource : public FrameSource {
  public:
    explicit MadeSource(const FramesMade& frames)
        : FrameSource("made", header_of(frames), {[this](auto... part) { load(part...); }}),
          frames_(frames) {}

    const FramesMade& frames() const { return frames_; }

  protected:
    virtual void load(std::int64_t frame, Rows rows, std::span<std::byte> to) {
        const kernel::FloatImage image = frames_[static_cast<std::size_t>(frame)].image();
        const auto bytes = static_cast<std::size_t>(image.shape.width) * sizeof(float);
        for (std::int64_t y = rows.first; y < rows.last; ++y)
            std::memcpy(to.data() + static_cast<std::size_t>(y - rows.first) * bytes, image.row(y),
                        bytes);
    }

  private:
    static FrameHeader header_of(const FramesMade& frames) {
        FrameHeader header;
        header.frames = static_cast<std::int64_t>(frames.size());
        header.shape = frames.empty() ? ImageShape{16, 16} : frames.front().shape();
        return header;
    }

    const FramesMade& frames_;
};

/// A ledger that keeps results in memory.
class MemoryLedger : public registration::Ledger {
  public:
    int kept = 0;

  protected:
    std::optional<std::vector<std::byte>> load(const registration::EntryName& name) override {
        const auto at = entries_.find(name);
        return at == entries_.end() ? std::nullopt : std::optional(at->second);
    }
    void store(const registration::EntryName& name, std::span<const std::byte> bytes) override {
        entries_[name].assign(bytes.begin(), bytes.end());
        ++kept;
    }
    void update() override {}

  private:
    std::map<registration::EntryName, std::vector<std::byte>> entries_;
};

} // namespace sextant::test
