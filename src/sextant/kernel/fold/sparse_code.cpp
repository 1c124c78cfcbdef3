// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/fold/sparse_code.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <vector>

#include <fmt/format.h>

namespace sextant::kernel {

namespace {

/// Calls `look(element, active)` for a few thousand evenly spaced cells.
template <class Look>
void look_around(std::span<const std::byte> images, const Operator& op, Look&& look) {
    const Bytes size = op.element.size;
    const Elements elements = static_cast<Elements>(images.size()) / size;
    std::vector<std::byte> nothing(static_cast<std::size_t>(size));
    op.fill_identity(nothing.data(), 1);
    const ActiveCells active(nothing);
    // An odd distance, so that samples of successive rows fall on different columns for common
    // image widths.
    const Elements apart = std::max(cell_elements, elements / 4096) | 1;
    for (Elements at = 0; at < elements; at += apart)
        look(at, active(images.data() + at * size, std::min(cell_elements, elements - at)) != 0);
}

} // namespace

double sampled_density(std::span<const std::byte> images, const Operator& op) {
    if (images.empty() || !op.fill_identity)
        return 1;
    Elements looked = 0, drawn = 0;
    look_around(images, op, [&](Elements, bool here) {
        ++looked;
        drawn += here;
    });
    return static_cast<double>(drawn) / static_cast<double>(looked);
}

std::vector<double> sampled_bands(std::span<const std::byte> images, Elements pixels,
                                  const Operator& op, int bands) {
    std::vector<double> shares(static_cast<std::size_t>(bands), 1);
    if (images.empty() || !op.fill_identity)
        return shares;
    std::vector<Elements> looked(shares.size(), 0), drawn(shares.size(), 0);
    look_around(images, op, [&](Elements element, bool here) {
        const auto band = static_cast<std::size_t>(element % pixels * bands / pixels);
        ++looked[band];
        drawn[band] += here;
    });
    for (std::size_t b = 0; b < shares.size(); ++b) {
        if (looked[b] > 0)
            shares[b] = static_cast<double>(drawn[b]) / static_cast<double>(looked[b]);
    }
    return shares;
}

SparseCode::SparseCode(std::span<const std::byte> bytes, Elements elements, Bytes element_size)
    : bytes_(bytes), elements_(elements), size_(element_size) {
    const auto given = static_cast<Bytes>(bytes.size());
    if (given < code_header_size)
        throw InvalidCode(
            fmt::format("the code has {} bytes, expected {} or more", given, code_header_size));
    CodeHeader header;
    std::memcpy(&header, bytes.data(), sizeof(header));
    if (header.mark != CodeHeader::sparse)
        throw InvalidCode(fmt::format("the code begins with {:#x}, expected {:#x}", header.mark,
                                      CodeHeader::sparse));
    if (header.elements != static_cast<std::uint64_t>(elements))
        throw InvalidCode(
            fmt::format("the code is for {} elements, expected {}", header.elements, elements));
    const Bytes table = Bytes{header.runs} * code_run_size;
    if (table > given - code_header_size)
        throw InvalidCode(fmt::format("{} runs do not fit in {} bytes", header.runs, given));
    runs_ = header.runs;
    check_runs(given - code_header_size - table);
}

/// Throws InvalidCode unless the runs are in order and their elements take `written` bytes.
void SparseCode::check_runs(Bytes written) const {
    Elements end = 0;
    Bytes bytes = 0;
    for (std::size_t i = 0; i < runs_; ++i) {
        const CodeRun each = run(i);
        if (Elements{each.first} < end || each.count == 0 ||
            Elements{each.first} + each.count > elements_)
            throw InvalidCode(fmt::format(
                "run {} has {} elements starting at {}, expected one or more within [{}, {})", i,
                std::uint32_t{each.count}, each.first, end, elements_));
        end = Elements{each.first} + each.count;
        bytes += bytes_of(each);
    }
    if (bytes != written)
        throw InvalidCode(
            fmt::format("the elements of the code have {} bytes, expected {}", written, bytes));
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
    // Copies the part already written, doubling it each time.
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

namespace {

/// The cost of one more run, in bytes moved: each run interrupts the passes over elements.
constexpr Bytes price_of_run = 256;

/// The size of the largest code that is cheaper to read than this many bytes of plain elements.
constexpr Bytes worth_it(Bytes bytes) {
    return bytes / 4 * 3;
}

Elements elements_of(std::span<const SparseEncoder::Piece> pieces) {
    Elements sum = 0;
    for (const SparseEncoder::Piece& piece : pieces)
        sum += piece.count;
    return sum;
}

} // namespace

SparseEncoder::SparseEncoder(std::span<const std::byte> nothing, Elements most)
    : active_cells_(nothing) {
    // Room for the largest worthwhile number of runs, plus one to detect more.
    runs_.reserve(static_cast<std::size_t>(worth_it(most * size()) / price_of_run + 1));
}

Bytes SparseEncoder::encode(std::span<const Piece> pieces, std::byte* to) {
    const Elements elements = elements_of(pieces);
    to_ = to;
    written_ = code_header_size;
    most_bytes_ = worth_it(elements * size());
    at_ = active_ = 0;
    runs_.clear();
    const bool coded =
        elements <= std::numeric_limits<std::int32_t>::max() && looks_worth_it(pieces, elements) &&
        std::all_of(pieces.begin(), pieces.end(), [&](const Piece& piece) { return add(piece); });
    if (coded)
        return finish(elements);
    active_ = elements;
    for (const Piece& piece : pieces)
        to = std::copy_n(piece.data, piece.count * size(), to);
    return elements * size();
}

/// Samples some cells first, so that dense data is not written twice.
bool SparseEncoder::looks_worth_it(std::span<const Piece> pieces, Elements elements) const {
    if (code_header_size > most_bytes_)
        return false;
    constexpr Elements samples = 64, enough = samples / 8;
    const Elements apart = std::max<Elements>(cell_elements, elements / samples);
    Elements looked = 0, cheap = 0, next = 0;
    for (const Piece& piece : pieces) {
        for (; next < piece.count; next += apart, ++looked) {
            const std::byte* const data = piece.data + next * size();
            const Elements count = std::min(cell_elements, piece.count - next);
            cheap += active_cells_(data, count) == 0 || is_equal(data, count);
        }
        next -= piece.count;
    }
    return cheap * samples >= looked * enough;
}

bool SparseEncoder::add(const Piece& piece) {
    for (Elements first = 0; first < piece.count; first += ActiveCells::most) {
        const Elements count = std::min(ActiveCells::most, piece.count - first);
        const std::byte* const data = piece.data + first * size();
        const std::uint64_t active = active_cells_(data, count);
        for (Elements done = 0; done < count;) {
            const std::uint64_t left = active >> (done / cell_elements);
            const bool drawn = left & 1;
            const Elements cells = drawn ? std::countr_one(left) : std::countr_zero(left);
            const Elements here = std::min(count - done, cells * cell_elements);
            if (drawn && !add_active(data + done * size(), here))
                return false;
            if (!drawn)
                at_ += here;
            done += here;
        }
    }
    return true;
}

/// Writes cells whose elements are all equal as separate runs.
bool SparseEncoder::add_active(const std::byte* data, Elements count) {
    active_ += count;
    for (Elements done = 0; done < count;) {
        const std::byte* const from = data + done * size();
        const auto equal = [&](Elements first) {
            return is_equal(data + first * size(), std::min(cell_elements, count - first));
        };
        const bool first_equal = equal(done);
        Elements next = std::min(count, done + cell_elements);
        while (!first_equal && next < count && !equal(next))
            next = std::min(count, next + cell_elements);
        if (!write(from, next - done, first_equal))
            return false;
        done = next;
    }
    return true;
}

bool SparseEncoder::is_equal(const std::byte* data, Elements count) const {
    const auto one = static_cast<std::size_t>(size()), all = static_cast<std::size_t>(count) * one;
    return count > 1 && std::memcmp(data, data + one, one) == 0 &&
           std::memcmp(data, data + one, all - one) == 0;
}

/// True if the elements at `data` extend the last run.
bool SparseEncoder::continues(const std::byte* data, bool equal) const {
    if (runs_.empty() || runs_.back().equal != equal ||
        Elements{runs_.back().first} + runs_.back().count != at_)
        return false;
    const auto one = static_cast<std::size_t>(size());
    return !equal || std::memcmp(to_ + written_ - size(), data, one) == 0;
}

/// Returns false if the code is no longer worthwhile.
bool SparseEncoder::write(const std::byte* data, Elements count, bool equal) {
    const bool more = continues(data, equal);
    if (!more)
        runs_.push_back({static_cast<std::uint32_t>(at_), 0, equal});
    const Bytes bytes = equal ? (more ? 0 : size()) : count * size();
    const auto runs = static_cast<Bytes>(runs_.size());
    if (written_ + bytes + runs * price_of_run > most_bytes_)
        return false;
    std::copy_n(data, bytes, to_ + written_);
    written_ += bytes;
    at_ += count;
    runs_.back().count = static_cast<std::uint32_t>(at_ - runs_.back().first) & 0x7fffffffu;
    return true;
}

Bytes SparseEncoder::finish(Elements elements) {
    const CodeHeader header{CodeHeader::sparse, static_cast<std::uint32_t>(runs_.size()),
                            static_cast<std::uint64_t>(elements)};
    std::memcpy(to_, &header, sizeof(header));
    const Bytes table = static_cast<Bytes>(runs_.size()) * code_run_size;
    std::copy_n(reinterpret_cast<const std::byte*>(runs_.data()), table, to_ + written_);
    return written_ + table;
}

} // namespace sextant::kernel
