-------------------------------- MODULE Trace --------------------------------
(***************************************************************************)
(* Whether histories that latchkey's simulator has recorded keep the       *)
(* promises. Each history is what the users of one key saw in one run.     *)
(* Histories.tla is printed by the program latchkey_histories, which       *)
(* `make spec` runs:                                                       *)
(*                                                                         *)
(*   Histories == <<[seed |-> 7, key |-> 1, clients |-> 2, events |-> ..]>>*)
(*                                                                         *)
(* An event is a sequence: its kind, the true time, the clocks of all      *)
(* clients, and what belongs to its kind, see Step. Times are in us since  *)
(* the run began. TLC starts once for each history and takes its events    *)
(* one after the other. It stops at the first event after which a promise  *)
(* is broken and prints the name of the promise, and at one that is not a  *)
(* step of the page at all: then AllEventsAreSteps is what is violated.    *)
(***************************************************************************)
EXTENDS Promises, Histories

VARIABLES history,  \* the number of the history
          next      \* the number of its next event

Events == Histories[history].events
Event == Events[next]
IsHeld(n) == \E h \in holds : h.n = n
IsAsked(client, caller) == \E a \in asked : a.client = client /\ a.caller = caller

(* What must be true of an event that the page knows. *)
Enabled(e) ==
  CASE e[1] = "acquired" -> ~IsHeld(e[4])
    [] e[1] \in {"moved", "word", "dropped", "calls"} -> IsHeld(e[4])
    [] e[1] = "told" -> IsAsked(e[4], e[5])
    [] OTHER -> TRUE

Tokens(e) == Issue(e[4], e[5]) /\ UNCHANGED <<holds, early, faultAt, asked, said, shown, line, served>>
Line(step) == step /\ UNCHANGED <<holds, early, faultAt, asked, said, issued, shown>>

Step(e) ==
  CASE e[1] = "acquired" ->
         Acquire(e[4], e[5], e[6], <<e[5], e[7]>>, e[8], e[9], e[10], e[11], e[12], e[13], e[14])
    [] e[1] = "moved" -> Move(e[4], e[5], e[6], e[7], e[8])
    [] e[1] = "word" -> Word(e[4], e[5])
    [] e[1] = "dropped" -> Drop(e[4])
    [] e[1] = "calls" -> Call(e[4], e[5], e[6], e[7])
    [] e[1] = "told" -> Told(e[4], e[5], e[6])
    [] e[1] = "crashed" -> Crash(e[4])
    [] e[1] = "fault" -> Fault({})
    [] e[1] = "early" -> Early(e[4], e[5])
    [] e[1] = "cleared" -> Clear(e[4])
    [] e[1] = "issued" -> Tokens(e)
    [] e[1] = "joined" -> Line(Join(<<e[4], e[5]>>))
    [] e[1] = "left" -> Line(Leave(<<e[4], e[5]>>))
    [] e[1] = "served" -> Line(Serve(<<e[4], e[5]>>))
    [] e[1] = "ended" -> UNCHANGED seen

Init == /\ InitSeen
        /\ history \in 1..Len(Histories)
        /\ next = 1
        /\ now = 0
        /\ clock = [c \in 1..Histories[history].clients |-> 0]

Next == /\ next <= Len(Events)
        /\ Enabled(Event)
        /\ now' = Event[2]
        /\ clock' = Event[3]
        /\ Step(Event)
        /\ next' = next + 1
        /\ UNCHANGED history

Spec == Init /\ [][Next]_<<seen, time, history, next>>

AllEventsAreSteps == next <= Len(Events) => Enabled(Event) /\ Event[2] >= now
=============================================================================
