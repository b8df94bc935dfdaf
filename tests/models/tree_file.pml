/* SPDX-License-Identifier: Apache-2.0
 * One file of a tree, of two chunks, from its ENTRY to the receiver's DONE, with restarts: the sender's file changes, the
 * stream ends at any moment and the transfer is begun again, somebody else replaces the file at its name or damages
 * what a cut has left, and a sender says what is not so. See docs/spec/trees.md §4 and §5.
 *
 * CODE src/trees/planner.cpp Planner::answer_file Planner::find_basis Planner::hash_chunks
 * CODE src/trees/receiver.cpp Receiver::make_current Receiver::take_file_done Receiver::take_dropped Receiver::complete
 * CODE src/trees/receiver.cpp Receiver::refuse_or_fail Receiver::receive
 * CODE src/trees/incoming_file.cpp IncomingFile::take IncomingFile::take_up_basis IncomingFile::open_part
 * CODE src/trees/incoming_file.cpp IncomingFile::copy_chunk IncomingFile::keep_existing IncomingFile::finish_part
 * CODE src/trees/committer.cpp Committer::commit Committer::give_name
 *
 * SEARCH -DSTARTS=3 -DFAULTS=3
 * CYCLES -DSTARTS=3 -DFAULTS=2
 * FAULT -DSTARTS=2 -DFAULTS=2 -DFAULT_BELIEVES_PARTS
 * FAULT -DSTARTS=2 -DFAULTS=2 -DFAULT_BELIEVES_NAMES
 * FAULT -DSTARTS=2 -DFAULTS=2 -DFAULT_NO_ROOT
 * RUNS TreeFile.DoesWhatItsModelDoes -DSTARTS=2 -DFAULTS=1
 *
 * Bounds: -DSTARTS (of the transfer), -DFAULTS (changes, damages and lies). Not in it: a full disk, links, the hash cache.
 */
#ifndef STARTS
#define STARTS 3
#endif
#ifndef FAULTS
#define FAULTS 2
#endif

/* Contents of a chunk: 0, nothing; 1 and 2, of the sender's versions; 9, somebody else's. */
#define OTHER 9

#define NO_BASIS 0
#define PART 1
#define NAME 2

#define IDLE 0    /* no transfer runs */
#define RUNNING 1 /* the file is being sent */
#define WHOLE 2   /* FILE_DONE was taken, or the file was given up: it is acknowledged */

#define STEPS \
  starts, sends, copies, copies_another, lies_of_chunk, drops, is_done, lies_of_file, ends, ends_early, breaks, \
  sender_changes, name_is_replaced, part_is_damaged
mtype = { STEPS };
mtype did;

/* What the receiver's end says; else nothing can be seen yet. */
#define SILENT 0
#define WANT 1
#define HASHES 2
#define DONE 3
#define REFUSED 4 /* and DONE */
#define FAILED 5  /* of the transfer */

byte version = 1;     /* of the sender's file: chunk 0 is 1, chunk 1 the version */
byte announced;       /* version of the present ENTRY, and of what was read for it */
byte part[2];         /* what a cut has left, or a transfer writes; 0: not there */
byte name[2];         /* at the file's name; 0: nothing is there */
byte renewed;         /* how often somebody else has replaced the name, since its chunks were hashed */
byte phase, basis;
byte hashes[2];       /* as HASHES said them */
byte taken[2];        /* as the receiver believes them, from DATA and COPY */
byte next;            /* chunk */
bit opened;           /* there is a part that is written */
bit given_up;         /* refused: the rest is skipped */
bit dropped;          /* by the sender, which knows that it is not complete */
bit complete;         /* the sender has heard DONE and no REFUSED */
byte answer;
byte begun, faults;
bit calm; /* nothing goes wrong from here on: there must be a way out */

#ifdef TRACES
#define OBSERVE "%d%d%d%d%d%d%d", now.answer, now.hashes[0], now.hashes[1], now.name[0], now.name[1], now.part[0], now.part[1]
#include "runs.pml"
#else
#define DID(e) printf("%e\n", did)
#define MAY 1
#define NAME_STEPS skip
#endif

#define chunk_of(version, k) (k == 0 -> 1 : version)

/* Receiver::run ends with an error: parts stay as they are. */
inline fail_transfer() {
  answer = FAILED;
  phase = IDLE
}

/* IncomingFile::take_up_basis, IncomingFile::open_part */
inline open_part() {
  if
  :: opened || basis == NO_BASIS -> opened = 1
  :: !opened && basis == PART -> opened = 1
  :: !opened && basis == NAME && renewed -> given_up = 1
  :: !opened && basis == NAME && !renewed ->
     opened = 1;
     part[0] = (next > 0 -> name[0] : 0);
     part[1] = 0
  fi
}

inline write_chunk(content) {
  part[next] = content;
  taken[next] = content;
  next++
}

