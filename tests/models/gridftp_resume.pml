/* SPDX-License-Identifier: Apache-2.0
 * The resumption of a GridFTP transfer that was cut: a receiver of ours, a file of two blocks, FILE.part and its journal,
 * while the process is killed between any two steps, the machine starts again and forgets what was not on the disk, and
 * the source changes. See docs/spec/gridftp.md §5.
 *
 * CODE src/gridftp/disk/restart_journal.cpp RestartJournal::load RestartJournal::save RestartJournal::begin
 * CODE src/gridftp/disk/restart_journal.cpp RestartJournal::write_next RestartJournal::remove
 * CODE src/gridftp/disk/block_store.cpp BlockStore::open_to_write BlockStore::clear BlockStore::complete
 * CODE src/gridftp/disk/block_store.cpp BlockStore::put_in_place
 * CODE src/gridftp/mode_e/incoming_file.cpp IncomingFile::on_header IncomingFile::on_end_of_data IncomingFile::whole
 *
 * SEARCH -DSTARTS=3 -DFAULTS=2
 * CYCLES -DSTARTS=2 -DFAULTS=2
 * FAULT -DSTARTS=2 -DFAULTS=1 -DFAULT_JOURNAL_FIRST
 * FAULT -DSTARTS=2 -DFAULTS=1 -DFAULT_ANY_BOOT
 * FAULT -DSTARTS=2 -DFAULTS=1 -DFAULT_ANY_SOURCE
 * FAULT -DSTARTS=2 -DFAULTS=1 -DFAULT_KEEPS_JOURNAL
 * RUNS GridftpResume.DoesWhatItsModelDoes -DSTARTS=2 -DFAULTS=1
 *
 * Bounds: -DSTARTS (of the transfer), -DFAULTS (starts of the machine, changes of the source).
 */
#ifndef STARTS
#define STARTS 2
#endif
#ifndef FAULTS
#define FAULTS 2
#endif


#define STEPS \
  begins, block_comes, journal_is_written, journal_is_renamed, all_has_come, page_goes_to_the_disk, all_is_on_the_disk, \
  journal_is_removed, has_its_name, is_killed, machine_starts_again, source_changes
mtype = { STEPS };
mtype did;

#define IDLE 0
#define RECEIVING 1
#define WHOLE 2     /* IncomingFile::whole() */
#define SYNCED 3    /* BlockStore::complete() */
#define UNPROVED 4  /* the journal is removed, FILE.part has not its name yet */

/* Of a block: 0, nothing; else the version of the source. */
byte version = 1;
byte part[2];    /* FILE.part, as processes see it */
byte disk[2];    /* and as it is on the disk */
bit there;       /* FILE.part exists */
byte name[2];    /* the file, as processes see it; 0: it does not exist */
byte named_disk[2];

/* FILE.part.have, and what save() writes beside it before it is renamed. Journals are on the disk at once: that is the
 * worse case, as they may speak of data that are not. */
bit journal, next_journal;
byte boot = 1;
byte journal_boot, journal_of, next_of;
bit has[2], next_has[2];

byte phase;
byte source;     /* that this transfer is of */
bit arrived[2];  /* IncomingFile::arrived() */
byte block;      /* that has come */
bit complete;    /* the client has heard 226 */
byte begun, faults;
bit calm;

/* A journal that load() believes. */
#ifdef FAULT_ANY_BOOT
#define same_boot 1
#else
#define same_boot (journal_boot == boot)
#endif
#ifdef FAULT_ANY_SOURCE
#define same_source 1
#else
#define same_source (journal_of == version)
#endif

#ifdef TRACES
#define OBSERVE "%d%d%d%d", now.arrived[0], now.arrived[1], now.name[0], now.name[1]
#include "runs.pml"
#else
#define DID(e) printf("%e of block %d\n", did, e)
#define MAY 1
#define NAME_STEPS skip
#endif
#define MAY_FAIL (MAY && !calm && faults < FAULTS)

inline forget_run() {
  phase = IDLE; arrived[0] = 0; arrived[1] = 0; source = 0; next_has[0] = 0; next_has[1] = 0; next_of = 0
}

inline take_block(k) {
  did = block_comes; block = k; part[k] = source; arrived[k] = 1
}

