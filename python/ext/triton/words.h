/* Arguments of Triton kernels as words: a number is its bits, a tensor its address, a descriptor base, sizes and strides twice: as ours and
 * as Triton passes them beside it. Behind a pointer lies the whole storage of its tensor: kernels may get a view. */
#ifndef TILE_PYTHON_EXT_TRITON_WORDS_H_
#define TILE_PYTHON_EXT_TRITON_WORDS_H_

#include "python/ext/core/object.h"

/* An argument by its type in Triton's signature; tuples have arguments of their own. */
typedef struct Leaf {
  enum { kConstant, kPointer, kSigned, kUnsigned, kFloating, kDescriptor, kTuple } kind;
  int type;       /* of tilevm.h: of what a pointer or descriptor points to */
  int bits;       /* of a number */
  int count;      /* of a descriptor its rank, of a tuple its items */
  PyObject* name; /* in Python: x, pair[0] */
  struct Leaf* items;
} Leaf;

/* What an argument points into; 0 bytes: nothing. `part` is 0 if the argument is all of that memory, else a number that follows from its
 * sizes and strides. */
typedef struct Piece {
  uint64_t address, begin, bytes, part;
  int word;         /* the parameter */
  PyObject* object; /* borrowed from the arguments */
  const Leaf* leaf;
} Piece;

/* What Python knows better: functions of tilevm/triton/_memory.py. */
typedef struct Questions {
  PyObject* memory; /* (object, name) -> (address, begin, bytes, part) of a pointer argument that is no torch tensor */
  PyObject* shape;  /* (object, name, address, begin, bytes, bits) -> (name, shape), for messages */
  PyObject*
      array; /* object -> (type, shape, strides), or None if that is not known: of an argument that is a part of its memory */
  PyObject* others; /* () -> list of (name, address, type, shape): what pointers made of numbers may point into */
} Questions;

typedef struct Words {
  uint64_t* words;
  int num_words;
  Piece* pieces;
  int num_pieces;
} Words;

/* Reads a leaf of (kind, type, bits, name, count or list of items). 0, or -1 with an exception. Free it in any case. */
int read_leaf(PyObject* text, Leaf* leaf);
void free_leaf(Leaf* leaf);
/* How many words and pieces it becomes. */
void count_words(const Leaf* leaf, int* words, int* pieces);
/* Appends those of an argument. 0, or -1 with an exception. */
int read_words(const Leaf* leaf, PyObject* argument, const Questions* ask, Words* out);
/* Torch's own calls, which modes of torch shall not see, are between these. 0, or -1 with an exception. */
int enter_plain_torch(PyObject** guard);
void leave_plain_torch(PyObject* guard);

int add_words(PyObject* module);

#endif /* TILE_PYTHON_EXT_TRITON_WORDS_H_ */
