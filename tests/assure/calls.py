# SPDX-License-Identifier: Apache-2.0
"""Which errors a call can end with: from the manual, sections 2 (Linux man-pages 6.03) and, for sockets, 7."""
import fcntl

# Several calls of a line have one manual page, or one says of the other that its errors are the same.
MANUAL = '''
open openat creat: EACCES EBUSY EDQUOT EEXIST EFBIG EINTR EISDIR ELOOP EMFILE ENAMETOOLONG ENFILE ENODEV ENOENT ENOMEM ENOSPC ENOTDIR ENXIO EOPNOTSUPP EOVERFLOW EPERM EROFS ETXTBSY EWOULDBLOCK EINVAL EBADF EFAULT
openat2: EACCES EAGAIN EMFILE ENFILE ENOENT ENOMEM ENOSPC ENOSYS E2BIG ELOOP EXDEV EPERM EINVAL EBADF
read pread64 readv preadv preadv2: EIO EINTR EAGAIN EISDIR EINVAL EBADF EFAULT ENXIO EOVERFLOW ESPIPE ECONNRESET
write pwrite64 writev pwritev pwritev2: ENOSPC EIO EDQUOT EFBIG EINTR EAGAIN EPIPE EPERM EDESTADDRREQ ENXIO EOVERFLOW ESPIPE EINVAL EBADF EFAULT ECONNRESET
lseek: EINVAL ENXIO EOVERFLOW ESPIPE EBADF
fstat stat lstat newfstatat statx: EACCES ELOOP ENAMETOOLONG ENOENT ENOMEM ENOTDIR EOVERFLOW EINVAL EBADF EFAULT
mkdir mkdirat: EACCES EDQUOT EEXIST ELOOP EMLINK ENAMETOOLONG ENOENT ENOMEM ENOSPC ENOTDIR EPERM EROFS EINVAL EBADF EFAULT
rmdir unlink unlinkat: EACCES EBUSY EIO EISDIR ELOOP ENAMETOOLONG ENOENT ENOMEM ENOTDIR ENOTEMPTY EPERM EROFS EINVAL EBADF EFAULT
rename renameat renameat2: EACCES EBUSY EDQUOT EISDIR ELOOP EMLINK ENAMETOOLONG ENOENT ENOMEM ENOSPC ENOTDIR ENOTEMPTY EEXIST EPERM EROFS EXDEV EINVAL EBADF EFAULT
link linkat: EACCES EDQUOT EEXIST EIO ELOOP EMLINK ENAMETOOLONG ENOENT ENOMEM ENOSPC ENOTDIR EPERM EROFS EXDEV EINVAL EBADF EFAULT
symlink symlinkat: EACCES EDQUOT EEXIST EIO ELOOP ENAMETOOLONG ENOENT ENOMEM ENOSPC ENOTDIR EPERM EROFS EBADF EFAULT
readlink readlinkat: EACCES EINVAL EIO ELOOP ENAMETOOLONG ENOENT ENOMEM ENOTDIR EBADF EFAULT
mknod mknodat: EACCES EDQUOT EEXIST ELOOP ENAMETOOLONG ENOENT ENOMEM ENOSPC ENOTDIR EPERM EROFS EINVAL EBADF EFAULT
fsync fdatasync sync_file_range: EIO ENOSPC EDQUOT EINTR EROFS EINVAL EBADF
syncfs: EIO ENOSPC EDQUOT EBADF
truncate ftruncate: EACCES EFBIG EINTR EIO EPERM EROFS ETXTBSY EINVAL EBADF
fallocate: ENOSPC EFBIG EINTR EIO ENODEV ENOSYS EOPNOTSUPP EPERM ESPIPE ETXTBSY EINVAL EBADF
fadvise64: ESPIPE EINVAL EBADF
copy_file_range: EIO ENOSPC EXDEV EOPNOTSUPP EFBIG EISDIR ENOMEM EOVERFLOW EPERM ETXTBSY EINVAL EBADF
sendfile: EAGAIN EIO ENOMEM EOVERFLOW ESPIPE EINVAL EBADF
splice tee: EAGAIN ENOMEM ESPIPE EINVAL EBADF
flock: EINTR ENOLCK EWOULDBLOCK EINVAL EBADF
fcntl: EACCES EAGAIN EBUSY EDEADLK EINTR EMFILE ENOLCK ENOTDIR EPERM EINVAL EBADF EFAULT
utimensat: EACCES ELOOP ENAMETOOLONG ENOENT ENOTDIR EPERM EROFS ESRCH EINVAL EBADF EFAULT
chmod fchmod fchmodat: EACCES EIO ELOOP ENAMETOOLONG ENOENT ENOMEM ENOTDIR EOPNOTSUPP EPERM EROFS EINVAL EBADF EFAULT
chown fchown lchown fchownat: EACCES EIO ELOOP ENAMETOOLONG ENOENT ENOMEM ENOTDIR EPERM EROFS EINVAL EBADF EFAULT
getxattr lgetxattr fgetxattr: E2BIG ENODATA EOPNOTSUPP ERANGE ENOENT EACCES EBADF
listxattr llistxattr flistxattr: E2BIG EOPNOTSUPP ERANGE ENOENT EACCES EBADF
setxattr lsetxattr fsetxattr: EDQUOT ENOSPC EEXIST ENODATA EOPNOTSUPP EPERM ERANGE ENOENT EACCES EBADF
removexattr lremovexattr fremovexattr: ENODATA EOPNOTSUPP ENOENT EACCES EPERM EBADF
getdents64: ENOENT ENOTDIR EINVAL EBADF EFAULT
access faccessat faccessat2: EACCES EIO ELOOP ENAMETOOLONG ENOENT ENOMEM ENOTDIR EPERM EROFS ETXTBSY EINVAL EBADF EFAULT
statfs fstatfs: EACCES EINTR EIO ELOOP ENAMETOOLONG ENOENT ENOMEM ENOSYS ENOTDIR EOVERFLOW EBADF EFAULT
chdir fchdir: EACCES EIO ELOOP ENAMETOOLONG ENOENT ENOMEM ENOTDIR EBADF EFAULT
getcwd: EACCES ENOENT ENOMEM ERANGE EINVAL EFAULT
name_to_handle_at: EOPNOTSUPP EOVERFLOW ELOOP EPERM ESTALE ENOENT ENOTDIR EINVAL EBADF EFAULT
ioctl: ENOTTY EINVAL EBADF EFAULT
dup dup2 dup3: EMFILE EBUSY EINTR EINVAL EBADF
pipe pipe2: EMFILE ENFILE EINVAL EFAULT
memfd_create: EMFILE ENFILE ENOMEM EINVAL EFAULT
socket: EACCES EAFNOSUPPORT EMFILE ENFILE ENOBUFS ENOMEM EPROTONOSUPPORT EINVAL
socketpair: EAFNOSUPPORT EMFILE ENFILE EOPNOTSUPP EPROTONOSUPPORT EFAULT
bind: EACCES EADDRINUSE EADDRNOTAVAIL ELOOP ENAMETOOLONG ENOENT ENOMEM ENOTDIR EROFS EINVAL EBADF ENOTSOCK EFAULT
listen: EADDRINUSE EOPNOTSUPP EBADF ENOTSOCK
accept accept4: EAGAIN ECONNABORTED EINTR EMFILE ENFILE ENOBUFS ENOMEM EPERM EPROTO ENETDOWN EHOSTUNREACH ENETUNREACH EOPNOTSUPP EINVAL EBADF ENOTSOCK EFAULT
connect: EACCES EPERM EADDRINUSE EADDRNOTAVAIL EAFNOSUPPORT EAGAIN EALREADY ECONNREFUSED EINPROGRESS EINTR EISCONN ENETUNREACH EHOSTUNREACH EPROTOTYPE ETIMEDOUT EBADF ENOTSOCK EFAULT
sendto sendmsg sendmmsg: EACCES EAGAIN EALREADY ECONNRESET ECONNREFUSED EDESTADDRREQ EINTR EISCONN EMSGSIZE ENOBUFS ENOMEM ENOTCONN EOPNOTSUPP EPIPE EPERM ENETDOWN ENETUNREACH EHOSTUNREACH EIO EINVAL EBADF ENOTSOCK EFAULT
recvfrom recvmsg recvmmsg: EAGAIN ECONNREFUSED ECONNRESET EINTR ENOMEM ENOTCONN EHOSTUNREACH ENETDOWN EINVAL EBADF ENOTSOCK EFAULT
getsockname getpeername: ENOBUFS ENOTCONN EINVAL EBADF ENOTSOCK EFAULT
setsockopt getsockopt: ENOPROTOOPT ENOBUFS ENOMEM EPERM EINVAL EBADF ENOTSOCK EFAULT
shutdown: ENOTCONN EINVAL EBADF ENOTSOCK
poll ppoll: EINTR EINVAL EFAULT
select pselect6: EINTR ENOMEM EINVAL EBADF
epoll_create epoll_create1: EMFILE ENFILE ENOMEM EINVAL
epoll_ctl: ENOMEM ENOSPC EEXIST ELOOP ENOENT EPERM EINVAL EBADF
epoll_wait epoll_pwait epoll_pwait2: EINTR EINVAL EBADF EFAULT
eventfd2: EMFILE ENFILE ENODEV ENOMEM EINVAL
timerfd_create: EMFILE ENFILE ENODEV ENOMEM EPERM EINVAL
timerfd_settime timerfd_gettime: ECANCELED EINVAL EBADF EFAULT
signalfd4: EMFILE ENFILE ENODEV ENOMEM EINVAL EBADF
inotify_init1: EMFILE ENFILE ENOMEM EINVAL
inotify_add_watch inotify_rm_watch: EACCES EEXIST ENAMETOOLONG ENOENT ENOMEM ENOSPC ENOTDIR EINVAL EBADF EFAULT
fork vfork clone clone3: EAGAIN ENOMEM ENOSYS EPERM ENOSPC EUSERS EINVAL
execve execveat: E2BIG EACCES EAGAIN EIO EISDIR ELIBBAD ELOOP EMFILE ENAMETOOLONG ENFILE ENOENT ENOEXEC ENOMEM ENOTDIR EPERM ETXTBSY EINVAL EFAULT
wait4: ECHILD EINTR EINVAL
waitid: ECHILD EINTR EAGAIN ESRCH EINVAL
kill: EPERM ESRCH EINVAL
tgkill tkill: EPERM ESRCH EAGAIN EINVAL
pidfd_open pidfd_send_signal: EMFILE ENFILE ENODEV ENOMEM ESRCH EPERM EINVAL EBADF
prctl: EACCES EBUSY ENODEV ENXIO EOPNOTSUPP EPERM ERANGE EINVAL EBADF EFAULT
mmap: ENOMEM EACCES EAGAIN ENFILE ENODEV EOVERFLOW EPERM ETXTBSY EINVAL EBADF EEXIST
mprotect: ENOMEM EACCES EINVAL
mremap: ENOMEM EAGAIN EINVAL EFAULT
madvise: ENOMEM EAGAIN EACCES EBUSY EIO EPERM EINVAL EBADF
mlock mlock2 mlockall munlock: ENOMEM EAGAIN EPERM EINVAL
getrandom: EAGAIN EINTR ENOSYS EINVAL EFAULT
getrlimit setrlimit prlimit64: EPERM ESRCH EINVAL EFAULT
sched_setaffinity sched_getaffinity sched_setscheduler sched_getparam sched_getscheduler: EPERM ESRCH EINVAL EFAULT
getpriority setpriority: EACCES EPERM ESRCH EINVAL
rt_sigaction rt_sigprocmask sigaltstack: EINVAL EFAULT
setsid setpgid getpgid: EPERM EACCES ESRCH EINVAL
setuid setgid setgroups setresuid setresgid: EAGAIN ENOMEM EPERM EINVAL
unshare: ENOMEM ENOSPC EPERM EUSERS EINVAL
close_range: EMFILE ENOMEM EINVAL
uname sysinfo getrusage: EFAULT EINVAL
nanosleep clock_nanosleep: EINTR EINVAL EFAULT
clock_gettime clock_getres clock_settime: EINVAL EFAULT EPERM
'''

