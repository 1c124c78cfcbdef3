// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/label/checkpoint.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/packing.hpp"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace sextant::label {

namespace {

/// The kinds of records. A slab's record states how many of the preceding body records belong to
/// it. Any body records before those were left by an interrupted run.
enum class RecordKind : std::uint8_t { bodies, slab };

/// Removes the first line from a text and returns it.
std::string_view take_line(std::string_view& text) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    return line;
}

void require_same_run(const std::string& path, std::string_view theirs, std::string_view expected) {
    while (!theirs.empty() || !expected.empty()) {
        const std::string_view line = take_line(theirs), own = take_line(expected);
        if (line != own)
            throw InvalidData(fmt::format("{}: belongs to another run, with '{}', expected '{}'; "
                                          "remove it to start from scratch",
                                          path, line, own));
    }
}

} // namespace

Checkpoint::Checkpoint(const std::string& path, const std::string& identity) {
    // Checked before the records are visited, since there can be many.
    if (std::filesystem::exists(path)) {
        if (const Journal earlier = Journal::open(path); earlier.text())
            require_same_run(path, *earlier.text(), identity);
    }
    journal_.emplace(Journal::append_to(
        path, identity, [&](const RecordPlace& place, std::span<const std::byte> record) {
            visit(place, record);
        }));
    if (journal_->text())
        require_same_run(path, *journal_->text(), identity);
    lists_.resize(lists_.size() - of_slab_);
    of_slab_ = 0;
}

void Checkpoint::visit(const RecordPlace& place, std::span<const std::byte> record) {
    Unpacker unpacker(record);
    if (unpacker.take<RecordKind>() == RecordKind::bodies) {
        auto bodies = unpacker.take<InteriorBodies>();
        bodies.packed = {};
        lists_.push_back({std::move(bodies), place});
        ++of_slab_;
        return;
    }
    const auto own = static_cast<std::size_t>(unpacker.take<std::uint64_t>());
    if (own > of_slab_)
        throw InvalidFile(journal_ ? journal_->path() : "checkpoint", "is damaged");
    lists_.erase(lists_.end() - static_cast<std::ptrdiff_t>(of_slab_),
                 lists_.end() - static_cast<std::ptrdiff_t>(own));
    of_slab_ = 0;
    slabs_.push_back(place);
}

std::optional<std::vector<std::byte>> Checkpoint::next_slab() {
    if (next_ == slabs_.size())
        return std::nullopt;
    std::vector<std::byte> record = journal_->read(slabs_[next_++]);
    record.erase(record.begin(), record.begin() + sizeof(RecordKind) + sizeof(std::uint64_t));
    return record;
}

void Checkpoint::add(InteriorBodies bodies) {
    RecordPlace place;
    if (journal_) {
        Packer packer;
        packer.add(RecordKind::bodies);
        packer.add(bodies);
        place = journal_->append(packer.bytes());
        bodies.packed = {};
    }
    lists_.push_back({std::move(bodies), place});
    ++of_slab_;
}

void Checkpoint::add_slab(std::span<const std::byte> record) {
    if (journal_) {
        Packer packer;
        packer.add(RecordKind::slab);
        packer.add(static_cast<std::uint64_t>(of_slab_));
        std::vector<std::byte> bytes = packer.bytes();
        bytes.insert(bytes.end(), record.begin(), record.end());
        journal_->append(bytes);
    }
    of_slab_ = 0;
}

std::array<std::size_t, InteriorBodies::sequences + 1> Checkpoint::sort_lists() {
    std::ranges::sort(lists_, {}, [](const List& list) {
        return std::tuple(list.bodies.sequence, list.bodies.part, list.bodies.first);
    });
    std::array<std::size_t, InteriorBodies::sequences + 1> begins{};
    for (const List& list : lists_)
        ++begins.at(static_cast<std::size_t>(list.bodies.sequence) + 1);
    std::partial_sum(begins.begin(), begins.end(), begins.begin());
    return begins;
}

InteriorBodies Checkpoint::list(std::size_t i) const {
    if (!journal_)
        return lists_[i].bodies;
    const std::vector<std::byte> record = journal_->read(lists_[i].place);
    Unpacker unpacker(record);
    unpacker.take<RecordKind>();
    return unpacker.take<InteriorBodies>();
}

} // namespace sextant::label