inline settle() {
  /* Who says that it is complete has it, on the disk. */
  assert(!complete || (name[0] == source && name[1] == source && named_disk[0] == source && named_disk[1] == source));
  /* At the name there is never a part of a file, or of two. */
  assert(name[0] == name[1] && named_disk[0] == named_disk[1]);
  /* What a journal that is believed speaks of is there. */
  assert(!(journal && same_boot && there) || ((!has[0] || part[0] == journal_of) && (!has[1] || part[1] == journal_of)))
}

active proctype World() {
  NAME_STEPS;
end:
  do
  :: atomic {
       if
       /* open_to_write(); load(), else clear() and begin() */
       :: MAY && !calm && phase == IDLE && begun < STARTS ->
          did = begins; begun++; phase = RECEIVING; source = version;
#ifdef FAULT_KEEPS_JOURNAL
          there = 1; /* a journal whose FILE.part has its name is taken for that of the next one */
#endif
          if
          :: there && journal && same_boot && same_source ->
             arrived[0] = has[0]; arrived[1] = has[1]
          :: else ->
             there = 1; part[0] = 0; part[1] = 0; disk[0] = 0; disk[1] = 0;
             journal = 1; journal_boot = boot; journal_of = source; has[0] = 0; has[1] = 0 /* begin() */
          fi;
          next_journal = 0
       /* blocks in any order; what has come may come again */
       :: MAY && phase == RECEIVING && !arrived[0] -> take_block(0)
       :: MAY && phase == RECEIVING && !arrived[1] -> take_block(1)
#ifndef TRACES /* a test has no machine to start again */
       /* the page cache goes to the disk when it likes */
       :: there && part[0] != disk[0] -> did = page_goes_to_the_disk; disk[0] = part[0]
       :: there && part[1] != disk[1] -> did = page_goes_to_the_disk; disk[1] = part[1]
#endif
       /* save(): FILE.part.have.new, then its name */
       :: MAY && phase == RECEIVING && !next_journal && (arrived[0] != has[0] || arrived[1] != has[1]) ->
          did = journal_is_written; next_journal = 1; next_of = source;
          next_has[0] = arrived[0]; next_has[1] = arrived[1]
#ifdef FAULT_JOURNAL_FIRST
       :: MAY && phase == RECEIVING && !next_journal && !(arrived[0] && arrived[1]) ->
          did = journal_is_written; next_journal = 1; next_of = source; next_has[0] = 1; next_has[1] = 1
#endif
       :: MAY && phase == RECEIVING && next_journal ->
          did = journal_is_renamed; next_journal = 0; journal = 1; journal_boot = boot; journal_of = next_of;
          has[0] = next_has[0]; has[1] = next_has[1]
       :: MAY && phase == RECEIVING && arrived[0] && arrived[1] && !next_journal -> did = all_has_come; phase = WHOLE
       :: MAY && phase == WHOLE -> did = all_is_on_the_disk; disk[0] = part[0]; disk[1] = part[1]; phase = SYNCED
#ifdef FAULT_KEEPS_JOURNAL
       :: MAY && phase == SYNCED -> did = journal_is_removed; phase = UNPROVED
#else
       :: MAY && phase == SYNCED -> did = journal_is_removed; journal = 0; next_journal = 0; phase = UNPROVED
#endif
       :: MAY && phase == UNPROVED ->
          did = has_its_name; name[0] = part[0]; name[1] = part[1]; named_disk[0] = disk[0]; named_disk[1] = disk[1];
          there = 0; part[0] = 0; part[1] = 0; disk[0] = 0; disk[1] = 0; complete = 1
       :: MAY && !calm && phase != IDLE -> did = is_killed; forget_run()
#ifndef TRACES
       :: MAY_FAIL ->
          did = machine_starts_again; faults++; boot++; part[0] = disk[0]; part[1] = disk[1];
          name[0] = named_disk[0]; name[1] = named_disk[1]; forget_run()
#endif
       :: MAY_FAIL && version == 1 -> did = source_changes; faults++; version = 2
       fi;
       settle();
       if
       :: complete -> complete = 0; forget_run()
       :: else
       fi;
       DID(block);
       did = 0; block = 0
     }
  od
}

#ifndef TRACES
active proctype End() {
  calm = 1; /* at any moment: nothing goes wrong from here on */
  timeout;
  assert(phase == IDLE)
}
#endif