# The manual lists none, or the C library does not ask what they say, or ends the program at what it does not expect
# (futex); brk says in another way that it cannot, and `memory` stands for it.
UNFAILING = set('exit exit_group rt_sigreturn restart_syscall set_robust_list set_tid_address rseq arch_prctl getpid'
                ' gettid getppid getuid geteuid getgid getegid sched_yield umask munmap brk close alarm membarrier'
                ' getpgrp time getgroups futex rt_sigtimedwait setitimer'.split())

# Only a wrong program sees these: the kernel does not give them to one that asks rightly. It may end by an invariant.
PROGRAMMING_ERRORS = {'EFAULT', 'EBADF', 'EINVAL', 'ENOTSOCK'}
PROGRAMMING_ERRORS_OF_CALLS = {('epoll_ctl', 'EEXIST'), ('epoll_ctl', 'ELOOP'), ('epoll_ctl', 'ENOENT'),
                               ('timerfd_settime', 'ECANCELED')}

# The C library asserts that they do not come.
ASSERTED = {('getcwd', 'ERANGE')}

# The program has to believe these, so a false one proves nothing.
BELIEVED = {('kill', 'ESRCH'), ('wait4', 'ECHILD'), ('listxattr', 'EOPNOTSUPP'), ('llistxattr', 'EOPNOTSUPP'),
            ('flistxattr', 'EOPNOTSUPP'), ('getxattr', 'ENODATA'), ('lgetxattr', 'ENODATA'), ('fgetxattr', 'ENODATA'),
            ('accept', 'EAGAIN'), ('accept4', 'EAGAIN')}

