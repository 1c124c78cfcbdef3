// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/stored_sink.hpp"

#include "sextant/core/atomic_file.hpp"

namespace sextant::format {

namespace {

class StoredSink : public FrameSink {
  public:
    StoredSink(const std::string& path, const FrameHeader& header, std::span<const std::byte> start)
        : FrameSink(path, header), file_(path) {
        file_.write(start);
    }

  private:
    void append(std::int64_t, Rows, std::span<const std::byte> samples) override {
        file_.write(samples);
    }
    void finish() override { file_.commit(); }

    AtomicFile file_;
};

} // namespace

std::unique_ptr<FrameSink> stored_sink(const std::string& path, const FrameHeader& header,
                                       std::span<const std::byte> start) {
    return std::make_unique<StoredSink>(path, header, start);
}

} // namespace sextant::format
