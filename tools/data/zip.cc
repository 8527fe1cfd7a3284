// Records, in bytes from their start (all little-endian):
//   local header   "PK\3\4"  +6 flags +8 method +14 crc +18 sizes +26 name length +28 extra length, 30 in all
//   central entry  "PK\1\2"  +8 flags +10 method +16 crc +20 sizes +28 lengths of name, extra, comment +42 offset, 46
//   end            "PK\5\6"  +10 entries +12 directory size +16 directory offset +20 comment length, 22
//   ZIP64 end      "PK\6\6"  +32 entries +40 directory size +48 directory offset, 56; found by its locator
//   ZIP64 locator  "PK\6\7"  +8 offset of the ZIP64 end, 20, right before the end record
// A size or offset of 0xFFFFFFFF is in the extra field 1 instead, eight bytes each.

#include "tools/data/zip.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tile::tools {
namespace {

constexpr uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50, kEnd64 = 0x06064b50;
constexpr uint32_t kLocator64 = 0x07064b50;
constexpr uint64_t kLimit32 = 0xFFFFFFFF;
constexpr uint64_t kMaxExpansion = 1032;
constexpr size_t kMaxMembers = 100000;

absl::Status Bad(absl::string_view what) { return absl::InvalidArgumentError(what); }

template <class T>
T Get(absl::Span<const uint8_t> bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

template <class T>
void Put(std::string* out, T value) {
  out->append(reinterpret_cast<const char*>(&value), sizeof(T));
}

bool Fits(uint64_t offset, uint64_t size, uint64_t total) { return offset <= total && size <= total - offset; }

uint32_t Crc(uint32_t crc, absl::Span<const uint8_t> bytes) {
  return static_cast<uint32_t>(crc32_z(crc, bytes.data(), bytes.size()));
}

// Replaces the fields that are 0xFFFFFFFF from the ZIP64 extra field.
absl::Status ReadExtra64(absl::Span<const uint8_t> extra, ZipMember* m) {
  uint64_t* fields[] = {&m->size, &m->compressed, &m->header};
  for (size_t at = 0; at + 4 <= extra.size();) {
    const size_t length = Get<uint16_t>(extra, at + 2);
    if (!Fits(at + 4, length, extra.size())) return Bad("a damaged extra field");
    if (Get<uint16_t>(extra, at) == 1) {
      size_t used = 0;
      for (uint64_t* field : fields) {
        if (*field != kLimit32) continue;
        if (used + 8 > length) return Bad("a ZIP64 field that lacks a value");
        *field = Get<uint64_t>(extra, at + 4 + used);
        used += 8;
      }
    }
    at += 4 + length;
  }
  return absl::OkStatus();
}

absl::StatusOr<AlignedBuffer> Inflate(absl::Span<const uint8_t> in, uint64_t size) {
  if (size / kMaxExpansion > in.size()) {
    return Bad(absl::StrCat(in.size(), " deflated bytes cannot hold ", size));
  }
  absl::StatusOr<AlignedBuffer> out = AlignedBuffer::Uninitialized(size);
  if (!out.ok()) return out;
  z_stream z = {};
  if (inflateInit2(&z, -MAX_WBITS) != Z_OK) return absl::ResourceExhaustedError("no memory to inflate");
  constexpr uint64_t kStep = 1 << 30;  // zlib counts in 32 bits
  uint64_t read = 0, written = 0;
  int result = Z_OK;
  // One byte more than `size` is offered at the end, so that a longer stream shows.
  uint8_t extra;
  while (result == Z_OK) {
    const uint64_t in_step = std::min(kStep, in.size() - read);
    const uint64_t out_step = written < size ? std::min(kStep, size - written) : 1;
    z.next_in = const_cast<uint8_t*>(in.data() + read);
    z.avail_in = static_cast<uInt>(in_step);
    z.next_out = written < size ? out->data() + written : &extra;
    z.avail_out = static_cast<uInt>(out_step);
    result = inflate(&z, Z_NO_FLUSH);
    read += in_step - z.avail_in;
    written += out_step - z.avail_out;
    if (written > size) break;
  }
  inflateEnd(&z);
  if (result != Z_STREAM_END || written != size) return Bad("its deflated bytes are damaged");
  return out;
}

}  // namespace

absl::StatusOr<std::vector<ZipMember>> ListZip(absl::Span<const uint8_t> file) {
  if (file.size() < 22) return Bad("is not a ZIP archive: it is too short");
  size_t end = file.size() - 22;
  const size_t lowest = end > 0xFFFF ? end - 0xFFFF : 0;  // a comment may follow
  while (Get<uint32_t>(file, end) != kEnd || Get<uint16_t>(file, end + 20) != file.size() - end - 22) {
    if (end == lowest) return Bad("is not a ZIP archive, or is cut off: it lacks the end record");
    --end;
  }
  uint64_t entries = Get<uint16_t>(file, end + 10);
  uint64_t size = Get<uint32_t>(file, end + 12);
  uint64_t start = Get<uint32_t>(file, end + 16);
  if (end >= 20 && Get<uint32_t>(file, end - 20) == kLocator64) {
    const uint64_t end64 = Get<uint64_t>(file, end - 12);
    if (!Fits(end64, 56, file.size()) || Get<uint32_t>(file, end64) != kEnd64) {
      return Bad(absl::StrCat("offset ", end - 20, ": the ZIP64 locator points nowhere"));
    }
    entries = Get<uint64_t>(file, end64 + 32);
    size = Get<uint64_t>(file, end64 + 40);
    start = Get<uint64_t>(file, end64 + 48);
  }
  if (!Fits(start, size, end)) return Bad(absl::StrCat("offset ", end, ": the directory lies outside the file"));
  if (entries > kMaxMembers) return Bad(absl::StrCat("has ", entries, " members; at most ", kMaxMembers, " are read"));
  std::vector<ZipMember> members;
  uint64_t at = start;
  for (uint64_t i = 0; i < entries; ++i) {
    const std::string where = absl::StrCat("offset ", at, ": directory entry ", i);
    if (!Fits(at, 46, start + size) || Get<uint32_t>(file, at) != kCentral)
      return Bad(absl::StrCat(where, " is damaged"));
    ZipMember m;
    m.flags = Get<uint16_t>(file, at + 8);
    m.method = Get<uint16_t>(file, at + 10);
    m.crc = Get<uint32_t>(file, at + 16);
    m.compressed = Get<uint32_t>(file, at + 20);
    m.size = Get<uint32_t>(file, at + 24);
    m.header = Get<uint32_t>(file, at + 42);
    const size_t name = Get<uint16_t>(file, at + 28), extra = Get<uint16_t>(file, at + 30);
    const size_t comment = Get<uint16_t>(file, at + 32);
    if (!Fits(at + 46, name + extra + comment, start + size)) return Bad(absl::StrCat(where, " is damaged"));
    m.name.assign(reinterpret_cast<const char*>(file.data()) + at + 46, name);
    if (absl::Status s = ReadExtra64(file.subspan(at + 46 + name, extra), &m); !s.ok()) {
      return Bad(absl::StrCat(where, " has ", s.message()));
    }
    members.push_back(std::move(m));
    at += 46 + name + extra + comment;
  }
  return members;
}

absl::StatusOr<AlignedBuffer> TakeZipMember(AlignedBuffer file, const ZipMember& m) {
  const absl::Span<const uint8_t> bytes = file.span();
  if (m.flags & 1) return Bad("is encrypted, which is not supported");
  if (m.method != 0 && m.method != 8) {
    return Bad(
        absl::StrCat("is compressed by method ", m.method, "; stored (0) and deflated (8) members are supported"));
  }
  if (!Fits(m.header, 30, bytes.size()) || Get<uint32_t>(bytes, m.header) != kLocal) {
    return Bad(absl::StrCat("offset ", m.header, ": there is no local header"));
  }
  const uint64_t data = m.header + 30 + Get<uint16_t>(bytes, m.header + 26) + Get<uint16_t>(bytes, m.header + 28);
  if (!Fits(data, m.compressed, bytes.size())) {
    return Bad(absl::StrCat("offset ", data, ": ", m.compressed, " bytes of data do not fit the file"));
  }
  if (m.method == 0 && m.size != m.compressed) return Bad("is stored, but with two different sizes");
  const absl::Span<const uint8_t> packed = bytes.subspan(data, m.compressed);
  absl::StatusOr<AlignedBuffer> out;
  if (m.method == 8) {
    out = Inflate(packed, m.size);
    if (!out.ok()) return out;
    if (Crc(0, out->span()) != m.crc) return Bad("its checksum is wrong: the file is damaged");
  } else {
    if (Crc(0, packed) != m.crc) return Bad("its checksum is wrong: the file is damaged");
    file.Narrow(data, m.size);
    out = std::move(file);
  }
  return out;
}

absl::Status ZipWriter::Write(const std::string& bytes) {
  offset_ += bytes.size();
  return out_->Write(bytes);
}

absl::Status ZipWriter::Add(absl::string_view name, uint64_t size, Producer produce) {
  ZipMember m;
  m.name = std::string(name);
  m.size = m.compressed = size;
  m.header = offset_;
  absl::Status s = produce([&](absl::Span<const uint8_t> bytes) {
    m.crc = Crc(m.crc, bytes);
    return absl::OkStatus();
  });
  if (!s.ok()) return s;
  const bool large = size >= kLimit32;
  std::string h;
  Put<uint32_t>(&h, kLocal);
  Put<uint16_t>(&h, large ? 45 : 20);
  Put<uint16_t>(&h, 0x800);  // UTF-8 names
  Put<uint16_t>(&h, 0);
  Put<uint32_t>(&h, 0x00210000);  // 1980-01-01 00:00
  Put<uint32_t>(&h, m.crc);
  Put<uint32_t>(&h, large ? kLimit32 : size);
  Put<uint32_t>(&h, large ? kLimit32 : size);
  Put<uint16_t>(&h, name.size());
  Put<uint16_t>(&h, large ? 20 : 0);
  h += m.name;
  if (large) {
    Put<uint16_t>(&h, 1);
    Put<uint16_t>(&h, 16);
    Put<uint64_t>(&h, size);
    Put<uint64_t>(&h, size);
  }
  if (s = Write(h); !s.ok()) return s;
  s = produce([&](absl::Span<const uint8_t> bytes) { return out_->Write(bytes); });
  offset_ += size;
  members_.push_back(std::move(m));
  return s;
}

absl::Status ZipWriter::Finish() {
  const uint64_t start = offset_;
  for (const ZipMember& m : members_) {
    std::string extra;
    if (m.size >= kLimit32) {
      Put<uint64_t>(&extra, m.size);
      Put<uint64_t>(&extra, m.size);
    }
    if (m.header >= kLimit32) Put<uint64_t>(&extra, m.header);
    const size_t values = extra.size();
    std::string h;
    Put<uint32_t>(&h, kCentral);
    Put<uint16_t>(&h, values > 0 ? 45 : 20);
    Put<uint16_t>(&h, values > 0 ? 45 : 20);
    Put<uint16_t>(&h, 0x800);
    Put<uint16_t>(&h, 0);
    Put<uint32_t>(&h, 0x00210000);
    Put<uint32_t>(&h, m.crc);
    Put<uint32_t>(&h, std::min(m.size, kLimit32));
    Put<uint32_t>(&h, std::min(m.size, kLimit32));
    Put<uint16_t>(&h, m.name.size());
    Put<uint16_t>(&h, values > 0 ? values + 4 : 0);
    h.append(10, '\0');  // comment, disk, attributes
    Put<uint32_t>(&h, std::min(m.header, kLimit32));
    h += m.name;
    if (values > 0) {
      Put<uint16_t>(&h, 1);
      Put<uint16_t>(&h, values);
      h += extra;
    }
    if (absl::Status s = Write(h); !s.ok()) return s;
  }
  const uint64_t size = offset_ - start, end64 = offset_, n = members_.size();
  std::string h;
  if (start >= kLimit32 || n >= 0xFFFF) {
    Put<uint32_t>(&h, kEnd64);
    Put<uint64_t>(&h, 44);
    Put<uint16_t>(&h, 45);
    Put<uint16_t>(&h, 45);
    Put<uint64_t>(&h, 0);  // disks
    Put<uint64_t>(&h, n);
    Put<uint64_t>(&h, n);
    Put<uint64_t>(&h, size);
    Put<uint64_t>(&h, start);
    Put<uint32_t>(&h, kLocator64);
    Put<uint32_t>(&h, 0);
    Put<uint64_t>(&h, end64);
    Put<uint32_t>(&h, 1);
  }
  Put<uint32_t>(&h, kEnd);
  Put<uint32_t>(&h, 0);
  Put<uint16_t>(&h, std::min<uint64_t>(n, 0xFFFF));
  Put<uint16_t>(&h, std::min<uint64_t>(n, 0xFFFF));
  Put<uint32_t>(&h, std::min(size, kLimit32));
  Put<uint32_t>(&h, std::min(start, kLimit32));
  Put<uint16_t>(&h, 0);
  return Write(h);
}

}  // namespace tile::tools
