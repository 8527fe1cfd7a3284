// Prints the operation table as schemas/released/ keeps it.
#include <iostream>

#include "ir/tbc/op_list.h"

int main() {
  std::cout << tile::ir::ListOps();
  return 0;
}
