#include "codegen/assemble/child_process.h"

#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace tile::codegen {
namespace {

std::set<std::string> Names(const std::string& folder) {
  std::set<std::string> names;
  DIR* dir = opendir(folder.c_str());
  while (const dirent* e = dir == nullptr ? nullptr : readdir(dir)) {
    if (e->d_name[0] != '.') names.insert(e->d_name);
  }
  if (dir != nullptr) closedir(dir);
  return names;
}

template <class Condition>
bool Soon(Condition&& condition) {
  for (int i = 0; i < 1000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

class ChildProcessTest : public ::testing::Test {
 protected:
  ChildProcessTest() {
    const char* base = std::getenv("TEST_TMPDIR");
    folder_ = absl::StrCat(base != nullptr ? base : "/tmp", "/child-XXXXXX");
    EXPECT_NE(mkdtemp(folder_.data()), nullptr);
    setenv("TMPDIR", folder_.c_str(), 1);
  }
  ~ChildProcessTest() override { rmdir(folder_.c_str()); }
  std::string folder_;
};

TEST_F(ChildProcessTest, RunsAndRemoves) {
  {
    TemporaryFolder folder;
    ASSERT_TRUE(folder.ok());
    EXPECT_EQ(Names(folder_).size(), 1u);
    const std::string out = folder.File("out"), err = folder.File("err");
    int status = 0;
    ASSERT_TRUE(codegen::Run({"/bin/sh", "-c", "cat; echo said; echo wrong >&2; exit 3"}, out, err, &status));
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 3) << status;
    EXPECT_EQ(ReadAll(out), "said\n");
    EXPECT_EQ(ReadAll(err), "wrong\n");
    EXPECT_FALSE(codegen::Run({"/nonexistent"}, out, err, &status));
  }
  EXPECT_EQ(Names(folder_).size(), 0u);
}

TEST_F(ChildProcessTest, VariablesThatAreNotSet) {
  TemporaryFolder folder;
  setenv("CHILD_SET", "ours", 1);
  unsetenv("CHILD_NOT_SET");
  const std::string out = folder.File("out");
  Child child({"/bin/sh", "-c", "echo $CHILD_SET $CHILD_NOT_SET"}, out, out, {"CHILD_SET=a", "CHILD_NOT_SET=b"});
  int status = 0;
  ASSERT_TRUE(child.Wait(&status));
  EXPECT_EQ(ReadAll(out), "ours b\n");
}

TEST_F(ChildProcessTest, WhoeverIsNotWaitedForEnds) {
  TemporaryFolder folder;
  const std::string note = folder.File("note"), out = folder.File("out");
  {
    Child child({"/bin/sh", "-c", "sleep 1; echo here > \"$0\"", note}, out, out);
    EXPECT_TRUE(child.Runs());
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  EXPECT_NE(access(note.c_str(), R_OK), 0);
}

// More than a pipe holds. The second time it is a file, which has a size.
TEST_F(ChildProcessTest, LateFiles) {
  TemporaryFolder folder;
  const std::string in = folder.File("in"), out = folder.File("out");
  folder.File("in.all");
  ASSERT_TRUE(MakeLateFile(in));
  Child child({"/bin/sh", "-c", "cat \"$0\"; [ -f \"$0\" ] && cat \"$0\"", in}, out, out);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_TRUE(child.Runs());
  const std::string bytes(300000, 'x');
  FillLateFile(in, bytes, child);
  int status = 0;
  ASSERT_TRUE(child.Wait(&status));
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(ReadAll(out), bytes + bytes);
}

// Neither a child that does not open the file nor one that closes it early holds up this process, or ends it by SIGPIPE.
TEST_F(ChildProcessTest, LateFilesThatNobodyReads) {
  for (const char* script : {"exit 3", "exec 3< \"$0\"; exit 3"}) {
    TemporaryFolder folder;
    const std::string in = folder.File("in"), out = folder.File("out");
    folder.File("in.all");
    ASSERT_TRUE(MakeLateFile(in));
    Child child({"/bin/sh", "-c", script, in}, out, out);
    FillLateFile(in, std::string(300000, 'x'), child);
    int status = 0;
    ASSERT_TRUE(child.Wait(&status));
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 3) << status;
  }
}

// A child of this test is a program that a signal ends while its own child, and the child of that, run.
TEST_F(ChildProcessTest, SignalsEndChildrenAndRemoveFolders) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    const std::string note = folder_ + "/note";
    const pid_t program = fork();
    if (program == 0) {
      signal(SIGCHLD, SIG_IGN);  // as some programs leave it to theirs
      CleanUpOnSignals();
      TemporaryFolder a, b;
      WriteAll(a.File("1"), "1");
      WriteAll(b.File("2"), "2");
      int status = 0;
      codegen::Run({"/bin/sh", "-c", "sleep 100 & echo $! > \"$0.new\"; mv \"$0.new\" \"$0\"; wait", note}, b.File("3"),
                   b.File("4"), &status);
      _exit(7);  // nobody may go on after the child was ended
    }
    ASSERT_TRUE(Soon([&] { return access(note.c_str(), R_OK) == 0; }));
    EXPECT_EQ(Names(folder_).size(), 3u);
    int sleeper = 0;
    ASSERT_TRUE(absl::SimpleAtoi(ReadAll(note), &sleeper));
    ASSERT_EQ(kill(program, number), 0);
    int status = 0;
    ASSERT_EQ(waitpid(program, &status, 0), program);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == number) << status;
    EXPECT_EQ(Names(folder_), std::set<std::string>({"note"}));
    // Ended: gone, or waiting for whoever collects children.
    EXPECT_TRUE(Soon([&] {
      const std::string stat = ReadAll(absl::StrCat("/proc/", sleeper, "/stat"));
      return stat.empty() || stat[stat.rfind(')') + 2] == 'Z';
    }));
    unlink(note.c_str());
  }
}

TEST_F(ChildProcessTest, IgnoredSignalsStayIgnored) {
  const pid_t program = fork();
  if (program == 0) {
    signal(SIGHUP, SIG_IGN);
    CleanUpOnSignals();
    kill(getpid(), SIGHUP);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(program, &status, 0), program);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST_F(ChildProcessTest, Alarm) {
  const pid_t program = fork();
  if (program == 0) {
    CleanUpOnSignals([] { _exit(5); });
    TemporaryFolder folder;
    alarm(1);
    int status = 0;
    codegen::Run({"/bin/sleep", "100"}, folder.File("1"), folder.File("2"), &status);
    _exit(7);
  }
  int status = 0;
  ASSERT_EQ(waitpid(program, &status, 0), program);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 5) << status;
  EXPECT_EQ(Names(folder_).size(), 0u);
}

}  // namespace
}  // namespace tile::codegen
