#include "codegen/library/build_id.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/string_view.h"

namespace tile::codegen {
namespace {

constexpr size_t kMostBytes = 1 << 16;  // of headers and notes

// So many bytes at an offset, if the file has them.
bool Read(int fd, uint64_t at, size_t size, std::vector<char>* out) {
  if (size > kMostBytes) return false;
  out->resize(size);
  return pread(fd, out->data(), size, static_cast<off_t>(at)) == static_cast<ssize_t>(size);
}

// Notes follow each other: header, name, contents, each padded to four bytes.
std::string IdAmong(const std::vector<char>& notes) {
  const auto padded = [](uint64_t n) { return (n + 3) / 4 * 4; };
  uint64_t at = 0;
  ElfW(Nhdr) note;
  while (at + sizeof note <= notes.size()) {
    std::memcpy(&note, notes.data() + at, sizeof note);
    const uint64_t name = at + sizeof note, text = name + padded(note.n_namesz);
    if (text + note.n_descsz > notes.size()) break;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(notes.data() + name, "GNU", 4) == 0) {
      return absl::BytesToHexString(absl::string_view(notes.data() + text, note.n_descsz));
    }
    at = text + padded(note.n_descsz);
  }
  return "";
}

}  // namespace

std::string BuildIdOf(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return "";
  std::string id;
  std::vector<char> bytes;
  ElfW(Ehdr) header;
  if (Read(fd, 0, sizeof header, &bytes) && std::memcmp(bytes.data(), ELFMAG, SELFMAG) == 0) {
    std::memcpy(&header, bytes.data(), sizeof header);
    std::vector<char> parts;
    ElfW(Phdr) part;
    if (header.e_phentsize == sizeof part && Read(fd, header.e_phoff, header.e_phnum * sizeof part, &parts)) {
      for (size_t i = 0; i < header.e_phnum && id.empty(); ++i) {
        std::memcpy(&part, parts.data() + i * sizeof part, sizeof part);
        if (part.p_type == PT_NOTE && Read(fd, part.p_offset, part.p_filesz, &bytes)) id = IdAmong(bytes);
      }
    }
  }
  close(fd);
  return id;
}

}  // namespace tile::codegen
