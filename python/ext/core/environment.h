/* Options of launches that the environment sets. */
#ifndef TILE_PYTHON_EXT_CORE_ENVIRONMENT_H_
#define TILE_PYTHON_EXT_CORE_ENVIRONMENT_H_

#include <stdint.h>

/* The order of blocks that TILEVM_ORDER names for launches with all checks. NULL: several, or the usual one. */
const char* order_of_blocks(int32_t check);
/* Whether the environment lets pointers lead from their array into another: TILEVM_ANY_ARRAY. */
int asks_any_array(void);

#endif /* TILE_PYTHON_EXT_CORE_ENVIRONMENT_H_ */
