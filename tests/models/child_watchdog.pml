/* SPDX-License-Identifier: Apache-2.0
 * A command of --exec, a second member of its process group, the watchdog and us, while any of them dies at any
 * moment: who holds the writing end of the command's stdin, and so when the command sees its end. See docs/spec/rsh.md
 * §5 and ADR-0023.
 *
 * CODE src/lib/bridge/child_watchdog.cpp ChildWatchdog::start ChildWatchdog::watch_my_group ChildWatchdog::end_input
 * CODE src/lib/bridge/child_watchdog.cpp ChildWatchdog::incomplete_input_has_reader
 * CODE src/lib/bridge/child_process.cpp ChildProcess::start ChildProcess::reap ChildProcess::watch_group be_child
 * CODE src/lib/bridge/child_stream.cpp ChildStream::async_finish ChildStream::complete ChildStream::abort
 * CODE src/lib/bridge/child_termination.cpp ChildTermination::poll SupervisedChild::terminate
 * CODE src/pipe/pipe_command.cpp PipeSession::on_outcome
 *
 * SEARCH
 * SEARCH -DWATCHDOG_IS_KILLED
 * CYCLES
 * FAULT -DFAULT_NO_WATCHDOG
 * FAULT -DFAULT_CLOSES_FIRST
 * FAULT -DFAULT_LINE_IS_INHERITED
 * FAULT -DFAULT_RECEIPT_BEFORE_STATUS
 * RUNS ChildWatchdog.DoesWhatItsModelDoes
 *
 * Bounds: one other member of the group, of the command's own user.
 * With -DWATCHDOG_IS_KILLED somebody kills the watchdog: only what does not need it is claimed (ADR-0023).
 * In runs, what processes do by themselves is done at once, and what a step comes to is seen behind it.
 */
#define NOT_YET 0
#define FORKED 1  /* be_child(): it has copies of all that we have open */
#define NAMED 2   /* it has told the watchdog its group */
#define RUNS 3    /* its program runs: the copies are closed */
#define ENDED 4

#define STEPS \
  we_fork, it_names_its_group, it_executes, member_begins, command_succeeds, command_fails, member_ends, we_reap, \
  watchdog_hears_name, watchdog_hears_end, watchdog_kills, watchdog_ends, watchdog_is_killed, all_is_taken, \
  we_end_input, stream_is_aborted, we_kill_the_group, we_are_killed, our_pipe_closes, our_spare_closes, \
  our_line_closes, it_has_status
mtype = { STEPS };
mtype did;

/* Us. */
bit we_live = 1;
bit our_pipe = 1;  /* open: FdWriter's end of the command's stdin */
bit our_spare = 1; /* open: ChildWatchdog::input_, the same end */
bit our_line = 1;  /* open: ChildWatchdog::line_ */
bit taken;         /* all that came was written, and the pipe read empty: async_finish() of the pipes */
bit complete;      /* the input is complete: end_input() */
bit aborted;       /* the stream has failed */
bit receipt;       /* ChildStream::complete() says that all was taken */
bit reaped;

/* The command, and another member of its group. */
byte command;
bit succeeded;
bit member;
bit member_began;
bit its_pipe, its_line; /* copies, until its program runs */
bit was_cut;            /* a program that lived saw the end of an incomplete input */

/* The watchdog. */
bit watchdog = 1;
bit watchdog_pipe = 1; /* open: its stdout */
bit said_name, said_end;
bit knows_group;
bit watchdog_has_killed;
bit watchdog_was_killed;

#define sees_end (!our_pipe && !our_spare && !its_pipe && !watchdog_pipe)
#define line_has_ended (!our_line && !its_line && !said_name && !said_end)
#define group_lives ((command > NOT_YET && command < ENDED) || member)

#ifdef FAULT_NO_WATCHDOG
#define WATCHDOG_HEARS 1
#else
#define WATCHDOG_HEARS watchdog /* else the command is not run */
#endif

/* What nobody has to be asked for. */
#define MAY_REAP (we_live && command == ENDED && !reaped)
#define MAY_LET_GO (we_live && reaped && !group_lives && our_line)
#define MAY_HEAR_NAME (watchdog && !knows_group && said_name)
#define MAY_HEAR_END (watchdog && knows_group && said_end)
#define MAY_KILL (watchdog && knows_group && line_has_ended && !watchdog_has_killed)
#define WATCHDOG_MAY_END (watchdog && line_has_ended && (watchdog_has_killed || !knows_group))
#define MAY_CLOSE (!we_live && (our_pipe || our_spare || our_line))

#ifdef TRACES
#define OBSERVE "%d%d%d%d", now.command == RUNS, now.member, now.watchdog, \
  !now.our_pipe && !now.our_spare && !now.its_pipe && !now.watchdog_pipe
#include "runs.pml"
mtype waits; /* a step that was done, and is to be told when all is quiet */
#define IS_QUIET \
  !(command == FORKED || command == NAMED || MAY_REAP || MAY_LET_GO || MAY_HEAR_NAME || MAY_HEAR_END || MAY_KILL || \
    WATCHDOG_MAY_END || MAY_CLOSE)
#define MAY_BEGIN (MAY && IS_QUIET && !waits)
#define ENDS(step) did = step; waits = step
#else
#define DID(e) printf("%e\n", did)
#define MAY 1
#define MAY_BEGIN 1
#define NAME_STEPS skip
#define ENDS(step) did = step
#endif

