/* SPDX-License-Identifier: Apache-2.0
 * The end of a stream: two ends (0 opens, 1 accepts), one stream, and the session's close, while records are lost and
 * repeated, sessions break, consumers and sources fail, and either end is killed at any moment. See docs/spec/stream.md.
 *
 * Each step is one event of the world and all that an end does about it in that turn of its event loop.
 *
 * CODE src/lib/connection/mux_stream.cpp MuxStream::fill MuxStream::on_receipt MuxStream::on_data MuxStream::on_early
 * CODE src/lib/connection/mux_stream.cpp MuxStream::unseen MuxStream::on_fin MuxStream::on_written MuxStream::on_drained
 * CODE src/lib/connection/mux_stream.cpp MuxStream::finish_sink MuxStream::on_reset MuxStream::fail_locally MuxStream::end
 * CODE src/lib/connection/multiplexer.cpp Multiplexer::take_frame Multiplexer::close Multiplexer::on_close_frame
 * CODE src/lib/connection/multiplexer.cpp Multiplexer::close_if_told Multiplexer::finish_when_agreed Multiplexer::end
 * CODE src/lib/connection/multiplexer.cpp Multiplexer::break_off Multiplexer::on_tick Multiplexer::on_open
 * CODE src/lib/connection/multiplexer.cpp Multiplexer::take_early_frames
 * CODE src/lib/session/record_reader.cpp RecordReader::check_header
 * CODE src/lib/session/priority_datagrams.cpp PriorityDatagrams::open_in_place
 * CODE src/pipe/pipe_command.cpp PipeSession::on_outcome
 *
 * SEARCH -DBYTES=1 -DFAULTS=2
 * SEARCH -DBYTES=2 -DFAULTS=1
 * SEARCH -DBYTES=1 -DFAULTS=1 -DCOPIES
 * CYCLES -DBYTES=1 -DFAULTS=1
 * FAULT -DBYTES=1 -DFAULTS=1 -DFAULT_SILENCE
 * FAULT -DBYTES=1 -DFAULTS=1 -DFAULT_OPEN
 * FAULT -DBYTES=1 -DFAULTS=1 -DFAULT_NUMBERS
 * FAULT -DBYTES=1 -DFAULTS=1 -DFAULT_RECEIPT
 * RUNS StreamEnd.DoesWhatItsModelDoes -DBYTES=1 -DFAULTS=1
 * RUNS StreamEnd.DoesWhatItsModelDoes -DBYTES=2 -DFAULTS=2 -DDEPTH=5
 * RUNS StreamEnd.DoesWhatItsModelDoesWithPriorityDatagrams -DBYTES=1 -DFAULTS=1 -DCOPIES -DDEPTH=4
 *
 * Bounds: -DBYTES (said by each end), -DFAULTS (what may go wrong in one run), -DCOPIES (priority datagrams).
 * Not in it: time (a silence, and the end of a wait, may come at any moment), credit that runs out, several flows.
 */
#ifndef BYTES
#define BYTES 2
#endif
#ifndef FAULTS
#define FAULTS 2
#endif

/* Frames of a record. */
#define OPEN 1
#define DATA 2
#define FIN 4
#define CREDIT 8
#define RECEIPT 16
#define RESET 32
#define CLOSE 64
#define PING 128

/* Causes of RESET, and reasons of CLOSE. */
#define BY_READ 1
#define BY_WRITE 2
#define BY_INTERRUPT 5
#define BY_COMMAND 7
#define IS_DONE 0
#define IS_INTERRUPTED 1
#define IS_TAMPERED 2
#define IS_VIOLATED 3

/* Outcomes, of a stream and of a connection. */
#define NONE 0
#define OK 1
#define INTERRUPTED 2
#define LOCAL_READ 3
#define LOCAL_WRITE 4
#define REMOTE_READ 5
#define REMOTE_WRITE 6
#define PEER_INTERRUPTED 7
#define BROKEN 8
#define TAMPERED 9
#define PEER_REPORTS 10
#define VIOLATED 11
#define LOST 12

/* Streams; outgoing; incoming (MuxStream::Outgoing, MuxStream::Incoming). */
#define LIVE 1
#define ENDED 2
#define OUT_OPEN 0
#define OUT_FINISHED 1
#define OUT_RECEIPTED 2
#define IN_OPEN 0
#define IN_FINISHED 1
#define IN_DRAINING 2
#define IN_RECEIPTED 3
#define IN_CUT 4

