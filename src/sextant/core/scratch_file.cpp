// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/scratch_file.hpp"

#include "sextant/core/atomic_file.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/frame_source.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sextant {

namespace {

/// Opens an unnamed file. If the file system does not support that, creates a file and unlinks it.
int open_nameless(const std::string& folder) {
#ifdef O_TMPFILE
    const int opened = open(folder.c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
    if (opened >= 0)
        return opened;
#endif
    std::string name = folder + "/.sextant-XXXXXX";
    const int made = mkostemp(name.data(), O_CLOEXEC);
    if (made >= 0)
        unlink(name.c_str());
    return made;
}

} // namespace

ScratchFile::ScratchFile(std::string beside)
    : beside_(std::move(beside)), descriptor_(open_nameless(folder_of(beside_))) {
    if (descriptor_ < 0)
        fail(errno);
}

std::optional<ScratchFile> ScratchFile::open(std::string beside, const ScratchPlace& place) {
    if (place.process == 0)
        return std::nullopt;
    const std::string name = fmt::format("/proc/{}/fd/{}", place.process, place.descriptor);
    ScratchFile file(std::move(beside), ::open(name.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat found {};
    // Processes can have other numbers in another container.
    if (file.descriptor_ < 0 || fstat(file.descriptor_, &found) != 0 ||
        found.st_dev != place.device || found.st_ino != place.inode || found.st_size < place.bytes)
        return std::nullopt;
    return file;
}

ScratchPlace ScratchFile::place(Bytes bytes) const {
    struct stat own {};
    if (fstat(descriptor_, &own) != 0)
        return {};
    return {getpid(), descriptor_, own.st_dev, own.st_ino, bytes};
}

ScratchFile::ScratchFile(ScratchFile&& other) noexcept
    : beside_(std::move(other.beside_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

ScratchFile& ScratchFile::operator=(ScratchFile&& other) noexcept {
    std::swap(beside_, other.beside_);
    std::swap(descriptor_, other.descriptor_);
    return *this;
}

ScratchFile::~ScratchFile() {
    if (descriptor_ >= 0)
        close(descriptor_);
}

void ScratchFile::write(Bytes position, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t written =
            pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(position));
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            fail(written < 0 ? errno : ENOSPC); // no progress and no error: avoid an endless loop
        bytes = bytes.subspan(static_cast<std::size_t>(written));
        position += written;
    }
}

void ScratchFile::read(Bytes position, std::span<std::byte> to) const {
    while (!to.empty()) {
        const ssize_t got = pread(descriptor_, to.data(), to.size(), static_cast<off_t>(position));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            fail(got < 0 ? errno : EIO);
        to = to.subspan(static_cast<std::size_t>(got));
        position += got;
    }
}

void ScratchFile::fail(int error) const {
    throw InvalidFile(
        beside_,
        "a scratch file in the same folder, for data that exceeds the memory, cannot be used: " +
            std::generic_category().message(error));
}

PlaneSink::PlaneSink(std::unique_ptr<FrameSink> sink, std::vector<double> offsets)
    : sink_(std::move(sink)), offsets_(std::move(offsets)) {
    offsets_.resize(2 * offsets_.size(), 1);
}

PlaneSink::PlaneSink(std::unique_ptr<FrameSink> sink, std::vector<double> offsets,
                     const std::vector<double>& scales)
    : sink_(std::move(sink)), offsets_(std::move(offsets)) {
    if (scales.size() != offsets_.size())
        throw std::logic_error("planes have as many scales as offsets");
    offsets_.insert(offsets_.end(), scales.begin(), scales.end());
}

void PlaneSink::write(std::int64_t plane, std::int64_t first, std::span<const float> rows) {
    const auto width = static_cast<std::size_t>(shape().width);
    const auto count = static_cast<std::int64_t>(rows.size() / width);
    if (rows.size() % width != 0 || plane < 0 || plane >= planes() || first < 0 ||
        first + count > shape().height) {
        throw std::logic_error("attempt to write incomplete rows, or rows beyond the last plane");
    }
    rows_given_ += count;
    if (plane == plane_ && first == row_)
        pass_on(rows);
    else
        keep(plane, first, rows);
}

void PlaneSink::commit() {
    if (rows_given_ != planes() * shape().height)
        throw std::logic_error("planes were committed before all their rows were written");
    pass_on_kept();
    sink_->commit();
}

/// The offset of a row in the file of kept rows, which holds one plane after another.
Bytes PlaneSink::place_of(std::int64_t plane, std::int64_t row) const {
    return (plane * shape().height + row) * shape().width * static_cast<Bytes>(sizeof(float));
}

void PlaneSink::pass_on(std::span<const float> rows) {
    const auto plane = static_cast<std::size_t>(plane_);
    if (offsets_.empty())
        sink_->write(rows);
    else
        write_scaled(*sink_, rows, offsets_[plane], offsets_[offsets_.size() / 2 + plane]);
    row_ += static_cast<std::int64_t>(rows.size()) / shape().width;
    if (row_ == shape().height) {
        row_ = 0;
        ++plane_;
    }
}

void PlaneSink::keep(std::int64_t plane, std::int64_t first, std::span<const float> rows) {
    if (!kept_)
        kept_.emplace(sink_->path() + ".planes");
    kept_->seek(place_of(plane, first));
    kept_->write(std::as_bytes(rows));
}

void PlaneSink::pass_on_kept() {
    constexpr Elements at_once = Elements{1} << 18;
    const std::int64_t most = std::clamp<std::int64_t>(at_once / shape().width, 1, shape().height);
    std::vector<float> rows;
    while (plane_ < planes()) {
        const std::int64_t count = std::min(most, shape().height - row_);
        rows.resize(static_cast<std::size_t>(count * shape().width));
        const auto bytes = std::as_writable_bytes(std::span(rows));
        const Bytes got = kept_->read_at(place_of(plane_, row_), bytes);
        if (got != static_cast<Bytes>(bytes.size()))
            throw InvalidFile(
                kept_->path(),
                fmt::format("has {} bytes starting at row {} of plane {}, expected {}", got, row_,
                            plane_, bytes.size()));
        pass_on(rows);
    }
}

} // namespace sextant
