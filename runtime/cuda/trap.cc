#include "runtime/cuda/trap.h"

#include <cstdio>
#include <cstring>
#include <mutex>

#include "absl/strings/str_cat.h"
#include "ir/escape.h"
#include "ir/print_format.h"

namespace tile::runtime::cuda {
namespace {

constexpr size_t kSlabBytes = 16384;
constexpr uint32_t kPrintBytes = 1 << 20;

// The texts of records that have no site.
struct KindText {
  const char *code, *message;
};
KindText TextOf(uint32_t kind) {
  switch (kind) {
    case TILE_TRAP_ASSERT: return {"vm.assert", "an assertion failed"};
    case TILE_TRAP_BOUNDS: return {"vm.out_of_bounds", "an access is out of bounds"};
    case TILE_TRAP_MISALIGNED: return {"vm.misaligned", "an address is not aligned"};
    case TILE_TRAP_DIVISION: return {"vm.division_by_zero", "a division by zero, or one that overflows"};
    case TILE_TRAP_PROMISE: return {"vm.assume", "an assumption does not hold"};
    default: return {"cuda.trap", "the kernel stopped without saying why"};
  }
}

}  // namespace

uint32_t PrintCapacity(const ir::Image& image) {
  for (const ir::ImageSite& s : image.sites) {
    if (s.code.empty()) return kPrintBytes;
  }
  return 0;
}

Report MakeReport(const TileTrapRecord& record, const ir::Image& image, const ir::Function& function) {
  const bool known = record.site < image.sites.size() && !image.sites[record.site].code.empty();
  const ir::ImageSite* site = known ? &image.sites[record.site] : nullptr;
  const KindText text = TextOf(record.kind);
  Report r;
  r.code = site != nullptr ? site->code : text.code;
  r.where =
      site != nullptr && !site->where.empty() ? site->where : function.module()->Where(function.loc, function.pos);
  r.kernel = std::string(function.name);
  r.op = site != nullptr ? site->op : absl::StrCat("site ", record.site);
  r.message = site != nullptr ? site->message : text.message;
  for (size_t d = 0; d < 3; ++d) r.block[d] = record.block[d];
  if (record.kind == TILE_TRAP_BOUNDS) {
    absl::StrAppend(&r.message, " (index ", static_cast<int64_t>(record.value[0]), " of ", record.value[1], ")");
  } else if (record.kind == TILE_TRAP_MISALIGNED) {
    absl::StrAppend(&r.message, " (address 0x", absl::Hex(record.value[0]), ", alignment ", record.value[1], ")");
  }
  if (record.lane != 0xffffffffu) absl::StrAppend(&r.message, " (element ", record.lane, " of the tile)");
  if (record.count > 1) absl::StrAppend(&r.message, "; ", record.count - 1, " more such reports were not kept");
  return r;
}

std::vector<std::string> PrintTexts(const TileTrapRecord& record, const uint8_t* area, const ir::Image& image) {
  std::vector<std::string> texts;
  const size_t end = std::min(record.print_used, record.print_capacity);
  for (size_t at = 0; at + sizeof(TilePrintEntry) <= end;) {
    TilePrintEntry entry;
    std::memcpy(&entry, area + at, sizeof entry);
    if (entry.bytes < sizeof entry || entry.bytes % 8 != 0 || entry.bytes > end - at) break;
    if (entry.site >= image.sites.size()) break;
    const ir::ImageSite& site = image.sites[entry.site];
    std::vector<ir::PrintOperand> operands;
    size_t data = at + sizeof entry;
    for (const ir::ImageOperand& o : site.operands) {
      size_t bytes = static_cast<size_t>(ir::StorageBytes(o.element));
      for (const int64_t n : o.shape) bytes *= static_cast<size_t>(n);
      if (bytes > at + entry.bytes - data) break;
      operands.push_back({o.element, o.shape, area + data});
      data += std::min((bytes + 7) / 8 * 8, at + entry.bytes - data);
    }
    texts.push_back(ir::FormatPrint(site.message, operands));
    at += entry.bytes;
  }
  if (record.print_used > record.print_capacity) {
    texts.push_back(absl::StrCat("[", record.print_used - record.print_capacity,
                                 " bytes of prints were lost: more than ", record.print_capacity, " in one launch]\n"));
  }
  return texts;
}

void TakePrints(TileTrapRecord* record, const ir::Image& image, const std::function<void(absl::string_view)>& sink) {
  const auto* area = reinterpret_cast<const uint8_t*>(record + 1);
  for (const std::string& text : PrintTexts(*record, area, image)) {
    if (sink) {
      sink(text);
    } else {
      ir::WritePrinted(text, stdout);
    }
  }
  record->print_used = 0;
}

absl::Status TakeReport(TileTrapRecord* record, const ir::Image& image, const ir::Function& function,
                        const std::function<void(absl::string_view)>& sink) {
  // The launch is over: nobody writes the record any more. The load pairs with the release of the kernel.
  const uint32_t kind = __atomic_load_n(&record->kind, __ATOMIC_ACQUIRE);
  if (kind == TILE_TRAP_NONE && record->print_used == 0) return absl::OkStatus();
  TakePrints(record, image, sink);
  absl::Status status;
  if (kind != TILE_TRAP_NONE) status = ReportStatus({MakeReport(*record, image, function)});
  const uint32_t capacity = record->print_capacity;
  std::memset(record, 0, sizeof *record);
  record->print_capacity = capacity;
  return status;
}

TrapPool::~TrapPool() {
  std::lock_guard<std::mutex> lock(mutex_);
  for (void* slab : slabs_) driver_.cuMemFreeHost(slab);
}

absl::StatusOr<TileTrapRecord*> TrapPool::Take(uint32_t print_bytes) {
  const auto allocate = [&](size_t bytes, void** memory) {
    return driver_.Check(driver_.cuMemHostAlloc(memory, bytes, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP),
                         "allocating a trap record");
  };
  std::lock_guard<std::mutex> lock(mutex_);
  TileTrapRecord* record = nullptr;
  void* memory = nullptr;
  if (print_bytes > 0) {
    if (absl::Status s = allocate(sizeof *record + print_bytes, &memory); !s.ok()) return s;
    record = static_cast<TileTrapRecord*>(memory);
  } else {
    if (free_.empty()) {
      if (absl::Status s = allocate(kSlabBytes, &memory); !s.ok()) return s;
      slabs_.push_back(memory);
      for (size_t i = kSlabBytes / sizeof *record; i-- > 0;) free_.push_back(static_cast<TileTrapRecord*>(memory) + i);
    }
    record = free_.back();
    free_.pop_back();
  }
  std::memset(record, 0, sizeof *record);
  record->print_capacity = print_bytes;
  return record;
}

void TrapPool::Return(TileTrapRecord* record) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (record->print_capacity > 0) {
    driver_.cuMemFreeHost(record);
  } else {
    free_.push_back(record);
  }
}

}  // namespace tile::runtime::cuda
