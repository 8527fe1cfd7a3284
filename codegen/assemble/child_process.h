// Programs of a CUDA toolkit, run as children with files to talk through.
//
//   TemporaryFolder folder;                       // below $TMPDIR or /tmp; gone with the object
//   const std::string in = folder.File("a"), out = folder.File("b"), log = folder.File("c");
//   WriteAll(in, bytes);
//   int status;                                   // of waitpid
//   if (Run({FindCudaProgram("ptxas", "TILEC_PTXAS"), in}, out, log, &status)) ReadAll(out)
//
// A child has a process group of its own, so that it can be ended with all that it has started. Thread-safe as long as
// nobody changes the environment.
#ifndef TILE_CODEGEN_ASSEMBLE_CHILD_PROCESS_H_
#define TILE_CODEGEN_ASSEMBLE_CHILD_PROCESS_H_

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

namespace tile::codegen {

// What the variable names, else what CUDA's folders or PATH have; "" if nothing that can be executed.
std::string FindCudaProgram(const std::string& name, const char* variable);

class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  bool ok() const { return !path_.empty(); }
  // The path of a file in it, which need not exist.
  std::string File(const std::string& name);

 private:
  std::string path_;
};

std::string ReadAll(const std::string& path);
void WriteAll(const std::string& path, const std::string& bytes);

// words[0] run with the others; its standard output and error go to files, which may be one. It gets variables of `environment`
// (NAME=value) that this process has not set itself.
class Child {
 public:
  Child(std::vector<std::string> words, const std::string& out, const std::string& err,
        const std::vector<std::string>& environment = {});
  ~Child();  // ends it, if nobody has waited for it
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  bool started() const { return pid_ > 0; }
  bool Runs() const;
  // False if it could not be started.
  bool Wait(int* status);

 private:
  pid_t pid_ = 0;
};

// Starts it and waits.
bool Run(std::vector<std::string> words, const std::string& out, const std::string& err, int* status);

// A file for a child that is started before anybody knows what will be in it: the child waits where it opens the file.
bool MakeLateFile(const std::string& path);
// What is in it; returns when the child has read it or has ended. If it opens the file once more, that is an ordinary one.
void FillLateFile(const std::string& path, const std::string& bytes, const Child& child);

// For programs, at the start of main, when there is one thread: a signal that ends this process ends its children and
// removes its temporary folders first. Signals that are ignored stay ignored. A library leaves signals to its host.
//
// SIGALRM calls `on_alarm`, if there is one, instead of ending the process by that signal; it must not return.
void CleanUpOnSignals(std::function<void()> on_alarm = nullptr);

// Does so now, when this process is about to end or to become another. Whatever thread asks for a folder or a child, or
// has waited for one, is held up from here on. May be called by a handler of a crash; then it may be too late for it.
void CleanUpNow();

}  // namespace tile::codegen

#endif  // TILE_CODEGEN_ASSEMBLE_CHILD_PROCESS_H_
