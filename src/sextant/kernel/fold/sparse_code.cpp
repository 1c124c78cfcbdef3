// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/fold/sparse_code.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace sextant::kernel {

SparseCode::SparseCode(std::span<const std::byte> bytes, Elements elements, Bytes element_size)
    : bytes_(bytes), elements_(elements), size_(element_size) {
    const auto given = static_cast<Bytes>(bytes.size());
    if (given < code_header_size)
        throw InvalidCode(fmt::format("{} bytes, expected {} or more", given, code_header_size));
    CodeHeader header;
    std::memcpy(&header, bytes.data(), sizeof(header));
    if (header.mark != CodeHeader::sparse)
        throw InvalidCode(
            fmt::format("begins with {:#x}, expected {:#x}", header.mark, CodeHeader::sparse));
    if (header.elements != static_cast<std::uint64_t>(elements))
        throw InvalidCode(
            fmt::format("a code of {} elements, expected {}", header.elements, elements));
    const Bytes table = Bytes{header.runs} * code_run_size;
    if (table > given - code_header_size)
        throw InvalidCode(fmt::format("{} runs do not fit in {} bytes", header.runs, given));
    runs_ = header.runs;
    check_runs(given - code_header_size - table);
}

/// `written`: how many bytes the elements of all runs have.
void SparseCode::check_runs(Bytes written) const {
    Elements end = 0;
    Bytes bytes = 0;
    for (std::size_t i = 0; i < runs_; ++i) {
        const CodeRun each = run(i);
        if (Elements{each.first} < end || each.count == 0 ||
            Elements{each.first} + each.count > elements_)
            throw InvalidCode(fmt::format("run {} is of {} elements from {} on, expected some in "
                                          "[{}, {})",
                                          i, std::uint32_t{each.count}, each.first, end,
                                          elements_));
        end = Elements{each.first} + each.count;
        bytes += bytes_of(each);
    }
    if (bytes != written)
        throw InvalidCode(fmt::format("{} bytes of elements, expected {}", written, bytes));
}

CodeRun SparseCode::run(std::size_t i) const {
    CodeRun run;
    std::memcpy(&run, bytes_.data() + bytes_.size() - (runs_ - i) * sizeof(run), sizeof(run));
    return run;
}

SparseCursor::SparseCursor(const SparseCode& code, Elements first)
    : code_(&code), data_(code.bytes_.data() + code_header_size) {
    if (code.runs_ > 0)
        run_ = code.run(0);
    at(first);
}

Stretch SparseCursor::at(Elements element) {
    while (index_ < code_->runs_ && element >= Elements{run_.first} + run_.count)
        next();
    if (index_ == code_->runs_)
        return {nullptr, std::max<Elements>(1, code_->elements_ - element)};
    if (element < Elements{run_.first})
        return {nullptr, run_.first - element};
    const Elements into = element - run_.first;
    return {run_.equal ? data_ : data_ + into * code_->size_, run_.count - into, run_.equal != 0};
}

void SparseCursor::next() {
    data_ += code_->bytes_of(run_);
    if (++index_ < code_->runs_)
        run_ = code_->run(index_);
}

void repeat(std::span<const std::byte> element, Elements count, std::byte* to) {
    if (count == 0)
        return;
    // What is there already, twice as much each time.
    auto done = static_cast<Bytes>(element.size());
    std::copy(element.begin(), element.end(), to);
    for (const Bytes all = count * done; done < all;) {
        const Bytes more = std::min(done, all - done);
        std::copy_n(to, more, to + done);
        done += more;
    }
}

void expand(const SparseCode& code, Elements first, Elements count,
            std::span<const std::byte> nothing, std::byte* to) {
    const Bytes size = code.element_size();
    const auto one = static_cast<std::size_t>(size);
    SparseCursor cursor(code, first);
    for (Elements done = 0; done < count;) {
        const Stretch stretch = cursor.at(first + done);
        const Elements here = std::min(stretch.count, count - done);
        if (!stretch.data)
            repeat(nothing.first(one), here, to);
        else if (stretch.equal)
            repeat({stretch.data, one}, here, to);
        else
            std::copy_n(stretch.data, here * size, to);
        to += here * size;
        done += here;
    }
}

} // namespace sextant::kernel