/* IncomingFile::take(Data) */
inline take_data() {
  if
  :: given_up
  :: else ->
     open_part();
     if
     :: given_up
     :: else -> write_chunk(chunk_of(announced, next))
     fi
  fi
}

/* IncomingFile::take(CopyChunks) */
inline take_copy() {
  if
  :: given_up
  :: else ->
     taken[next] = hashes[next];
     if
     :: basis == PART -> opened = 1
     :: basis == NAME && opened -> part[next] = hashes[next] /* from the file that was opened, compared */
     :: else
     fi;
     next++
  fi
}

/* IncomingFile::take(FileDone) */
inline take_done() {
  if
  :: given_up -> phase = WHOLE
#ifndef FAULT_NO_ROOT
  :: !given_up && (next < 2 || taken[0] != 1 || taken[1] != announced) -> fail_transfer()
  :: !given_up && next == 2 && taken[0] == 1 && taken[1] == announced ->
#else
  :: !given_up && next < 2 -> fail_transfer()
  :: !given_up && next == 2 ->
#endif
     if
#ifndef FAULT_BELIEVES_NAMES
     :: basis == NAME && !opened && renewed -> given_up = 1 /* keep_existing() */
#endif
     :: else
     fi;
     phase = WHOLE
  fi
}

/* Receiver::complete, Committer::give_name */
inline take_end() {
  if
  :: given_up -> answer = REFUSED
  :: dropped -> answer = DONE
  :: else ->
     answer = DONE;
     complete = 1;
     if
     :: opened -> name[0] = part[0]; name[1] = part[1]
     :: else /* the file that has the name was kept */
     fi
  fi;
  part[0] = 0; part[1] = 0; /* PartialFiles::remove */
  phase = IDLE
}

inline settle() {
  if
  :: phase == IDLE -> basis = NO_BASIS; next = 0; opened = 0; given_up = 0; dropped = 0; taken[0] = 0; taken[1] = 0; renewed = 0
  :: else
  fi;
  /* Who says that it is complete has a receiver that has it. */
  assert(!complete || (name[0] == 1 && name[1] == announced));
  /* At the name there is never a part of a file, and nothing that nobody has stored there. */
  assert((name[0] == 0 && name[1] == 0) || (name[0] == OTHER && name[1] == OTHER) || (name[0] == 1 && name[1] > 0))
}

#define MAY_LIE (MAY && !calm && faults < FAULTS)
#define SENDS (phase == RUNNING && next < 2 && !given_up)

active proctype World() {
  NAME_STEPS;
end:
  do
  :: atomic {
       if
       :: MAY && !calm && phase == IDLE && begun < STARTS ->
          did = starts; begun++; announced = version; phase = RUNNING; renewed = 0;
          hashes[0] = 0; hashes[1] = 0;
          if
          :: part[0] != 0 -> basis = PART; hashes[0] = part[0]; hashes[1] = part[1]; answer = HASHES
          :: part[0] == 0 && name[0] != 0 -> basis = NAME; hashes[0] = name[0]; hashes[1] = name[1]; answer = HASHES
          :: part[0] == 0 && name[0] == 0 -> basis = NO_BASIS; answer = WANT
          fi;
#ifdef FAULT_BELIEVES_PARTS
          if
          :: basis == PART -> hashes[0] = 1 /* as they should be */
          :: else
          fi
#endif
       :: MAY && SENDS && hashes[next] != chunk_of(announced, next) -> did = sends; take_data()
       :: MAY && SENDS && hashes[next] == chunk_of(announced, next) -> did = copies; take_copy()
       :: MAY_LIE && SENDS && hashes[next] != 0 && hashes[next] != chunk_of(announced, next) ->
          did = copies_another; faults++; take_copy()
       :: MAY_LIE && SENDS -> did = lies_of_chunk; faults++; fail_transfer()
       :: MAY && !calm && phase == RUNNING -> did = drops; phase = WHOLE; dropped = 1
       :: MAY && phase == RUNNING && (next == 2 || given_up) -> did = is_done; take_done()
       :: MAY_LIE && phase == RUNNING && !given_up -> did = lies_of_file; faults++; fail_transfer()
       :: MAY && phase == WHOLE -> did = ends; take_end()
       :: MAY_LIE && phase == RUNNING -> did = ends_early; faults++; fail_transfer()
       :: MAY && !calm && phase != IDLE -> did = breaks; fail_transfer()
       :: MAY_LIE && version == 1 -> did = sender_changes; faults++; version = 2
       :: MAY_LIE && name[0] != OTHER && !opened && phase != WHOLE ->
          did = name_is_replaced; faults++; name[0] = OTHER; name[1] = OTHER; renewed = 1
       :: MAY_LIE && phase == IDLE && part[0] != 0 -> did = part_is_damaged; faults++; part[0] = OTHER
       fi;
       settle();
       DID(0);
       did = 0; answer = SILENT; complete = 0
     }
  od
}

#ifndef TRACES
active proctype End() {
  calm = 1; /* at any moment */
  timeout;
  assert(phase == IDLE)
}
#endif
