// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/frame_sequence.hpp"

#include "sextant/core/error.hpp"
#include "sextant/format/frame_catalogue.hpp"
#include "sextant/format/frame_check.hpp"

#include <utility>

#include <fmt/format.h>

namespace sextant::format {

namespace {

std::unique_ptr<FrameSource> open_single(const std::string& path, const SourceOptions& options) {
    const FrameFormat* const format = find_frame_format(path);
    if (!format)
        throw InvalidFile(path, "is of no known format of frames");
    auto source = format->open(path, "", options);
    if (source->header().frames != 1) {
        throw InvalidFile(path, fmt::format("holds {} frames, expected one, as a file of a series",
                                            source->header().frames));
    }
    return source;
}

class Sequence : public FrameSource {
  public:
    Sequence(const std::string& name, FrameHeader header, FrameFiles files,
             const SourceOptions& options, std::unique_ptr<FrameSource> first)
        : FrameSource(name, std::move(header)),
          files_(std::move(files)),
          options_(options),
          open_(std::move(first)) {}

  private:
    void load(std::int64_t frame, Rows rows, std::span<std::byte> to) override {
        if (frame != number_) {
            const std::string& file = files_.paths[static_cast<std::size_t>(frame)];
            auto source = open_single(file, options_);
            check_alike(file, frame, source->header(), header());
            open_ = std::move(source);
            number_ = frame;
        }
        open_->read_samples(0, rows, to);
    }

    FrameFiles files_;
    SourceOptions options_;
    std::unique_ptr<FrameSource> open_; ///< the file that was read last
    std::int64_t number_ = 0;           ///< and which it is
};

} // namespace

std::unique_ptr<FrameSource> open_sequence(const std::string& name, FrameFiles files,
                                           const SourceOptions& options) {
    for (const std::string& path : files.paths) {
        if (!find_frame_format(path))
            throw InvalidFile(path, "is of no known format of frames");
    }
    auto first = open_single(files.paths.front(), options);
    FrameHeader header = first->header();
    header.frames = static_cast<std::int64_t>(files.paths.size());
    header.frame_interval = 0; // a file of one frame cannot tell
    header.remarks.insert(header.remarks.end(), files.remarks.begin(), files.remarks.end());
    return std::make_unique<Sequence>(name, std::move(header), std::move(files), options,
                                      std::move(first));
}

} // namespace sextant::format