typedef End {
  bit dead;      /* killed */
  bit broken;    /* its transport has said that the connection is no more */
  bit closing;   /* CloseHandshake::State::closing */
  bit over;      /* CloseHandshake::State::over; breaking lasts no longer than a turn */
  bit told;      /* our CLOSE is out */
  bit heard;     /* theirs has come */
  byte stream;
  byte out;
  byte in;
  byte said;     /* bytes of the source that were sent */
  byte got;      /* bytes that arrived */
  byte early;    /* of them, those that DATA will bring again */
  byte taken;    /* bytes that the consumer took */
  bit finished;  /* the consumer saw the end of file, and took it */
  bit receipted; /* the source was told that all of it was taken */
  byte next;     /* number of the next record out */
  byte want;     /* number of the next record in */
  byte outcome;  /* of the stream */
  byte closed    /* of the connection */
};

End E[2];
byte faults;
bit calm; /* nothing goes wrong from here on: there must be a way out */
chan to[2] = [12] of { byte, byte, byte, byte }; /* records on their way to an end: number, frames, total, cause */
#ifdef COPIES
chan copies[2] = [4] of { byte, byte }; /* priority datagrams: frame, offset */
#endif

/* What a step has in hand. */
byte number, frames, total, cause, offset;
byte says_frames, says_total, says_cause;
byte error, reason;

#define STEPS \
  says, says_last, ends, reading_fails, command_fails, consumes, consuming_fails, finishes, finishing_fails, arrives, \
  repeats, is_lost, breaks, dies, closes, gives_up, copy_arrives, copy_is_lost, peer_is_silent, waits_no_longer, pings
mtype = { STEPS };
mtype did;

#ifdef TRACES
#define OBSERVED(e) \
  now.E[e].outcome, now.E[e].closed, now.E[e].taken, now.E[e].finished, now.E[e].receipted, now.left[e]
#define OBSERVE "%x%x%x%x%x%x,%x%x%x%x%x%x", OBSERVED(0), OBSERVED(1)
byte left[2];
#include "runs.pml"
#else
#define DID(e) printf("%e at %d\n", did, e)
#define MAY 1
#define NAME_STEPS skip
#endif

#define alive(e) (!E[e].dead && !E[e].over)
#define listens(e) (alive(e) && !E[e].heard && !E[e].broken)
#ifdef FAULT_OPEN
#define opens(e) (E[e].stream == NONE)
#else
#define opens(e) (E[e].stream == NONE && !E[e].closing)
#endif
#define works(e) (alive(e) && E[e].stream == LIVE)

/* A sender that says "complete" has a receiver that has it. */
inline check(e, p) {
  assert(!E[e].receipted || (E[p].finished && E[p].taken == E[e].said && E[e].out == OUT_RECEIPTED));
  assert(E[e].outcome != OK || (E[e].receipted && E[e].finished && E[p].taken == E[e].said && E[e].taken == E[p].said));
}


/* A record with what this step has to say. */
inline send(e, p) {
  if
  :: !E[e].broken && listens(p) -> assert(nfull(to[p])); to[p]!E[e].next, says_frames, says_total, says_cause
  :: else
  fi;
  E[e].next++
}

inline say(what, sum, why) {
  says_frames = what;
  says_total = sum;
  says_cause = why
}

/* A priority datagram; it is sent before the record that it is a copy of. */
inline say_copy(e, p, what, place) {
#ifdef COPIES
  if
  :: !E[e].broken && listens(p) -> copies[p]!what, place
  :: else
  fi
#else
  skip
#endif
}

/* Multiplexer::break_off is due; the peer is told why, or not: IS_DONE */
inline break_off(why, peer_reason) {
  error = why;
  reason = peer_reason
}

/* MuxStream::end */
inline end_stream(e, how) {
  if
  :: E[e].stream == LIVE ->
     /* To a consumer of what a command wrote before it failed the peer makes no difference once it has said CLOSE. */
     assert(!(E[e].in == IN_CUT && E[e].heard) || (how != LOST && how != BROKEN && how != TAMPERED));
     E[e].stream = ENDED;
     E[e].outcome = how
  :: else
  fi
}