# A signal interrupts a call, but not the same one again for ever.
NOT_LASTING = {'EINTR'}

# A program that cannot unlink leaves files behind; so does one that has no thread for signals, and says that a signal
# will end it at once.
EXCUSE_LEFT_FILES = {'unlink', 'unlinkat', 'rmdir', 'clone', 'clone3'}

ACCEPTING = {'accept', 'accept4'}

# The C library allocates by these; without memory the program may crash, but not exit with 0.
OF_MEMORY = {'mmap', 'mprotect', 'mremap', 'madvise', 'memory'}

# Calls on a descriptor. A lasting fault goes on only for descriptors of the first one's kind: a failing disk breaks no
# pipe.
OF_DESCRIPTORS = set('read pread64 readv write pwrite64 writev lseek fstat ftruncate fsync fdatasync fcntl'
                     ' ioctl'.split())

OF_SOCKETS = set('sendto sendmsg recvfrom recvmsg'.split())

# Calls that seam.c counts and has fail, in its order.
SEAM = ('read pread64 readv recvfrom recvmsg recvmmsg write pwrite64 writev sendto sendmsg sendmmsg copy_file_range'
        ' sendfile getrandom close fclose closedir memory').split()
CLOSING = ('close', 'fclose', 'closedir')
ERRORS_OF_CLOSING = ('EIO', 'EINTR', 'ENOSPC', 'EDQUOT')

