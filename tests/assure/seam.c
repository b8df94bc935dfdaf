// SPDX-License-Identifier: Apache-2.0
// A library for LD_PRELOAD, by which `every_call` has calls of one program fail.
//
// Errors of system calls: it hands the listener of a seccomp filter to $EVERY_CALL_SOCKET, whose owner then answers
// each call of the numbers in $EVERY_CALL_NUMBERS ("all"), of all threads and children, whoever makes it: the C library
// or the program.
// Where a kernel's error would not do: calls that do less than they were asked to ("short"), a close that says an error
// and has closed ("close"), and memory that cannot be had ("memory"). $EVERY_CALL_COUNTS is a file with the counts of
// these, and which is to fail.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

enum { SOCKET_AT = 250, CALLS = 32, MOST_NUMBERS = 64 };

// As injection.py writes and reads it. call: its index in `enum call`, -1 none; at: which one fails, from 1; armed 0:
// none is counted or fails.
struct counts {
  int64_t armed, call, at, lasts, error, fired;
  int64_t count[CALLS];
};

static struct counts none;
static struct counts *counts = &none;
static int has_filter = 0;

enum call { READ, PREAD, READV, RECVFROM, RECVMSG, RECVMMSG, WRITE, PWRITE, WRITEV, SENDTO, SENDMSG, SENDMMSG,
            COPY_FILE_RANGE, SENDFILE, GETRANDOM, CLOSE, FCLOSE, CLOSEDIR, MEMORY };

// Counts the call; whether it is the one that fails.
static int take_fault(enum call call) {
  if (!counts->armed) return 0;
  const int64_t now = __atomic_add_fetch(&counts->count[call], 1, __ATOMIC_RELAXED);
  if (counts->call != call || now < counts->at || (now > counts->at && !counts->lasts)) return 0;
  __atomic_add_fetch(&counts->fired, 1, __ATOMIC_RELAXED);
  return 1;
}

static void hand_over(const char *name, const char *numbers) {
  struct sock_filter code[2 * MOST_NUMBERS + 12];
  int length = 0;
  const struct sock_filter handing_over[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sendmsg, 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SOCKET_AT, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  memcpy(code, handing_over, sizeof handing_over);
  length = sizeof handing_over / sizeof *handing_over;
  const int all = strcmp(numbers, "all") == 0;
  while (!all && *numbers && length < 2 * MOST_NUMBERS) {
    char *end;
    const unsigned number = (unsigned)strtoul(numbers, &end, 10);
    code[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1);
    code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
    numbers = *end ? end + 1 : end;
  }
  code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, all ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ALLOW);

  const int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strncpy(address.sun_path + 1, name, sizeof address.sun_path - 2);  // of the abstract ones
  const socklen_t address_length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
  if (connect(made, (struct sockaddr *)&address, address_length) != 0 || dup3(made, SOCKET_AT, O_CLOEXEC) < 0) abort();
  close(made);
  const struct sock_fprog program = {(unsigned short)length, code};
  const unsigned long killable = 1UL << 5;  // SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, of Linux 5.19
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  long listener = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER | killable, &program);
  if (listener < 0 && errno == EINVAL)
    listener = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
  if (listener >= 0) {  // else a child, which has its parent's
    union {
      struct cmsghdr header;
      char room[CMSG_SPACE(sizeof(int))];
    } control = {.header = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
    const int handed = (int)listener;
    memcpy(CMSG_DATA(&control.header), &handed, sizeof handed);
    struct iovec byte = {"l", 1};
    const struct msghdr message = {
        .msg_iov = &byte, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    if (sendmsg(SOCKET_AT, &message, 0) != 1) abort();
    syscall(SYS_close, handed);
  }
  syscall(SYS_close, SOCKET_AT);
}

__attribute__((constructor)) static void begin(void) {
  const char *program = getenv("EVERY_CALL_PROGRAM");
  char here[4096];
  const ssize_t length = readlink("/proc/self/exe", here, sizeof here - 1);
  if (!program || length < 0) return;
  here[length] = 0;
  if (strcmp(here, program) != 0) return;
  const char *path = getenv("EVERY_CALL_COUNTS");
  const int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
  if (file >= 0) {
    void *mapped = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped != MAP_FAILED) counts = mapped;
    syscall(SYS_close, file);
  }
  const char *name = getenv("EVERY_CALL_SOCKET");
  const char *numbers = getenv("EVERY_CALL_NUMBERS");
  if (name && numbers) {
    hand_over(name, numbers);
    has_filter = 1;
  }
}

