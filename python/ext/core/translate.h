/* Programs from one form to another, by libtilevm_forms. */
#ifndef TILE_PYTHON_EXT_CORE_TRANSLATE_H_
#define TILE_PYTHON_EXT_CORE_TRANSLATE_H_

#include "python/ext/core/object.h"

int add_translate(PyObject* module);

#endif /* TILE_PYTHON_EXT_CORE_TRANSLATE_H_ */