ERRORS = {}
for line in MANUAL.strip().splitlines():
    names, errors = line.split(':')
    ERRORS.update({name: tuple(errors.split()) for name in names.split()})

FIRST_IS_PATH = ('open creat stat lstat mkdir rmdir unlink rename link symlink readlink mknod truncate chmod chown'
                 ' lchown getxattr lgetxattr listxattr llistxattr setxattr lsetxattr access statfs chdir execve').split()
SECOND_IS_PATH = ('openat openat2 newfstatat statx mkdirat unlinkat renameat renameat2 linkat readlinkat mknodat'
                  ' utimensat fchmodat fchownat faccessat faccessat2 name_to_handle_at inotify_add_watch'
                  ' execveat').split()
PATH_AT = dict.fromkeys(FIRST_IS_PATH, 0) | dict.fromkeys(SECOND_IS_PATH, 1)


def errors_of(call):
    """What a call that was seen can be made to end with: errors, and SHORT for less than was asked for."""
    if call in CLOSING:
        return ERRORS_OF_CLOSING
    if call == 'memory':
        return ('ENOMEM',)
    if call not in ERRORS and call not in UNFAILING:
        raise KeyError(f'calls.py lacks the errors of {call}')
    errors = tuple(error for error in ERRORS.get(call, ()) if (call, error) not in BELIEVED | ASSERTED)
    return errors + (('SHORT',) if call in SEAM else ())