/* MuxStream::finish_sink */
inline finish_sink(e) {
  if
  :: E[e].taken == E[e].got && E[e].in == IN_FINISHED -> E[e].in = IN_DRAINING
  :: E[e].taken == E[e].got && E[e].in == IN_CUT -> end_stream(e, REMOTE_READ)
  :: else
  fi
}

#define takes(e) (error == NONE && E[e].stream == LIVE && E[e].in != IN_CUT)

/* Multiplexer::take_frames of the record in hand. Nothing is violated, as records keep their order: UNREACHED. */
inline take_frames(e) {
  if
  :: (frames & OPEN) && opens(e) -> E[e].stream = LIVE
  :: else /* a copy has opened it, or this end has closed */
  fi;
  if
  :: (frames & DATA) && takes(e) ->
     if
     :: E[e].early > 0 -> E[e].early--
     :: E[e].early == 0 && E[e].in == IN_OPEN -> E[e].got++
     :: E[e].early == 0 && E[e].in != IN_OPEN -> break_off(VIOLATED, IS_VIOLATED) /* UNREACHED */
     fi
  :: else
  fi;
  if
  :: (frames & FIN) && takes(e) ->
     if
     :: E[e].in == IN_OPEN && total == E[e].got && E[e].early == 0 ->
        E[e].in = IN_FINISHED;
#ifdef FAULT_RECEIPT
        say(RECEIPT, E[e].got, 0);
#endif
        finish_sink(e)
     :: else -> break_off(VIOLATED, IS_VIOLATED) /* UNREACHED */
     fi
  :: else
  fi;
  if
  :: (frames & RECEIPT) && takes(e) ->
     if
     :: E[e].out == OUT_FINISHED && total == E[e].said ->
        E[e].out = OUT_RECEIPTED;
        E[e].receipted = 1;
        if
        :: E[e].in == IN_RECEIPTED -> end_stream(e, OK)
        :: else
        fi
     :: else -> break_off(VIOLATED, IS_VIOLATED) /* UNREACHED */
     fi
  :: else
  fi;
  if
  :: (frames & RESET) && takes(e) ->
     if
     :: cause == BY_COMMAND && E[e].in == IN_OPEN && E[e].taken < E[e].got -> E[e].in = IN_CUT
     :: cause == BY_COMMAND && !(E[e].in == IN_OPEN && E[e].taken < E[e].got) -> end_stream(e, REMOTE_READ)
     :: cause == BY_READ -> end_stream(e, REMOTE_READ)
     :: cause == BY_WRITE -> end_stream(e, REMOTE_WRITE)
     :: cause == BY_INTERRUPT -> end_stream(e, PEER_INTERRUPTED)
     fi
  :: else
  fi;
  if
  :: (frames & CLOSE) && error == NONE ->
     E[e].heard = 1;
     if
     :: (frames & RESET) || cause == IS_DONE ->
        if
        :: E[e].stream == LIVE && E[e].in != IN_CUT -> break_off(BROKEN, IS_DONE)
        :: else /* close_if_told() */
        fi
     :: !(frames & RESET) && cause == IS_INTERRUPTED -> break_off(PEER_INTERRUPTED, IS_DONE)
     :: !(frames & RESET) && cause >= IS_TAMPERED -> break_off(PEER_REPORTS, IS_DONE)
     fi
  :: else
  fi
}

/* RecordReader::check_header: the number must be the next. */
inline take_record(e) {
  if
#ifndef FAULT_NUMBERS
  :: number != E[e].want -> break_off(TAMPERED, IS_TAMPERED)
#endif
  :: else -> E[e].want = number + 1; take_frames(e)
  fi
}

/* Multiplexer::break_off, as error and reason say */
inline break_off_if_due(e, p) {
  if
  :: error == NONE || E[e].over
  :: error != NONE && !E[e].over && E[e].closing && E[e].told && E[e].stream != LIVE && error != TAMPERED ->
     E[e].over = 1;
     E[e].closed = OK
  :: else ->
     end_stream(e, error);
     if
     :: reason != IS_DONE && !E[e].told -> say(CLOSE, 0, reason); send(e, p); E[e].told = 1
     :: else
     fi;
     E[e].over = 1;
     E[e].closed = error
  fi
}

