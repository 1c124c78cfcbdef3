// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/operation.hpp"

#include "papers/reproduce.hpp"

int main(int argc, char** argv) {
    return sextant::command::main_of(sextant::papers::catalogue(), argc, argv);
}
