// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/messages.hpp"

#include "sextant/comm/folding.hpp"
#include "sextant/schedule/walk.hpp"

#include <algorithm>

namespace sextant {

MessageTable::MessageTable(const Program& program, const Dependences& dependences,
                           const Loans& loans, Bytes element_size)
    : program_(program),
      dependences_(dependences),
      loans_(loans),
      of_step_(program.steps.size(), -1) {
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
        const Step& step = program.steps[i];
        if (!is_message(step.verb))
            continue;
        of_step_[i] = size();
        steps_.push_back(static_cast<int>(i));
        bytes_.push_back(program.bytes_of(step, element_size));
    }
}

std::vector<Message> MessageTable::messages(const BufferAddresses& places) const {
    const std::vector<int> tags = message_tags(program_);
    std::vector<Message> messages;
    for (int m = 0; m < size(); ++m) {
        const int index = step_of(m);
        const Step& step = program_.steps[static_cast<std::size_t>(index)];
        const bool sends = step.verb == Verb::send;
        const bool lends = sends ? loans_.may_lend(index) : !loans_.uses(index).empty();
        const bool free = !sends && dependences_.needs()[static_cast<std::size_t>(index)] == 0;
        messages.push_back(
            {sends, step.peer, tags[static_cast<std::size_t>(index)], lends, free, {}});
        list_blocks(m, places, messages.back().blocks);
    }
    return messages;
}

void MessageTable::list_blocks(int message, const BufferAddresses& places,
                               std::vector<Blocks>& to) const {
    to.clear();
    const Step& step = program_.steps[static_cast<std::size_t>(step_of(message))];
    for (const Region& region : program_.regions_of(step))
        to.push_back(places.blocks(region));
}

namespace {

std::vector<Elements> covered(const Program& program, const MessageTable& table) {
    std::vector<Elements> elements;
    for (int m = 0; m < table.size(); ++m) {
        const Step& step = program.steps[static_cast<std::size_t>(table.step_of(m))];
        const auto buffer = static_cast<std::size_t>(program.regions_of(step)[0].buffer);
        const bool of_operator = program.buffers[buffer].element == 0;
        elements.push_back(of_operator ? program.elements_of(step) : 0);
    }
    return elements;
}

Elements largest(const std::vector<Elements>& elements) {
    return elements.empty() ? 0 : *std::max_element(elements.begin(), elements.end());
}

} // namespace

Encoding::Encoding(const Program& program, const MessageTable& table, const BufferAddresses& places,
                   const Operator& op, Workspace& workspace)
    : program_(program),
      table_(table),
      places_(places),
      nothing_(nothing_of(op)),
      elements_(covered(program, table)),
      workspace_(workspace),
      codes_(elements_.size()),
      encoder_(nothing_, largest(elements_)) {
    make_rooms();
}

void Encoding::make_rooms() {
    constexpr Bytes line = 64;
    Bytes size = 0;
    std::size_t most_pieces = 0;
    for (int m = 0; m < table_.size(); ++m) {
        offsets_.push_back(size);
        if (!covers(m))
            continue;
        size += (table_.bytes(m) + line - 1) / line * line;
        list_pieces(m);
        most_pieces = std::max(most_pieces, pieces_.size());
    }
    workspace_.make_rooms(size);
    pieces_.reserve(most_pieces);
}

Blocks Encoding::room(int message) {
    const Bytes bytes = table_.bytes(message);
    return {workspace_.rooms.data() + offsets_[static_cast<std::size_t>(message)], bytes, bytes, 1};
}

/// Lists the elements of a message as contiguous pieces.
void Encoding::list_pieces(int message) {
    pieces_.clear();
    const Step& step = program_.steps[static_cast<std::size_t>(table_.step_of(message))];
    for (const Region& region : program_.regions_of(step)) {
        for (Elements e = 0; e < region.elements(); e += pieces_.back().count)
            pieces_.push_back({places_.at(region, e), region.run_left(e)});
    }
}

Bytes Encoding::encode(int message) {
    list_pieces(message);
    return encoder_.encode(pieces_, room(message).base);
}

const kernel::SparseCode* Encoding::read(int message, std::span<const std::byte> came) {
    std::optional<kernel::SparseCode>& code = codes_[static_cast<std::size_t>(message)];
    code.reset();
    if (static_cast<Bytes>(came.size()) < table_.bytes(message)) {
        code.emplace(came, elements_[static_cast<std::size_t>(message)],
                     static_cast<Bytes>(nothing_.size()));
    }
    return code ? &*code : nullptr;
}

void Encoding::unpack(int message, std::span<const std::byte> came) {
    const auto& code = codes_[static_cast<std::size_t>(message)];
    const auto size = static_cast<Bytes>(nothing_.size());
    Elements first = 0;
    list_pieces(message);
    for (const kernel::SparseEncoder::Piece& piece : pieces_) {
        auto* const to = const_cast<std::byte*>(piece.data); // a received region, so it is writable
        if (code)
            kernel::expand(*code, first, piece.count, nothing_, to);
        else
            std::copy_n(came.data() + first * size, piece.count * size, to);
        first += piece.count;
    }
}

} // namespace sextant
