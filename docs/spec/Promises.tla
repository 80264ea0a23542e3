------------------------------ MODULE Promises ------------------------------
(***************************************************************************)
(* The four promises of docs/guarantees.md, for one key, as mathematics:   *)
(* what the users of a lock can see, and what must be true of it.          *)
(*                                                                         *)
(* The first part says what is seen: holds, their deadlines, tokens, faults*)
(* of the backend. The second part has the steps that change it. The third *)
(* part has the promises, as formulas over what is seen. Protocol.tla      *)
(* takes these steps with a backend and a network in between, and TLC      *)
(* checks that the promises follow. Trace.tla takes the steps that the     *)
(* simulator of latchkey has recorded, and TLC checks that the promises    *)
(* are true of them.                                                       *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS LeastMargin,  \* the margin is never less: 5 ms
          Permits       \* how many permits a semaphore has

VARIABLES
  now,      \* the true time, which no client knows
  clock,    \* what the clock of each client shows
  holds,    \* what callers were granted and have not released: records, see Acquire
  early,    \* holds that the backend has lost: [n, by]; until `by` they must be noticed
  faultAt,  \* when the backend had its last fault; -1: never
  asked,    \* calls of release() and extend() under way: [client, caller, lost]
  said,     \* what such calls were answered: <<whether the hold was lost, answer>>
  issued,   \* the fencing tokens that the backend has issued last: [first, last, times]
  shown,    \* the highest token that a caller got
  line,     \* FAIR: who waits, in the order in which the first attempts arrived
  served    \* FAIR: the one who was granted the lock last: [id, number]

seen == <<holds, early, faultAt, asked, said, issued, shown, line, served>>
time == <<now, clock>>

Nobody == [id |-> <<0, 0>>, number |-> 0]

InitSeen ==
  /\ holds = {} /\ early = {} /\ faultAt = -1 /\ asked = {} /\ said = {}
  /\ issued = [first |-> 0, last |-> 0, times |-> 0] /\ shown = 0 /\ line = <<>> /\ served = Nobody

(***************************************************************************)
(* "The deadline is sent + lease - margin: the margin is max(5 ms,         *)
(* lease/100)", by the clock of the client, which may drift.               *)
(***************************************************************************)
Margin(lease) == IF lease \div 100 > LeastMargin THEN lease \div 100 ELSE LeastMargin
DeadlineOf(sent, lease) == sent + lease - Margin(lease)

(***************************************************************************)
(* Whether lost() returns true for the hold h when the clocks show         *)
(* `clocks`. A hold's `word` is "lost" once a check has said that the      *)
(* backend has it no more. It is "held" only if lost() was seen to return  *)
(* false although it had returned true, or had to.                         *)
(***************************************************************************)
IsLost(h, clocks) == h.word = "lost" \/ (h.word = "none" /\ clocks[h.client] >= h.deadline)
Lost(h) == IsLost(h, clock)
Live(h) == ~Lost(h)

-----------------------------------------------------------------------------
(***************************************************************************)
(* The steps. Time passes in each of them, or in steps of its own.         *)
(***************************************************************************)
Replace(old, new) == (holds \ {old}) \cup {new}
With(n) == CHOOSE h \in holds : h.n = n
Others == <<early, faultAt, asked, said, issued, line, served>>

(* A caller is granted a hold. n is a number of its own, id that of the hold at the backend,     *)
(* which re-entries share. The reply that gives the deadline answers a request that was `sent`   *)
(* with `lease`, and arrived now; `since` is the true time of the attempt. A fault of the        *)
(* backend since then, or one that has hit the same id, excuses.                                 *)
Acquire(n, client, owner, id, type, permits, token, deadline, sent, lease, since) ==
  LET h == [n |-> n, client |-> client, owner |-> owner, id |-> id, type |-> type,
            permits |-> permits, token |-> token, deadline |-> deadline, sent |-> sent,
            lease |-> lease, moved |-> now', word |-> "none",
            excused |-> IF \E k \in holds : k.id = id
                        THEN \E k \in holds : k.id = id /\ k.excused
                        ELSE faultAt >= since]
  IN /\ holds' = holds \cup {h}
     /\ shown' = IF type = "FENCED" /\ ~h.excused THEN token ELSE shown
     /\ UNCHANGED Others

(* The reply to a renewal moves the deadline. `arrived` is the true time of the reply. *)
Move(n, deadline, sent, lease, arrived) ==
  /\ holds' = Replace(With(n), [With(n) EXCEPT !.deadline = deadline, !.sent = sent,
                                               !.lease = lease, !.moved = arrived])
  /\ UNCHANGED <<Others, shown>>

(* lost() is seen to return true before the deadline, or false although it must not. *)
Word(n, word) ==
  /\ holds' = Replace(With(n), [With(n) EXCEPT !.word = word])
  /\ UNCHANGED <<Others, shown>>

(* The caller gives the hold back without waiting for an answer, or its thread has ended. *)
Drop(n) == /\ holds' = {h \in holds : h.n # n}
           /\ UNCHANGED <<Others, shown>>

(* A call of release(), or of extend(), and its answer. `lost` is what lost() returned before: the *)
(* clocks of a history are rounded, so that they do not say it within 1 us of the deadline.       *)
Call(n, caller, gives, lost) ==
  /\ asked' = {a \in asked : a.client # With(n).client \/ a.caller # caller}
              \cup {[client |-> With(n).client, caller |-> caller, lost |-> lost]}
  /\ holds' = IF gives THEN {h \in holds : h.n # n} ELSE holds
  /\ UNCHANGED <<early, faultAt, said, issued, shown, line, served>>
Told(client, caller, answer) ==
  LET a == CHOOSE it \in asked : it.client = client /\ it.caller = caller
  IN /\ said' = said \cup {<<a.lost, answer>>}
     /\ asked' = asked \ {a}
     /\ UNCHANGED <<holds, early, faultAt, issued, shown, line, served>>

(* A process ends at once: nobody holds by it any more. *)
Crash(client) ==
  /\ holds' = {h \in holds : h.client # client}
  /\ asked' = {a \in asked : a.client # client}
  /\ UNCHANGED <<early, faultAt, said, issued, shown, line, served>>

(* The backend loses its data, its clock jumps forward, or somebody releases by force. `found`   *)
(* are the holds that it has no more and whose clients can reach it.                             *)
Fault(found) ==
  /\ faultAt' = now'
  /\ holds' = {[h EXCEPT !.excused = TRUE] : h \in holds}
  /\ early' = found
  /\ line' = <<>>
  /\ UNCHANGED <<asked, said, issued, shown, served>>
Early(n, by) == /\ early' = {e \in early : e.n # n} \cup {[n |-> n, by |-> by]}
                /\ UNCHANGED <<holds, faultAt, asked, said, issued, shown, line, served>>
(* The client could not reach the backend meanwhile, or the backend has the hold again. *)
Clear(n) == /\ early' = {e \in early : e.n # n}
            /\ UNCHANGED <<holds, faultAt, asked, said, issued, shown, line, served>>

(* The backend issues tokens, of which several calls of one process may use one each. *)
Issue(first, last) == issued' = [first |-> first, last |-> last, times |-> issued.times + 1]

(* The queue of FAIR. *)
Join(id) == line' = Append(line, id) /\ UNCHANGED served
Leave(id) == line' = SelectSeq(line, LAMBDA other : other # id) /\ UNCHANGED served
Serve(id) == /\ served' = [id |-> id, number |-> served.number + 1]
             /\ line' = SelectSeq(line, LAMBDA other : other # id)

-----------------------------------------------------------------------------
(***************************************************************************)
(* Promise 1. "The backend grants exclusively while it keeps its data and  *)
(* its clock does not jump forward." Two holds of which lost() returns     *)
(* false for both are compatible, unless a fault excuses.                  *)
(***************************************************************************)
Compatible(a, b) ==
  CASE a.type = "PERMIT" /\ b.type = "PERMIT" -> a.id # b.id
    [] a.type = "READ" /\ b.type = "READ" -> TRUE
    [] OTHER -> a.id = b.id /\ a.owner = b.owner
Sure == {h \in holds : Live(h) /\ ~h.excused}
Promise1_Exclusion == \A a, b \in Sure : a.n = b.n \/ Compatible(a, b)

RECURSIVE Sum(_)
Sum(set) == IF set = {} THEN 0 ELSE LET h == CHOOSE h \in set : TRUE
                                    IN h.permits + Sum(set \ {h})
Promise1_Permits == Sum({h \in Sure : h.type = "PERMIT"}) <= Permits

(***************************************************************************)
(* Promise 2. "A holder knows its own deadline. From the deadline on,      *)
(* lost() returns true. A deadline moves only when a reply arrives, and    *)
(* never back." And a lost hold is lost "for ever", its release() is false.*)
(***************************************************************************)
Promise2_DeadlineCountsFromSent == \A h \in holds : h.deadline <= DeadlineOf(h.sent, h.lease)
Promise2_LostFromTheDeadlineOn == \A h \in holds : clock[h.client] >= h.deadline => Lost(h)
Promise2_AnswerOfALostHoldIsFalse == <<TRUE, TRUE>> \notin said

EachHold(Step(_, _)) == \A h \in holds, k \in holds' : h.n = k.n => Step(h, k)
Promise2_DeadlineNeverMovesBack ==
  [][EachHold(LAMBDA h, k : k.deadline >= h.deadline)]_seen
Promise2_DeadlineMovesWithReplies ==
  [][EachHold(LAMBDA h, k : k.deadline = h.deadline \/ k.moved = now')]_seen
Promise2_LostForEver == [][EachHold(LAMBDA h, k : Lost(h) => IsLost(k, clock'))]_<<seen, time>>

(***************************************************************************)
(* Promise 3. "A hold that ends at the backend before its lease is noticed *)
(* at the next check, at most lease/3 later."                              *)
(***************************************************************************)
Promise3_NoticedInTime ==
  \A e \in early : now > e.by => \A h \in holds : h.n = e.n => Lost(h)

(***************************************************************************)
(* Promise 4. "The fencing tokens of a key only rise", whatever happens.   *)
(* A re-entry has the token of the hold. Among those who are not excused,  *)
(* callers get rising tokens, too.                                         *)
(***************************************************************************)
Promise4_TokensRise ==
  [][issued' # issued => issued'.first > issued.last /\ issued'.last >= issued'.first]_seen
New == {k \in holds' : \A h \in holds : h.n # k.n}
Promise4_CallersSeeTokensRise ==
  [][\A k \in New : k.type = "FENCED" /\ ~k.excused =>
       /\ k.token <= issued.last
       /\ IF \E h \in holds : h.id = k.id THEN k.token = shown ELSE k.token > shown]_seen

(***************************************************************************)
(* FAIR is "first come first served".                                      *)
(***************************************************************************)
Fair_FirstComeFirstServed ==
  [][served' # served => line = <<>> \/ Head(line) = served'.id]_seen
=============================================================================