# Errors that no kernel gives where an open descriptor is given with an empty path.
OF_PATHS = {'EACCES', 'ELOOP', 'ENAMETOOLONG', 'ENOENT', 'ENOTDIR'}

# Errors that a kernel gives for some operations of a call only, by its second argument.
ADD, DUPLICATE = {1}, {fcntl.F_DUPFD, fcntl.F_DUPFD_CLOEXEC}  # EPOLL_CTL_ADD
OF_OPERATIONS = {('epoll_ctl', 'ENOMEM'): ADD, ('epoll_ctl', 'ENOSPC'): ADD, ('epoll_ctl', 'EPERM'): ADD,
                 ('fcntl', 'EMFILE'): DUPLICATE}

# OF_PIPES: all that a pipe can give. NOT_OF_FILES: what a file never gives.
OF_PIPES = {'EPIPE', 'EAGAIN', 'EMFILE', 'EINTR'}
NOT_OF_FILES = {'EPIPE', 'EAGAIN', 'ECONNRESET'}
OF_STREAMS = set('read readv write writev fcntl'.split())


def can_fail_there(call, error, kind, operation):
    """Whether a kernel gives this error there: not on eventfds, own pipes and netlink, where the C library aborts.

    operation: the call's second argument, by which some errors cannot come.
    """
    if operation not in OF_OPERATIONS.get((call, error), {operation}):
        return False
    is_wrong_kind = (kind == 'pipe' and error not in OF_PIPES) or (kind == 'file' and error in NOT_OF_FILES)
    if call in OF_STREAMS and is_wrong_kind:
        return False
    if call in OF_DESCRIPTORS and kind in ('anon_inode:[eventfd]', 'own pipe'):
        return False
    return kind != 'netlink' and (kind != 'socket' or (call, error) != ('ioctl', 'ENOTTY'))


# The ends that read a tree.
READERS = {('trees', 'send'), ('trees-server', 'send'), ('trees-pull', 'serve'), ('put-tree', 'put'),
           ('get-tree', 'serve')}


def may_skip_name(cell):
    """Whether a name of the source is said to have gone meanwhile: it is no longer owed."""
    looks = cell.error == 'ENOENT' and cell.call in ('stat', 'lstat', 'newfstatat', 'statx')
    return looks and (cell.product, cell.side) in READERS


def can_last(call, error):
    """Whether the call can go on failing so, for ever."""
    if error == 'SHORT' and call.startswith('send'):  # a full socket becomes writable again: epoll(7)
        return False
    # A ready socket does not say EAGAIN for ever.
    if error == 'EAGAIN' and call.startswith(('read', 'recv', 'send', 'write')):
        return False
    # A name that was just created can be looked at.
    if error == 'ENOENT' and call in ('fstat', 'stat', 'lstat', 'newfstatat', 'statx'):
        return False
    if call in ACCEPTING:  # clients would wait for ever
        return False
    return error not in NOT_LASTING


def is_programming_error(call, error):
    return error in PROGRAMMING_ERRORS or (call, error) in PROGRAMMING_ERRORS_OF_CALLS


def is_interposed(call, error):
    return error == 'SHORT' or call in CLOSING or call == 'memory'
