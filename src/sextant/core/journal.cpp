// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/core/journal.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sextant {

namespace {

constexpr std::string_view magic = "sextant journal 1\n";
/// The size limit of a record; a larger length means a damaged file.
constexpr std::uint64_t largest_record = std::uint64_t{1} << 32;

/// The interval at which records are flushed to the disk.
constexpr Seconds between_syncs = 1;

struct RecordHead {
    std::uint64_t size = 0, checksum = 0;
};

/// Reads up to `size` bytes, fewer at the end of the file.
std::vector<std::byte> bytes_at(int descriptor, Bytes position, std::size_t size) {
    std::vector<std::byte> bytes(size);
    std::size_t got = 0;
    while (got < size) {
        const ssize_t some = pread(descriptor, bytes.data() + got, size - got,
                                   static_cast<off_t>(position) + static_cast<off_t>(got));
        if (some < 0 && errno == EINTR)
            continue;
        if (some <= 0)
            break;
        got += static_cast<std::size_t>(some);
    }
    bytes.resize(got);
    return bytes;
}

std::uint64_t size_of_file(int descriptor) {
    const off_t end = lseek(descriptor, 0, SEEK_END);
    return end < 0 ? 0 : static_cast<std::uint64_t>(end);
}

Seconds now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

} // namespace

std::uint64_t checksum_of(std::span<const std::byte> bytes) {
    std::uint64_t sum = 0xcbf29ce484222325;
    for (const std::byte byte : bytes)
        sum = (sum ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3;
    return sum;
}

Journal::Journal(std::string path, int descriptor, bool writes)
    : path_(std::move(path)), descriptor_(descriptor), writes_(writes), synced_(now()) {
    if (descriptor_ < 0 && errno == ELOOP)
        throw InvalidFile(path_, "is a symbolic link, which is not followed");
    if (descriptor_ < 0)
        fail(writes ? "written" : "read", errno);
    struct stat opened {};
    if (fstat(descriptor_, &opened) != 0 || !S_ISREG(opened.st_mode)) {
        close(std::exchange(descriptor_, -1));
        throw InvalidFile(path_, "is not a regular file");
    }
}

Journal::Journal(Journal&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      writes_(other.writes_),
      text_(std::move(other.text_)),
      visited_(other.visited_),
      synced_(other.synced_) {}

Journal::~Journal() {
    if (descriptor_ < 0)
        return;
    // Best effort: lost records are computed again. If the last flush was less than a second ago,
    // there is no further one, because a flush takes longer than registering a pair of small
    // frames.
    if (writes_ && now() - synced_ >= between_syncs)
        fdatasync(descriptor_);
    close(descriptor_);
}

Journal Journal::open(const std::string& path) {
    Journal journal(path, ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW),
                    false);
    journal.read_start();
    return journal;
}

Journal Journal::append_to(const std::string& path, const std::string& text, const Visit& visit) {
    Journal journal(
        path, ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0666),
        true);
    if (flock(journal.descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        throw InvalidFile(path, "is in use by another run");
    journal.read_start();
    if (!journal.text_)
        journal.begin(text);
    journal.visit(visit);
    // Removes an incomplete record of an earlier run.
    if (ftruncate(journal.descriptor_, static_cast<off_t>(journal.visited_)) != 0)
        journal.fail("written", errno);
    return journal;
}

/// An empty file is a valid journal without a text.
void Journal::read_start() {
    const std::vector<std::byte> start = bytes_at(descriptor_, 0, magic.size());
    if (!std::equal(start.begin(), start.end(), std::as_bytes(std::span(magic)).begin()))
        throw InvalidFile(path_, "is not a journal of this version");
    if (start.size() < magic.size())
        return;
    visited_ = static_cast<Bytes>(magic.size());
    RecordPlace place;
    if (const auto record = next(place))
        text_.emplace(reinterpret_cast<const char*>(record->data()), record->size());
}

void Journal::begin(const std::string& text) {
    if (ftruncate(descriptor_, 0) != 0)
        fail("written", errno);
    visited_ = 0;
    write_at_end(std::as_bytes(std::span(magic)));
    append(std::as_bytes(std::span(text)));
    text_ = text;
}

/// The record after the last visited one, if it is whole.
std::optional<std::vector<std::byte>> Journal::next(RecordPlace& place) {
    RecordHead head;
    const std::vector<std::byte> bytes = bytes_at(descriptor_, visited_, sizeof head);
    if (bytes.size() < sizeof head)
        return std::nullopt;
    std::memcpy(&head, bytes.data(), sizeof head);
    const Bytes position = visited_ + static_cast<Bytes>(sizeof head);
    const std::uint64_t end = size_of_file(descriptor_);
    if (head.size > largest_record || static_cast<std::uint64_t>(position) + head.size > end)
        return std::nullopt;
    std::vector<std::byte> record =
        bytes_at(descriptor_, position, static_cast<std::size_t>(head.size));
    if (record.size() < head.size || checksum_of(record) != head.checksum)
        return std::nullopt;
    place = {position, static_cast<Bytes>(head.size)};
    visited_ = position + place.size;
    return record;
}

void Journal::visit(const Visit& visit) {
    if (!text_)
        read_start(); // the writer may have completed the text in the meantime
    if (!text_)
        return;
    RecordPlace place;
    while (const auto record = next(place))
        visit(place, *record);
}

std::vector<std::byte> Journal::read(const RecordPlace& place) const {
    std::vector<std::byte> record =
        bytes_at(descriptor_, place.position, static_cast<std::size_t>(place.size));
    if (static_cast<Bytes>(record.size()) != place.size)
        throw InvalidFile(path_,
                          fmt::format("ends before the record at offset {}", place.position));
    return record;
}

RecordPlace Journal::append(std::span<const std::byte> record) {
    const RecordHead head{record.size(), checksum_of(record)};
    std::vector<std::byte> bytes(sizeof head + record.size());
    std::memcpy(bytes.data(), &head, sizeof head);
    if (!record.empty())
        std::memcpy(bytes.data() + sizeof head, record.data(), record.size());
    const RecordPlace place{visited_ + static_cast<Bytes>(sizeof head),
                            static_cast<Bytes>(record.size())};
    write_at_end(bytes);
    sync_now_and_then();
    return place;
}

void Journal::write_at_end(std::span<const std::byte> bytes) {
    Bytes at = visited_;
    while (!bytes.empty()) {
        const ssize_t written =
            pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(at));
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            const int error = written < 0 ? errno : ENOSPC;
            (void)!ftruncate(descriptor_, static_cast<off_t>(visited_)); // drop the partial record
            fail("written", error);
        }
        at += static_cast<Bytes>(written);
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    visited_ = at;
}

void Journal::sync_now_and_then() {
    if (now() - synced_ < between_syncs)
        return;
    if (fdatasync(descriptor_) != 0)
        fail("written", errno);
    synced_ = now();
}

void Journal::fail(const char* verb, int error) const {
    throw InvalidFile(
        path_, fmt::format("cannot be {}: {}", verb, std::generic_category().message(error)));
}

} // namespace sextant