/* Multiplexer::close_if_told, Multiplexer::finish_when_agreed */
inline agree(e, p) {
  if
  :: E[e].heard && !E[e].over && E[e].stream != LIVE ->
     if
     :: !E[e].closing -> E[e].closing = 1; say(CLOSE, 0, IS_DONE); send(e, p); E[e].told = 1
     :: else
     fi;
     E[e].over = 1;
     E[e].closed = OK
  :: else
  fi
}

/* What is on its way to an end that does not listen is of no use. */
inline forget_unread(e) {
  do
  :: !listens(e) && nempty(to[e]) -> to[e]?number, frames, total, cause
#ifdef COPIES
  :: !listens(e) && nempty(copies[e]) -> copies[e]?frames, offset
  :: listens(e) || (empty(to[e]) && empty(copies[e])) -> break
#else
  :: listens(e) || empty(to[e]) -> break
#endif
  od
}

/* All that the end does about what has happened, in the same turn of its event loop. */
inline react(e, p) {
  if
  :: frames != 0 -> take_record(e)
  :: else
  fi;
  if
  :: says_frames != 0 && !E[e].told -> send(e, p)
  :: else
  fi;
  if
  :: says_frames & CLOSE -> E[e].told = 1
  :: else
  fi;
  break_off_if_due(e, p);
  agree(e, p);
  forget_unread(0);
  forget_unread(1);
#ifdef TRACES
  left[0] = len(to[0]);
  left[1] = len(to[1]);
#endif
  number = 0; frames = 0; total = 0; cause = 0; offset = 0;
  says_frames = 0; says_total = 0; says_cause = 0; error = NONE; reason = 0;
  check(0, 1);
  check(1, 0)
}

/* MuxStream::fail_locally */
inline fail_stream(e, how, why) {
  faults++;
  say(RESET, 0, why);
  end_stream(e, how)
}

#define MAY_FAIL (MAY && !calm && faults < FAULTS)
#define MAY_SPEAK(e) (works(e) && E[e].out == OUT_OPEN && E[e].in != IN_CUT)
#define MAY_SAY(e) (MAY && !calm && MAY_SPEAK(e) && E[e].said < BYTES)
#define MAY_CONSUME(e) (works(e) && E[e].taken < E[e].got)
#define MAY_FINISH(e) (works(e) && E[e].in == IN_DRAINING)
#define MAY_ARRIVE(e) (listens(e) && nempty(to[e]))

/* The peer that can say nothing more is lost; not while a consumer alone is waited for. */
#ifdef FAULT_SILENCE
#define waits_for_consumer(e) 0
#else
#define waits_for_consumer(e) E[e].heard
#endif

