// What a kernel reported: trap records and prints (ABI.md), turned into the text that the VM would have written.
#ifndef TILE_RUNTIME_CUDA_TRAP_H_
#define TILE_RUNTIME_CUDA_TRAP_H_

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ir/module.h"
#include "ir/tbc/image.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/kernel_abi.h"
#include "runtime/report.h"

namespace tile::runtime::cuda {

// Bytes of the print area that a launch of this image gets.
uint32_t PrintCapacity(const ir::Image& image);

// The report of a record whose kind is not 0.
Report MakeReport(const TileTrapRecord& record, const ir::Image& image, const ir::Function& function);

// What the entries of a print area say, in order. Entries that make no sense end the list.
std::vector<std::string> PrintTexts(const TileTrapRecord& record, const uint8_t* area, const ir::Image& image);

// Prints to `sink` (null: standard output), and empties the print area.
void TakePrints(TileTrapRecord* record, const ir::Image& image, const std::function<void(absl::string_view)>& sink);

// The same; clears the record, and returns the report as an Aborted status.
absl::Status TakeReport(TileTrapRecord* record, const ir::Image& image, const ir::Function& function,
                        const std::function<void(absl::string_view)>& sink);

// Records without print area in pinned memory, many to a page. Thread-safe. Lives as long as its context.
class TrapPool {
 public:
  explicit TrapPool(const Driver* driver) : driver_(*driver) {}
  ~TrapPool();  // the context must be current

  // A cleared record, with a print area of so many bytes. Its address is the same for host and device. The context must
  // be current.
  absl::StatusOr<TileTrapRecord*> Take(uint32_t print_bytes);
  void Return(TileTrapRecord* record);

 private:
  const Driver& driver_;
  std::mutex mutex_;
  std::vector<void*> slabs_ ABSL_GUARDED_BY(mutex_);
  std::vector<TileTrapRecord*> free_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tile::runtime::cuda

#endif  // TILE_RUNTIME_CUDA_TRAP_H_
