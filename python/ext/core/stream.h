/* Streams, events, graphs and buffers. */
#ifndef TILE_PYTHON_EXT_CORE_STREAM_H_
#define TILE_PYTHON_EXT_CORE_STREAM_H_

#include "python/ext/core/object.h"

extern PyTypeObject *StreamType, *EventType, *GraphType, *BufferType;

int add_stream(PyObject* module);

#endif /* TILE_PYTHON_EXT_CORE_STREAM_H_ */
