/* tilevm_forms: programs from any form to another, for frontends and tools in any language. C11.
 *
 *   tilevm_translate_options options = {sizeof options, TILEVM_FORM_TBC, "scale.tile"};
 *   tilevm_bytes* output;
 *   if (tilevm_translate(text, size, &options, &output) == TILEVM_OK) {
 *     tilevm_module_from_bytes(tilevm_bytes_data(output), tilevm_bytes_size(output), "scale.tile", &module);
 *   } else {
 *     fputs(tilevm_bytes_data(output), stderr);
 *   }
 *   tilevm_bytes_destroy(output);
 *
 * The forms: .tbc (what modules are made from), text, NVIDIA's Tile IR bytecode; which one a program has is told by its
 * content. In libtilevm_forms.so, apart from libtilevm.so, because applications need none of it. Functions may be
 * called from any thread at any time. */
#ifndef TILEVM_FORMS_H_
#define TILEVM_FORMS_H_

#include <tilevm.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  TILEVM_FORM_TBC = 0,
  TILEVM_FORM_TEXT = 1,
  TILEVM_FORM_TILEIR = 2,
  /* One JSON object for programs, to read only: form, version, kernels, their parameters, arguments and launch rules
   * (as expressions of the text form), machine code. Text in it is UTF-8 unless names of the program are not. */
  TILEVM_FORM_JSON = 3
};

typedef struct tilevm_translate_options {
  size_t struct_size; /* set by the caller; what is 0 or NULL has a default */
  int32_t form;       /* wanted */
  const char* name;   /* of the program, for messages */
  int32_t version;  /* major * 100 + minor; .tbc: the newest that readers must know; Tile IR: 1301 to 1305, default: the
                         lowest that holds the program */
  int32_t no_debug; /* not 0: without places of the source; else a .tbc has those of the text it is made from */
  int32_t no_verify; /* not 0: a program that breaks rules is no error, as long as the form can hold it */
} tilevm_translate_options;

typedef struct tilevm_bytes tilevm_bytes;

/* TILEVM_INVALID_MODULE: the output is every mistake, one after the other, as "file:line:col: error[code]: what" with
 * further lines that show the source, and "  fix: how". TILEVM_INVALID_ARGUMENT: the options are wrong; the output says
 * how. TILEVM_OUT_OF_MEMORY: there is no output. Give the output to tilevm_bytes_destroy either way. Machine code of a .tbc stays only in a .tbc. */
TILEVM_API tilevm_status tilevm_translate(const void* bytes, size_t size, const tilevm_translate_options* options,
                                          tilevm_bytes** output);
/* With a zero byte after the last. */
TILEVM_API const char* tilevm_bytes_data(const tilevm_bytes* bytes);
TILEVM_API size_t tilevm_bytes_size(const tilevm_bytes* bytes);
/* The verifier's warnings, in the form of errors; "" if there are none. */
TILEVM_API const char* tilevm_bytes_warnings(const tilevm_bytes* bytes);
TILEVM_API void tilevm_bytes_destroy(tilevm_bytes* bytes);

#ifdef __cplusplus
}
#endif

#endif /* TILEVM_FORMS_H_ */
