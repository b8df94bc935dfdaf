/* SPDX-License-Identifier: Apache-2.0
 * A command of --exec, a second member of its process group, the keeper and us, while any of them dies at any moment: who
 * holds the writing end of the command's stdin, and so when the command sees its end. See docs/spec/rsh.md §5 and ADR-0023.
 *
 * CODE src/lib/bridge/child_watchdog.cpp ChildWatchdog::start ChildWatchdog::watch_my_group ChildWatchdog::end_input
 * CODE src/lib/bridge/child_watchdog.cpp ChildWatchdog::incomplete_input_has_reader
 * CODE src/lib/bridge/child_process.cpp ChildProcess::start ChildProcess::reap ChildProcess::watch_group be_child
 * CODE src/lib/bridge/child_stream.cpp ChildStream::async_finish ChildStream::complete ChildStream::abort
 * CODE src/lib/bridge/child_termination.cpp ChildTermination::poll SupervisedChild::terminate
 * CODE src/pipe/pipe_command.cpp PipeSession::on_outcome
 *
 * SEARCH
 * SEARCH -DKEEPER_IS_KILLED
 * CYCLES
 * FAULT -DFAULT_NO_KEEPER
 * FAULT -DFAULT_CLOSES_FIRST
 * FAULT -DFAULT_LINE_IS_INHERITED
 * FAULT -DFAULT_RECEIPT_BEFORE_STATUS
 *
 * Bounds: one other member of the group, of the command's own user.
 * With -DKEEPER_IS_KILLED somebody kills the keeper: only what does not need it is claimed (ADR-0023).
 */
#define NOT_YET 0
#define FORKED 1  /* be_child(): it has copies of all that we have open */
#define NAMED 2   /* it has told the keeper its group */
#define RUNS 3    /* its program runs: the copies are closed */
#define ENDED 4

mtype = {
  we_fork, it_names_its_group, it_executes, member_begins, command_succeeds, command_fails, member_ends, we_reap, keeper_hears_name,
  keeper_hears_end, keeper_kills, keeper_ends, keeper_is_killed, all_is_taken, we_end_input, stream_is_aborted,
  we_kill_the_group, we_are_killed, our_pipe_closes, our_spare_closes, our_line_closes, it_has_status
};
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

/* The keeper. */
bit keeper = 1;
bit keeper_pipe = 1; /* open: its stdout */
bit said_name, said_end;
bit knows_group;
bit keeper_has_killed;
bit keeper_was_killed;

#define NAME_STEPS skip
#define sees_end (!our_pipe && !our_spare && !its_pipe && !keeper_pipe)
#define line_has_ended (!our_line && !its_line && !said_name && !said_end)
#define group_lives ((command > NOT_YET && command < ENDED) || member)

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
inline let_go_of_keeper() {
  keeper = 0;
  keeper_pipe = 0;
  our_spare = 0;
  our_line = 0
}

inline settle() {
  was_cut = was_cut || (sees_end && !complete && (command == RUNS || member));
  assert(!was_cut || keeper_was_killed);
  /* A receipt stands for a command that has had all, and has ended well. */
  assert(!receipt || (complete && command == ENDED && succeeded))
}

active proctype World() {
end:
  do
  :: atomic {
       if
       :: we_live && command == NOT_YET -> did = we_fork; command = FORKED; its_pipe = 1; its_line = 1
       :: command == FORKED ->
          did = it_names_its_group; command = NAMED;
          said_name = keeper
       :: command == NAMED ->
          did = it_executes; command = RUNS; its_pipe = 0;
#ifndef FAULT_LINE_IS_INHERITED
          its_line = 0
#endif
       :: command == RUNS && !member_began -> did = member_begins; member = 1; member_began = 1
       :: command == RUNS && !was_cut && (complete || !taken) -> did = command_succeeds; command = ENDED; succeeded = 1
       :: command == RUNS -> did = command_fails; command = ENDED
       :: member && (command == ENDED || sees_end) -> did = member_ends; member = 0
       /* ChildProcess::reap, watch_group */
       :: we_live && command == ENDED && !reaped -> did = we_reap; reaped = 1
       :: we_live && reaped && !group_lives && our_line -> did = we_reap; let_go_of_keeper()
       /* kScript of the keeper */
       :: keeper && !knows_group && said_name -> did = keeper_hears_name; said_name = 0; knows_group = 1
       :: keeper && knows_group && said_end -> did = keeper_hears_end; said_end = 0; keeper_pipe = 0
       :: keeper && knows_group && line_has_ended && !keeper_has_killed ->
          did = keeper_kills; keeper_has_killed = 1;
#ifdef FAULT_CLOSES_FIRST
          keeper_pipe = 0;
#else
          kill_group()
#endif
       :: keeper && line_has_ended && (keeper_has_killed || !knows_group) ->
          did = keeper_ends; keeper = 0; keeper_pipe = 0;
#ifdef FAULT_CLOSES_FIRST
          kill_group()
#endif
#ifdef KEEPER_IS_KILLED
       :: keeper -> did = keeper_is_killed; keeper = 0; keeper_pipe = 0; keeper_was_killed = 1; said_name = 0; said_end = 0
#endif
       /* the stream's end: all is written and taken, then end_input(); or it fails */
       :: we_live && command >= RUNS && our_pipe && !aborted -> did = all_is_taken; taken = 1; our_pipe = 0
       :: we_live && taken && !complete && !aborted && our_line ->
          did = we_end_input; complete = 1; our_spare = 0; said_end = keeper
       :: we_live && taken && !complete && !aborted && !our_line -> did = we_end_input; complete = 1
       :: we_live && command >= RUNS && !receipt && !aborted -> did = stream_is_aborted; aborted = 1; our_pipe = 0
       :: we_live && aborted && group_lives -> did = we_kill_the_group; kill_group()
#ifdef FAULT_RECEIPT_BEFORE_STATUS
       :: we_live && complete && !aborted && !receipt -> did = it_has_status; receipt = 1
#else
       :: we_live && complete && !aborted && !receipt && reaped && succeeded -> did = it_has_status; receipt = 1
       :: we_live && complete && !aborted && !receipt && reaped && !succeeded -> did = it_has_status; aborted = 1
#endif
       /* we die: the system closes what we have open, in whatever order */
       :: we_live -> did = we_are_killed; we_live = 0
       :: !we_live && our_pipe -> did = our_pipe_closes; our_pipe = 0
       :: !we_live && our_spare -> did = our_spare_closes; our_spare = 0
       :: !we_live && our_line -> did = our_line_closes; our_line = 0
       fi;
#ifdef FAULT_NO_KEEPER
       keeper = 0; keeper_pipe = 0; said_name = 0; said_end = 0;
#endif
       settle();
       printf("%e\n", did);
       did = 0
     }
  od
}

/* When nothing more happens: all is over, and the keeper is gone with its group. */
active proctype End() {
  timeout;
  assert(!group_lives || keeper_was_killed);
  assert(!keeper);
  assert(!we_live || receipt || aborted)
}
