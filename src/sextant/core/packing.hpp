// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/error.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

namespace sextant {

/// Plain values and lists of them as bytes, for messages and records of this machine.
class Packer {
  public:
    template <class Value>
    void add(const Value& value) {
        static_assert(std::is_trivially_copyable_v<Value>);
        add_bytes(std::as_bytes(std::span(&value, 1)));
    }
    template <class Value>
    void add_all(const std::vector<Value>& values) {
        static_assert(std::is_trivially_copyable_v<Value>);
        add(static_cast<std::uint64_t>(values.size()));
        add_bytes(std::as_bytes(std::span(values)));
    }

    const std::vector<std::byte>& bytes() const { return bytes_; }

  private:
    void add_bytes(std::span<const std::byte> more) {
        bytes_.insert(bytes_.end(), more.begin(), more.end());
    }

    std::vector<std::byte> bytes_;
};

/// Takes the values of a Packer in the same order. Throws Error if the bytes end before.
class Unpacker {
  public:
    explicit Unpacker(std::span<const std::byte> bytes) : bytes_(bytes) {}

    bool empty() const { return bytes_.empty(); }
    template <class Value>
    Value take() {
        static_assert(std::is_trivially_copyable_v<Value>);
        Value value;
        take_bytes(&value, sizeof value);
        return value;
    }
    template <class Value>
    std::vector<Value> take_all() {
        const auto count = take<std::uint64_t>();
        require(count <= bytes_.size() / sizeof(Value));
        std::vector<Value> values(static_cast<std::size_t>(count));
        if (count > 0)
            take_bytes(values.data(), values.size() * sizeof(Value));
        return values;
    }

  private:
    void take_bytes(void* to, std::size_t size) {
        require(size <= bytes_.size());
        std::memcpy(to, bytes_.data(), size);
        bytes_ = bytes_.subspan(size);
    }
    static void require(bool enough) {
        if (!enough)
            throw Error("a record is shorter than expected");
    }

    std::span<const std::byte> bytes_;
};

} // namespace sextant
