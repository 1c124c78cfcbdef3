// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/main.hpp"

int main(int argc, char** argv) {
    return sextant::operation::main_of(sextant::operation::catalogue(), argc, argv);
}
