#include "python/ext/core/environment.h"

#include <stdlib.h>
#include <string.h>
#include <tilevm.h>

const char* order_of_blocks(int32_t check) {
  const char* order = check == TILEVM_CHECK_FULL ? getenv("TILEVM_ORDER") : NULL;
  return order != NULL && order[0] != 0 ? order : NULL;
}

int asks_any_array(void) {
  const char* text = getenv("TILEVM_ANY_ARRAY");
  return text != NULL && *text != '\0' && strcmp(text, "0") != 0;
}
