// NVIDIA's Tile IR bytecode as numbers: what the reader, the writer and the tests' encoder must agree on. The order of
// an operation's fields is not here but in ir/formats.def; FormatLayouts turns it into the bits of the flag word for
// one version of the container.
//
//   FormatLayouts layouts(1304);
//   layouts.Of(*op->format).attr_bits[1];   // bit of the second attribute, -1 if it has none
//
// Immutable, safe from any thread.
#ifndef TILE_IR_TILEIR_FORMAT_H_
#define TILE_IR_TILEIR_FORMAT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "ir/op_info.h"

namespace tile::ir::tileir {

inline constexpr uint8_t kMagic[8] = {0x7F, 'T', 'i', 'l', 'e', 'I', 'R', 0};
inline constexpr int kHeaderBytes = 12;                             // magic, major, minor, 16-bit tag
inline constexpr uint16_t kPreviewTag = 1;                          // tag bit: the module uses preview operations
inline constexpr uint8_t kFiller = 0xCB;                            // between things that must be aligned
inline constexpr int kOldestVersion = 1301, kNewestVersion = 1305;  // major * 100 + minor

enum class Section : uint8_t { kEnd, kString, kFunction, kDebug, kConstant, kType, kGlobal, kProducer };
inline constexpr int kNumSections = 8;
inline constexpr uint8_t kSectionAligned = 0x80;  // bit of the section's id byte
const char* SectionName(Section s);

// Numbers of types that are no element types (those are in ir/elements.def).
enum class TypeTag : uint8_t {
  kPointer = 12,
  kTile = 13,
  kTensorView = 14,
  kPartitionView = 15,
  kFunction = 16,
  kToken = 17,
  kGatherScatterView = 20,
  kStridedView = 21,
};

enum class AttrTag : uint8_t {
  kInteger = 1,
  kFloat,
  kBool,
  kType,
  kString,
  kArray,
  kDense,
  kDivBy,
  kSameElements,
  kDictionary,
  kHints,
  kBounded,
};

enum FunctionFlag : uint8_t { kPrivate = 1, kEntry = 2, kHasHints = 4 };

// Versions at which the same bytes began to mean something else.
inline constexpr int kSinceTypeFlags = 1303;         // partition_view and later views: flags before the fields
inline constexpr int kSincePointerFlags = 1304;      // ptr, tensor_view: flags before the fields
inline constexpr int kSinceGlobalVisibility = 1303;  // global: visibility, constant
inline constexpr int kSinceProducer = 1303;
inline constexpr int kSinceDefaultHints = 1303;     // hints for the architecture "default"
inline constexpr int kSinceEntryAttributes = 1305;  // entry: hints always, then the arguments' attributes
inline constexpr int kSinceSubprogramFlags = 1305;

inline constexpr int kFirstPreviewOp = 0x4000, kPreviewCall = 0x4002;
inline constexpr int kFirstExtensionOp = 0x8000;  // numbers of this project, never in such a file

// A field or value introduced at `since` (0: with its operation) can stand in a file of this version.
constexpr bool Exists(int since, int version) { return since <= version; }

// "13.4" of 1304.
std::string VersionText(int version);
// "came with version 13.4, but the file says 13.1".
std::string TooNew(int since, int version);

struct FormatLayout {
  std::vector<int> attr_bits, operand_bits;  // bit of the flag word that tells presence (a flag: its value); -1: none
  int num_bits = 0;                          // 0: there is no flag word
  int min_results = 0, max_results = 0;      // max -1: any number
};

class FormatLayouts {
 public:
  explicit FormatLayouts(int version);
  const FormatLayout& Of(const FormatInfo& f) const { return layouts_[static_cast<int>(f.id)]; }

 private:
  std::vector<FormatLayout> layouts_;
};

}  // namespace tile::ir::tileir

#endif  // TILE_IR_TILEIR_FORMAT_H_