inline kill_group() {
  if
  :: command != NOT_YET -> command = ENDED
  :: else
  fi;
  member = 0;
  its_pipe = 0;
  its_line = 0
}

/* ChildWatchdog::~ChildWatchdog */
inline let_go_of_watchdog() {
  watchdog = 0;
  watchdog_pipe = 0;
  our_spare = 0;
  our_line = 0
}

inline settle() {
  was_cut = was_cut || (sees_end && !complete && (command == RUNS || member));
  assert(!was_cut || watchdog_was_killed);
  /* A receipt stands for a command that has had all, and has ended well. */
  assert(!receipt || (complete && command == ENDED && succeeded))
}

active proctype World() {
  NAME_STEPS;
end:
  do
  :: atomic {
       if
       :: MAY_BEGIN && we_live && command == NOT_YET -> ENDS(we_fork); command = FORKED; its_pipe = 1; its_line = 1
       :: command == FORKED && WATCHDOG_HEARS -> did = it_names_its_group; command = NAMED; said_name = watchdog
       :: command == FORKED && !WATCHDOG_HEARS -> did = it_names_its_group; command = ENDED; its_pipe = 0; its_line = 0
       :: command == NAMED ->
          did = it_executes; command = RUNS; its_pipe = 0;
#ifndef FAULT_LINE_IS_INHERITED
          its_line = 0
#endif
       :: MAY_BEGIN && command == RUNS && !member_began -> ENDS(member_begins); member = 1; member_began = 1
       :: MAY_BEGIN && command == RUNS && !was_cut && (complete || !taken) ->
          ENDS(command_succeeds); command = ENDED; succeeded = 1
       :: MAY_BEGIN && command == RUNS -> ENDS(command_fails); command = ENDED
       :: MAY_BEGIN && member && (command == ENDED || sees_end) -> ENDS(member_ends); member = 0
       /* ChildProcess::reap, watch_group */
       :: MAY_REAP -> did = we_reap; reaped = 1
       :: MAY_LET_GO -> did = we_reap; let_go_of_watchdog()
       /* kScript of the watchdog */
       :: MAY_HEAR_NAME -> did = watchdog_hears_name; said_name = 0; knows_group = 1
       :: MAY_HEAR_END -> did = watchdog_hears_end; said_end = 0; watchdog_pipe = 0
       :: MAY_KILL ->
          did = watchdog_kills; watchdog_has_killed = 1;
#ifdef FAULT_CLOSES_FIRST
          watchdog_pipe = 0;
#else
          kill_group()
#endif
       :: WATCHDOG_MAY_END ->
          did = watchdog_ends; watchdog = 0; watchdog_pipe = 0;
#ifdef FAULT_CLOSES_FIRST
          kill_group()
#endif
#ifdef WATCHDOG_IS_KILLED
       :: watchdog ->
          did = watchdog_is_killed; watchdog = 0; watchdog_pipe = 0; watchdog_was_killed = 1;
          said_name = 0; said_end = 0
#endif
       /* the stream's end: all is written and taken, then end_input(); or it fails */
       :: MAY_BEGIN && we_live && command >= RUNS && our_pipe && !aborted -> ENDS(all_is_taken); taken = 1; our_pipe = 0
       :: MAY_BEGIN && we_live && taken && !complete && !aborted && our_line ->
          ENDS(we_end_input); complete = 1; our_spare = 0; said_end = watchdog
       :: MAY_BEGIN && we_live && taken && !complete && !aborted && !our_line -> ENDS(we_end_input); complete = 1
       :: MAY_BEGIN && we_live && command >= RUNS && !receipt && !aborted -> ENDS(stream_is_aborted); aborted = 1; our_pipe = 0
       :: MAY_BEGIN && we_live && aborted && group_lives -> ENDS(we_kill_the_group); kill_group()
#ifdef FAULT_RECEIPT_BEFORE_STATUS
       :: we_live && complete && !aborted && !receipt -> did = it_has_status; receipt = 1
#else
#ifndef TRACES /* of a stream that the test has not */
       :: we_live && complete && !aborted && !receipt && reaped && succeeded -> did = it_has_status; receipt = 1
       :: we_live && complete && !aborted && !receipt && reaped && !succeeded -> did = it_has_status; aborted = 1
#endif
#endif
       /* we die: the system closes what we have open, in whatever order */
#ifdef TRACES /* there is no command yet that could outlive us */
       :: MAY_BEGIN && we_live && command != NOT_YET -> ENDS(we_are_killed); we_live = 0
       :: waits && IS_QUIET -> did = waits; waits = 0; DID(0)
#else
       :: we_live -> did = we_are_killed; we_live = 0
#endif
       :: !we_live && our_pipe -> did = our_pipe_closes; our_pipe = 0
       :: !we_live && our_spare -> did = our_spare_closes; our_spare = 0
       :: !we_live && our_line -> did = our_line_closes; our_line = 0
       fi;
#ifdef FAULT_NO_WATCHDOG
       watchdog = 0; watchdog_pipe = 0; said_name = 0; said_end = 0;
#endif
       settle();
#ifndef TRACES
       DID(0);
#endif
       did = 0
     }
  od
}

#ifndef TRACES
/* When nothing more happens: all is over, and the watchdog is gone with its group. */
active proctype End() {
  timeout;
  assert(!group_lives || watchdog_was_killed);
  assert(!watchdog);
  assert(!we_live || receipt || aborted)
}
#endif
