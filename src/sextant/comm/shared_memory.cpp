// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/shared_memory.hpp"

#include "sextant/core/error.hpp"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace sextant {

namespace {

constexpr Bytes page = 4096, huge_page = Bytes{2} << 20;

[[noreturn]] void fail(const std::string& what) {
    throw CommunicationFailed(fmt::format("{}: {}", what, std::strerror(errno)));
}

/// A process that extends a file beyond the limit is killed by a signal, so the limit is checked
/// first.
void check_file_limit(Bytes size) {
    rlimit limit{};
    const bool known = getrlimit(RLIMIT_FSIZE, &limit) == 0;
    if (known && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < static_cast<rlim_t>(size)) {
        throw CommunicationFailed(
            fmt::format("{} bytes of shared memory exceed the file size limit of {} (RLIMIT_FSIZE)",
                        size, limit.rlim_cur));
    }
}

/// Maps at a huge-page boundary by reserving more addresses and releasing both ends.
std::byte* map_aligned(int descriptor, Bytes size) {
    const auto length = static_cast<std::size_t>(size);
    void* const reserved = mmap(nullptr, length + huge_page, PROT_NONE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved == MAP_FAILED)
        fail(fmt::format("cannot reserve {} bytes of address space for shared memory", size));
    const auto first = reinterpret_cast<std::uintptr_t>(reserved);
    const std::uintptr_t aligned = (first + huge_page - 1) / huge_page * huge_page;
    if (aligned > first)
        munmap(reserved, aligned - first);
    munmap(reinterpret_cast<void*>(aligned + length), first + huge_page - aligned);
    void* const mapped = mmap(reinterpret_cast<void*>(aligned), length, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_FIXED, descriptor, 0);
    if (mapped == MAP_FAILED) {
        const int why = std::exchange(errno, 0);
        munmap(reinterpret_cast<void*>(aligned), length);
        errno = why;
        fail(fmt::format("cannot map {} bytes of shared memory", size));
    }
    madvise(mapped, length, MADV_HUGEPAGE); // a hint: may be refused
    return static_cast<std::byte*>(mapped);
}

} // namespace

Segment Segment::create(Bytes size) {
    size = (size + page - 1) / page * page;
    check_file_limit(size);
    Segment made;
    made.descriptor_ = memfd_create("sextant", MFD_CLOEXEC);
    if (made.descriptor_ < 0)
        fail("cannot create shared memory");
    if (ftruncate(made.descriptor_, size) != 0)
        fail(fmt::format("cannot allocate {} bytes of shared memory", size));
    made.data_ = map_aligned(made.descriptor_, size);
    made.size_ = size;
    return made;
}

Segment Segment::open(int process, int descriptor, Bytes size) {
    Segment opened;
    const std::string path = fmt::format("/proc/{}/fd/{}", process, descriptor);
    opened.descriptor_ = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (opened.descriptor_ < 0)
        fail(path);
    opened.data_ = map_aligned(opened.descriptor_, size);
    opened.size_ = size;
    return opened;
}

Segment Segment::kept(std::byte* data, Bytes size, Whose whose) {
    Segment made;
    made.data_ = data;
    made.size_ = size;
    made.end_ = whose == Whose::ours ? End::clear : End::nothing;
    return made;
}

Segment::Segment(Segment&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      end_(other.end_) {}

Segment& Segment::operator=(Segment&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(descriptor_, other.descriptor_);
    std::swap(end_, other.end_);
    return *this;
}

Segment::~Segment() {
    close_descriptor();
    if (data_ && end_ == End::unmap)
        munmap(data_, static_cast<std::size_t>(size_));
    if (data_ && end_ == End::clear)
        clear(0, size_);
}

bool Segment::has_memory(Bytes offset, Bytes size) const {
    if (end_ == End::unmap) // a memfd is not limited by a file system
        return true;
    const int made = madvise(data_ + offset, static_cast<std::size_t>(size), MADV_POPULATE_WRITE);
    return made == 0 || errno == EINVAL; // EINVAL: an old kernel cannot check this
}

void Segment::clear(Bytes offset, Bytes size) const {
    const auto length = static_cast<std::size_t>(size);
    if (madvise(data_ + offset, length, MADV_REMOVE) != 0)
        std::memset(data_ + offset, 0, length); // the file does not support holes
}

void Segment::close_descriptor() {
    if (descriptor_ >= 0)
        close(std::exchange(descriptor_, -1));
}

namespace {

Bytes rounded_up(Bytes size, Bytes unit) {
    return (size + unit - 1) / unit * unit;
}

} // namespace

Arena::Arena(Segment segment, Bytes kept) : segment_(std::move(segment)) {
    const Bytes first = rounded_up(kept, page);
    if (first < segment_.size())
        free_[first] = segment_.size() - first;
}

std::optional<Memory> Arena::take(Bytes size) {
    if (size <= 0)
        return Memory();
    const Bytes unit = size >= huge_page ? huge_page : page;
    const Bytes needed = rounded_up(size, page);
    for (const auto& [offset, room] : free_) {
        const Bytes first = rounded_up(offset, unit), end = offset + room;
        if (first + needed > end)
            continue;
        if (!segment_.has_memory(first, needed))
            return std::nullopt;
        const Bytes before = first - offset;
        free_.erase(offset);
        if (before > 0)
            free_[first - before] = before;
        if (first + needed < end)
            free_[first + needed] = end - first - needed;
        std::byte* const data = segment_.data() + first;
        const auto back = [arena = shared_from_this(), first, needed](void*) {
            arena->give_back(first, needed);
        };
        return Memory(data, size, std::shared_ptr<void>(data, back));
    }
    return std::nullopt;
}

bool Arena::holds(const std::byte* data, Bytes size) const {
    return data >= segment_.data() && data + size <= segment_.data() + segment_.size();
}

void Arena::give_back(Bytes offset, Bytes size) {
    segment_.clear(offset, size);
    const auto next = free_.lower_bound(offset);
    if (next != free_.end() && next->first == offset + size) {
        size += next->second;
        free_.erase(next);
    }
    const auto after = free_.lower_bound(offset);
    if (after != free_.begin()) {
        const auto before = std::prev(after);
        if (before->first + before->second == offset) {
            before->second += size;
            return;
        }
    }
    free_[offset] = size;
}

} // namespace sextant
