// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/field_store.hpp"

#include <cstring>
#include <stdexcept>

namespace sextant::registration {

namespace {

struct Head {
    ImageShape image, nodes;
    Elements spacing;
    SplineFitReport fit;
    Seconds seconds;
    std::uint64_t sigmas, knowns; ///< numbers of these: none or one a node
};

template <class Value>
void put(std::vector<std::byte>& bytes, std::span<Value> values) {
    const std::size_t before = bytes.size();
    bytes.resize(before + values.size_bytes());
    if (!values.empty())
        std::memcpy(bytes.data() + before, values.data(), values.size_bytes());
}

template <class Value>
void take(std::span<const std::byte>& bytes, std::span<Value> to) {
    if (bytes.size() < to.size_bytes())
        throw std::logic_error("a field that was kept is shorter than it says");
    if (!to.empty())
        std::memcpy(to.data(), bytes.data(), to.size_bytes());
    bytes = bytes.subspan(to.size_bytes());
}

} // namespace

std::vector<std::byte> bytes_of(const StoredField& stored) {
    const DisplacementField& field = stored.field;
    const Head head{field.image,    field.nodes,        field.spacing,     stored.fit,
                    stored.seconds, field.sigma.size(), field.known.size()};
    std::vector<std::byte> bytes;
    put(bytes, std::span(&head, 1));
    put(bytes, std::span(field.x));
    put(bytes, std::span(field.y));
    put(bytes, std::span(field.sigma));
    put(bytes, std::span(field.known));
    return bytes;
}

StoredField field_from(std::span<const std::byte> bytes) {
    Head head;
    take(bytes, std::span(&head, 1));
    StoredField stored{
        {head.image, head.spacing, head.nodes, {}, {}, {}, {}}, head.fit, head.seconds};
    DisplacementField& field = stored.field;
    field.x.resize(field.count());
    field.y.resize(field.count());
    field.sigma.resize(head.sigmas);
    field.known.resize(head.knowns);
    take(bytes, std::span(field.x));
    take(bytes, std::span(field.y));
    take(bytes, std::span(field.sigma));
    take(bytes, std::span(field.known));
    return stored;
}

} // namespace sextant::registration