#define NEXT(name) \
  static __typeof__(&name) next; \
  if (!next) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

// While a call waits for our answer a signal ends it with EINTR, even one that never returns that: SA_RESTART repeats
// it.
int sigaction(int number, const struct sigaction *new, struct sigaction *old) {
  NEXT(sigaction);
  if (!new || !has_filter) return next(number, new, old);
  struct sigaction restarting = *new;
  restarting.sa_flags |= SA_RESTART;
  return next(number, &restarting, old);
}

// Whether the kernel, too, does less at times: it does not with datagrams, nor with the eight bytes of an eventfd, nor
// with those of a signal's number, as Asio has it in a pipe.
static int may_be_short(int file, size_t bytes) {
  struct stat status;
  if (syscall(SYS_fstat, file, &status) != 0) return 0;
  if (S_ISFIFO(status.st_mode)) return bytes > sizeof(int);
  if (!S_ISSOCK(status.st_mode)) return S_ISREG(status.st_mode) || S_ISCHR(status.st_mode);
  int type = 0;
  socklen_t length = sizeof type;
  return getsockopt(file, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_STREAM;
}

// A third of it.
static size_t shorter(enum call call, int file, size_t length) {
  return length > 1 && may_be_short(file, length) && take_fault(call) ? (length + 2) / 3 : length;
}

#define SHORT_CALL(call, name, before, after) \
  ssize_t name before { \
    NEXT(name); \
    length = shorter(call, file, length); \
    return next after; \
  }
SHORT_CALL(READ, read, (int file, void *bytes, size_t length), (file, bytes, length))
SHORT_CALL(PREAD, pread, (int file, void *bytes, size_t length, off_t at), (file, bytes, length, at))
SHORT_CALL(PREAD, pread64, (int file, void *bytes, size_t length, off64_t at), (file, bytes, length, at))
SHORT_CALL(RECVFROM, recv, (int file, void *bytes, size_t length, int flags), (file, bytes, length, flags))
SHORT_CALL(WRITE, write, (int file, const void *bytes, size_t length), (file, bytes, length))
SHORT_CALL(PWRITE, pwrite, (int file, const void *bytes, size_t length, off_t at), (file, bytes, length, at))
SHORT_CALL(PWRITE, pwrite64, (int file, const void *bytes, size_t length, off64_t at), (file, bytes, length, at))
SHORT_CALL(SENDTO, send, (int file, const void *bytes, size_t length, int flags), (file, bytes, length, flags))
SHORT_CALL(RECVFROM, recvfrom, (int file, void *bytes, size_t length, int flags, struct sockaddr *of, socklen_t *size),
           (file, bytes, length, flags, of, size))
SHORT_CALL(SENDTO, sendto,
           (int file, const void *bytes, size_t length, int flags, const struct sockaddr *to, socklen_t size),
           (file, bytes, length, flags, to, size))

ssize_t __read_chk(int file, void *bytes, size_t length, size_t room) {
  (void)room;
  return read(file, bytes, length);
}
ssize_t __pread_chk(int file, void *bytes, size_t length, off_t at, size_t room) {
  (void)room;
  return pread(file, bytes, length, at);
}
ssize_t __pread64_chk(int file, void *bytes, size_t length, off64_t at, size_t room) {
  (void)room;
  return pread64(file, bytes, length, at);
}
ssize_t __recv_chk(int file, void *bytes, size_t length, size_t room, int flags) {
  (void)room;
  return recv(file, bytes, length, flags);
}

ssize_t readv(int file, const struct iovec *parts, int count) {
  NEXT(readv);
  struct iovec first = {parts ? parts->iov_base : NULL, count > 0 ? shorter(READV, file, parts->iov_len) : 0};
  return count > 0 && first.iov_len < parts->iov_len ? next(file, &first, 1) : next(file, parts, count);
}
ssize_t writev(int file, const struct iovec *parts, int count) {
  NEXT(writev);
  struct iovec first = {parts ? parts->iov_base : NULL, count > 0 ? shorter(WRITEV, file, parts->iov_len) : 0};
  return count > 0 && first.iov_len < parts->iov_len ? next(file, &first, 1) : next(file, parts, count);
}
// The parts of a message are the caller's: the first is made shorter, alone, while the call lasts.
static void shorten_first(enum call call, int file, struct msghdr *message, struct iovec *first) {
  if (!message->msg_iovlen) return;
  *first = message->msg_iov[0];
  first->iov_len = shorter(call, file, first->iov_len);
  if (first->iov_len == message->msg_iov[0].iov_len) return;
  message->msg_iov = first;
  message->msg_iovlen = 1;
}
ssize_t recvmsg(int file, struct msghdr *message, int flags) {
  NEXT(recvmsg);
  struct iovec first, *const parts = message->msg_iov;
  const __typeof__(message->msg_iovlen) count = message->msg_iovlen;
  shorten_first(RECVMSG, file, message, &first);
  const ssize_t taken = next(file, message, flags);
  message->msg_iov = parts;
  message->msg_iovlen = count;
  return taken;
}
ssize_t sendmsg(int file, const struct msghdr *message, int flags) {
  NEXT(sendmsg);
  struct iovec first;
  struct msghdr copy = *message;
  shorten_first(SENDMSG, file, &copy, &first);
  return next(file, &copy, flags);
}
int recvmmsg(int file, struct mmsghdr *messages, unsigned count, int flags, struct timespec *within) {
  NEXT(recvmmsg);
  return next(file, messages, count > 1 && take_fault(RECVMMSG) ? 1 : count, flags, within);
}
int sendmmsg(int file, struct mmsghdr *messages, unsigned count, int flags) {
  NEXT(sendmmsg);
  return next(file, messages, count > 1 && take_fault(SENDMMSG) ? 1 : count, flags);
}
ssize_t copy_file_range(int from, off64_t *at, int to, off64_t *there, size_t length, unsigned flags) {
  NEXT(copy_file_range);
  return next(from, at, to, there, shorter(COPY_FILE_RANGE, from, length), flags);
}
ssize_t sendfile(int to, int from, off_t *at, size_t length) {
  NEXT(sendfile);
  return next(to, from, at, shorter(SENDFILE, from, length));
}
ssize_t getrandom(void *bytes, size_t length, unsigned flags) {
  NEXT(getrandom);
  return next(bytes, length > 256 && take_fault(GETRANDOM) ? 256 : length, flags);  // shorter ones come whole
}

// Linux has closed it whatever it says.
static int closed(enum call call, int done, int failure) {
  if (!take_fault(call)) return done;
  errno = (int)counts->error;
  return failure;
}
int close(int file) {
  NEXT(close);
  return closed(CLOSE, next(file), -1);
}
int fclose(FILE *file) {
  NEXT(fclose);
  return closed(FCLOSE, next(file), EOF);
}
int closedir(DIR *directory) {
  NEXT(closedir);
  return closed(CLOSEDIR, next(directory), -1);
}

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

static int refuse_memory(void) {
  if (!take_fault(MEMORY)) return 0;
  errno = ENOMEM;
  return 1;
}
void *malloc(size_t length) { return refuse_memory() ? NULL : __libc_malloc(length); }
void *calloc(size_t count, size_t length) { return refuse_memory() ? NULL : __libc_calloc(count, length); }
void *realloc(void *old, size_t length) { return refuse_memory() ? NULL : __libc_realloc(old, length); }
void *memalign(size_t edge, size_t length) { return refuse_memory() ? NULL : __libc_memalign(edge, length); }
void *aligned_alloc(size_t edge, size_t length) { return memalign(edge, length); }
int posix_memalign(void **made, size_t edge, size_t length) {
  void *const memory = memalign(edge, length);
  if (!memory) return ENOMEM;
  *made = memory;
  return 0;
}