/* What may happen at one end. */
proctype World(byte e) {
  byte p = 1 - e;
end:
  do
  :: atomic {
       if
       /* its source: a byte, a byte and the end at once, the end, a failure, that of a command */
       :: MAY_SAY(e) ->
          did = says; say_copy(e, p, DATA, E[e].said); E[e].said++; say(DATA, 0, 0)
       :: MAY_SAY(e) ->
          did = says_last; say_copy(e, p, DATA, E[e].said); E[e].said++; E[e].out = OUT_FINISHED;
          say(DATA | FIN, E[e].said, 0)
       :: MAY && MAY_SPEAK(e) -> did = ends; E[e].out = OUT_FINISHED; say(FIN, E[e].said, 0)
       :: MAY_FAIL && MAY_SPEAK(e) -> did = reading_fails; fail_stream(e, LOCAL_READ, BY_READ)
       :: MAY_FAIL && MAY_SPEAK(e) -> did = command_fails; fail_stream(e, LOCAL_READ, BY_COMMAND)
       /* its consumer: takes what is written, takes the end of file, fails */
       :: MAY && MAY_CONSUME(e) ->
          did = consumes; E[e].taken++;
          if
          :: E[e].taken == 1 && E[e].in == IN_OPEN -> say(CREDIT, 0, 0)
          :: else
          fi;
          finish_sink(e)
       :: MAY_FAIL && MAY_CONSUME(e) -> did = consuming_fails; fail_stream(e, LOCAL_WRITE, BY_WRITE)
       :: MAY && MAY_FINISH(e) ->
          did = finishes; E[e].in = IN_RECEIPTED; E[e].finished = 1; say(RECEIPT, E[e].got, 0);
          if
          :: E[e].out == OUT_RECEIPTED -> end_stream(e, OK)
          :: else
          fi
       :: MAY_FAIL && MAY_FINISH(e) -> did = finishing_fails; fail_stream(e, LOCAL_WRITE, BY_WRITE)
       /* the path: brings the next record, brings it and keeps it, loses it, is no more */
       :: MAY && MAY_ARRIVE(e) -> did = arrives; to[e]?number, frames, total, cause
       :: MAY_FAIL && MAY_ARRIVE(e) -> did = repeats; faults++; to[e]?<number, frames, total, cause>
       :: MAY_FAIL && MAY_ARRIVE(e) -> did = is_lost; faults++; to[e]?number, frames, total, cause; frames = 0
       :: MAY_FAIL && alive(e) && !E[e].broken ->
          did = breaks; faults++; E[e].broken = 1;
          if
          :: !E[e].heard -> break_off(BROKEN, IS_DONE)
          :: else /* it reads no more */
          fi
       /* its process: is killed, closes when its stream has ended or before, breaks off */
       :: MAY_FAIL && alive(e) -> did = dies; faults++; E[e].dead = 1
       :: MAY && alive(e) && !E[e].closing && E[e].stream == ENDED ->
          did = closes; E[e].closing = 1; say(CLOSE, 0, IS_DONE)
       :: MAY_FAIL && alive(e) && !E[e].closing && E[e].stream == NONE ->
          did = closes; faults++; E[e].closing = 1; say(CLOSE, 0, IS_DONE)
       :: MAY_FAIL && alive(e) && !E[e].closing && E[e].stream == LIVE ->
          did = closes; faults++; E[e].closing = 1; end_stream(e, INTERRUPTED); say(RESET | CLOSE, 0, BY_INTERRUPT)
       :: MAY_FAIL && alive(e) -> did = gives_up; faults++; break_off(INTERRUPTED, IS_INTERRUPTED)
#ifdef COPIES
       /* Multiplexer::take_early_frames; PriorityDatagrams::open_in_place drops what comes a second time. */
       :: MAY && !calm && listens(e) && nempty(copies[e]) ->
          did = copy_arrives; copies[e]?frames, offset;
          if
          :: frames == OPEN && opens(e) -> E[e].stream = LIVE
          :: frames == DATA && E[e].stream == LIVE && E[e].in == IN_OPEN && offset == E[e].got ->
             E[e].early++; E[e].got++
          :: else
          fi;
          frames = 0
       :: MAY && !calm && listens(e) && nempty(copies[e]) -> did = copy_is_lost; copies[e]?frames, offset; frames = 0
#endif
#ifndef TRACES /* the real clock is not the test's */
       /* Multiplexer::on_tick: a silence; no answer to CLOSE; a PING shows that a record before it is missing. */
       :: alive(e) && !waits_for_consumer(e) && empty(to[e]) && (!alive(p) || E[p].told || E[e].broken) ->
          did = peer_is_silent; break_off(LOST, IS_DONE)
       :: alive(e) && E[e].closing && E[e].told -> did = waits_no_longer; E[e].over = 1; E[e].closed = OK
       :: alive(e) && !E[e].told && !E[e].broken && listens(p) && empty(to[p]) && E[p].want != E[e].next ->
          did = pings; say(PING, 0, 0)
#endif
       fi;
       react(e, p);
       DID(e);
       did = 0
     }
  od
}

/* Everything has come to its end. */
inline conclude(e) {
  assert(E[e].dead || (E[e].over && E[e].closed != NONE && E[e].stream != LIVE));
  assert(E[e].dead || E[e].stream == NONE || E[e].outcome != NONE)
}

init {
  atomic {
    NAME_STEPS;
    E[0].stream = LIVE;
    say_copy(0, 1, OPEN, 0);
    say(OPEN, 0, 0);
    send(0, 1);
    say(0, 0, 0);
    run World(0);
    run World(1)
  };
#ifndef TRACES
  calm = 1; /* at any moment */
  timeout;
  conclude(0);
  conclude(1)
#endif
}
