// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace sextant::test {

/// Changes JSON values at random. The result is JSON again, unlike most results of changing bytes
/// at random, which the parser refuses before a reader sees them.
class JsonMutation {
  public:
    using Value = nlohmann::json;

    explicit JsonMutation(unsigned seed) : random_(seed) {}

    /// Changes one value, sometimes several: most files with two changes are refused.
    void change(Value& root) {
        do
            change_one(root);
        while (below(4) == 0);
    }

    /// Copies a value of another file into this one.
    void copy(const Value& from, Value& root) {
        Value donor = from;
        const Value value = *any(values_of(donor));
        Value& place = *any(values_of(root));
        if (place.is_array())
            insert(place, value);
        else
            place = value;
    }

  private:
    std::size_t below(std::size_t count) { return random_() % count; }

    template <class T>
    T& any(std::vector<T>&& list) {
        return list[below(list.size())];
    }

    /// A value and all values inside it.
    static std::vector<Value*> values_of(Value& root) {
        std::vector<Value*> all{&root};
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (all[i]->is_structured()) {
                for (Value& member : *all[i])
                    all.push_back(&member);
            }
        }
        return all;
    }

    void insert(Value& array, const Value& value) {
        const auto place = static_cast<std::ptrdiff_t>(below(array.size() + 1));
        array.insert(array.begin() + place, value);
    }

    Value extreme() {
        constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
        static const std::array<Value, 28> values{
            0,       1,       2,       3,         7,       -1,         64,
            1000,    1 << 16, 1 << 17, 1 << 20,   1 << 24, 1 << 28,    1 << 30,
            INT_MAX, most,    -most,   -most - 1, -0.0,    .5,         1e-300,
            1e-12,   1e6,     1e18,    1e300,     5e-324,  UINT64_MAX, -1e300};
        return values[below(values.size())];
    }

    Value other_number(const Value& value) {
        if (!value.is_number_integer() || below(8) == 0)
            return value.get<double>() * (below(2) == 0 ? -.5 : 3);
        const auto bits = value.get<std::uint64_t>(); // unsigned, so that nothing overflows
        switch (below(4)) {
        case 0:
            return static_cast<std::int64_t>(bits + 1);
        case 1:
            return static_cast<std::int64_t>(bits - 1);
        case 2:
            return static_cast<std::int64_t>(bits * 2);
        default:
            return static_cast<std::int64_t>(0 - bits);
        }
    }

    Value empty() {
        switch (below(5)) {
        case 0:
            return Value::object();
        case 1:
            return Value::array();
        case 2:
            return "";
        case 3:
            return below(2) == 0;
        default:
            return nullptr;
        }
    }

    /// Any value that is an object or an array with members; null if there is none.
    Value* any_structured(Value& root) {
        std::vector<Value*> all = values_of(root);
        std::erase_if(all, [](const Value* value) { return value->empty(); });
        std::erase_if(all, [](const Value* value) { return !value->is_structured(); });
        return all.empty() ? nullptr : all[below(all.size())];
    }

    void change_one(Value& root) {
        Value& value = *any(values_of(root));
        const Value other = *any(values_of(root));
        Value* const list = any_structured(root);
        switch (below(8)) {
        case 0:
            value = extreme();
            break;
        case 1:
            value = other;
            break;
        case 2:
            value = empty();
            break;
        case 3:
        case 4:
            if (list)
                list->erase(
                    std::next(list->begin(), static_cast<std::ptrdiff_t>(below(list->size()))));
            break;
        case 5:
            if (list)
                add_members(*list, other);
            break;
        case 6:
            if (value.is_string())
                value = value.get<std::string>() + std::string(below(300), 'a');
            break;
        default:
            value = value.is_number() ? other_number(value) : extreme();
        }
    }

    void add_members(Value& list, const Value& other) {
        if (list.is_object() && other.is_object())
            list.update(other);
        if (!list.is_array())
            return;
        for (std::size_t left = 1 + below(below(4) == 0 ? 100 : 2); left > 0; --left)
            insert(list, below(4) == 0 ? other : Value(list[below(list.size())]));
    }

    std::minstd_rand random_;
};

} // namespace sextant::test
