#!/usr/bin/env bash
# Links a program and a library with install.sh's folder and runs them:  link_test.sh DIR, the folder that install.sh printed
# What each line of the program tries was wrong in a state of the folder, or is a function of compat.c or libc_nonshared.a.
# No part of ./test, because making the folder takes the network and minutes. ./release runs it. The environment's CC is the C compiler of another
# machine, and EMULATOR is the command that runs programs for it.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: link_test.sh DIR" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=third_party/glibc/options.sh
. "$here/options.sh"
cat >"$work/library.cc" <<'END'
#include <stdio.h>
#include <stdexcept>
#include <string>
thread_local int calls = 0; // __tls_get_addr, which the dynamic linker has
extern "C" int Throws(const char* text) {
  fputs("", stderr);
  try {
    if (++calls > 0) throw std::runtime_error(text);
  } catch (const std::exception& e) {
    return static_cast<int>(std::string(e.what()).size());
  }
  return -1;
}
END
cat >"$work/program.cc" <<'END'
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <math.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
extern char** environ;
extern "C" int Throws(const char* text);
int failed = 0;
#define TRY(x) \
  if (!(x)) std::printf("%d: %s\n", __LINE__, #x), failed = 1
struct Constructed { int value; Constructed() : value(7) {} } constructed;
int main(int, char** argv) {
  TRY(constructed.value == 7); // before glibc 2.34 start files call constructors
  TRY(environ != nullptr && *environ != nullptr); // one variable, three names
  TRY(std::getenv("TRIED") != nullptr);
  TRY(program_invocation_name != nullptr && *program_invocation_name);
  TRY(program_invocation_short_name != nullptr && *program_invocation_short_name);
  setenv("TZ", "XYZ-5", 1);
  tzset();
  TRY(timezone == -18000 && std::string(tzname[0]) == "XYZ");
  TRY(lgamma(-0.5) > 1 && signgam == -1);
  struct stat s;
  TRY(stat(argv[0], &s) == 0 && s.st_size > 0);
  TRY(lstat(argv[0], &s) == 0 && fstat(0, &s) == 0);
  TRY(mknod("/", S_IFREG, 0) != 0 && errno == EEXIST);
  TRY(std::filesystem::exists(argv[0]));
  TRY(mallinfo2().uordblks > 0);
  std::random_device random;
  TRY(random() != random() || random() != random());
  auto shared = std::make_shared<int>(1);
  std::mutex mutex;
  std::condition_variable changed;
  std::thread thread([&, shared] { std::lock_guard<std::mutex> lock(mutex); *shared = 2; changed.notify_all(); });
  {
    std::unique_lock<std::mutex> lock(mutex);
    TRY(changed.wait_for(lock, std::chrono::seconds(10), [&] { return *shared == 2; }));
    auto start = std::chrono::steady_clock::now();
    TRY(!changed.wait_for(lock, std::chrono::milliseconds(30), [] { return false; }));
    TRY(std::chrono::steady_clock::now() - start >= std::chrono::milliseconds(30));
  }
  thread.join();
  TRY(std::pow(2.0, 0.5) > 1.41 && std::exp(1.0) > 2.7 && std::log(10.0) > 2.3);
  TRY(dlopen("libc.so.6", RTLD_NOW) != nullptr);
  TRY(Throws("four") == 4);
  std::cout << (failed ? "failed" : "all right") << std::endl;
  return failed;
}
END
compiler=${CC:-gcc}
compiler=${compiler%gcc}g++
read -ra emulator <<<"${EMULATOR-}"
options=(-std=c++20 -O2 "-B$1" -fuse-ld=lld)
"$compiler" "${options[@]}" -fPIC -shared -Wl,-soname,library.so "$work/library.cc" -o "$work/library.so"
"$compiler" "${options[@]}" "$work/program.cc" "$work/library.so" -Wl,-rpath,"$work" -o "$work/program"
python3 "$here/../../tests/install/symbol_versions.py" --own-c++ --glibc="${portable_glibc:?}" "$work"
TRIED=yes "${emulator[@]}" "$work/program"
