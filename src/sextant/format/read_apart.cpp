// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/read_apart.hpp"

#include "sextant/core/error.hpp"
#include "sextant/format/reading_child.hpp"

#include <utility>

#include <fmt/format.h>

namespace sextant::format {

namespace {

constexpr int most_ends = 3; // of children: then nothing more is read

class ReadApart : public FrameSource {
  public:
    ReadApart(const std::string& path, FrameHeader header, Opening open, Seconds patience,
              std::unique_ptr<ReadingChild> child)
        : FrameSource(path, std::move(header)),
          open_(std::move(open)),
          patience_(patience),
          child_(std::move(child)) {}

  private:
    void load(std::int64_t frame, Rows rows, std::span<std::byte> to) override {
        if (ends_ >= most_ends)
            throw InvalidFile(path(), fmt::format("damaged: frame {} is not read, as reading ended "
                                                  "{} times before",
                                                  frame, ends_));
        if (!child_)
            child_ = std::make_unique<ReadingChild>(path(), open_, patience_);
        try {
            child_->read(frame, rows, to);
        } catch (const ReadingEnded& end) {
            child_.reset();
            ++ends_;
            throw InvalidFile(path(),
                              fmt::format("damaged: reading frame {} {}", frame, end.what()));
        }
    }

    Opening open_;
    Seconds patience_;
    std::unique_ptr<ReadingChild> child_;
    int ends_ = 0;
};

} // namespace

std::unique_ptr<FrameSource> read_apart(const std::string& path, const Opening& open,
                                        Seconds patience) {
    try {
        auto child = std::make_unique<ReadingChild>(path, open, patience);
        FrameHeader header = child->header();
        return std::make_unique<ReadApart>(path, std::move(header), open, patience,
                                           std::move(child));
    } catch (const ReadingEnded& end) {
        throw InvalidFile(path, fmt::format("damaged: opening it {}", end.what()));
    }
}

} // namespace sextant::format
