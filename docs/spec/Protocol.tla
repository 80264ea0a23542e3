------------------------------ MODULE Protocol ------------------------------
(***************************************************************************)
(* How the promises are kept: clients, a backend, and a network that loses,*)
(* delays, duplicates and reorders messages. A client calls what it is told*)
(* by a reply its own, and takes the steps of Promises.tla with it. TLC    *)
(* checks that the promises follow, see the theorem at the end.            *)
(*                                                                         *)
(* Each run of TLC has one Kind of lock. Each constant Mistake but "none"  *)
(* is a change of one line, with which TLC must find a counterexample.     *)
(***************************************************************************)
EXTENDS Promises

CONSTANTS Clients,     \* a set of numbers from 1
          Kind,        \* "FENCED", "FAIR", "READ_WRITE" or "PERMIT"
          Lease,       \* the lease of every hold
          Drift,       \* how far the clocks of clients may fall behind
          EndOfTime,   \* the last instant
          MostHolds,   \* how many acquires a client begins
          MostFaults,  \* how many faults the backend has
          MostRequests,  \* how many requests a client sends
          MostGrants,  \* how many holds the backend grants: copies of requests may go on for ever
          Quiet,       \* clients whose messages arrive at once and once
          Mistake

VARIABLES client,   \* of each client: its stage, the number of its hold, times of its requests
          stored,   \* the holds at the backend: [id, type, until, token]
          counter,  \* the last token that it gave
          queue,    \* FAIR: the ids that wait at the backend
          net,      \* the messages that may arrive
          faults    \* how many faults there were

backend == <<stored, counter, queue>>
all == <<seen, time, client, backend, net, faults>>

TypeOf(c) == CASE Kind # "READ_WRITE" -> Kind [] c = 1 -> "WRITE" [] OTHER -> "READ"
IdOf(c) == <<c, client[c].number>>
NumberOf(id) == id[1] * 100 + id[2]
Its(c) == CHOOSE h \in holds : h.client = c
Holding(c) == client[c].stage = "holding"
CheckEvery == IF Lease < 3 THEN 1 ELSE Lease \div 3

Init ==
  /\ InitSeen
  /\ now = 0 /\ clock = [c \in Clients |-> 0]
  /\ client = [c \in Clients |-> [stage |-> "idle", number |-> 0, sent |-> 0, at |-> 0,
                                  checked |-> 0, requests |-> 0]]
  /\ stored = {} /\ counter = 0 /\ queue = <<>> /\ net = {} /\ faults = 0

-----------------------------------------------------------------------------
(* The network. Of a quiet client each message arrives once. All other messages stay for ever:    *)
(* one is lost if it never arrives, and late, duplicated or out of order if it arrives so.       *)
ClientOf(m) == m.id[1]
Request(verb, c) == [to |-> "backend", verb |-> verb, id |-> IdOf(c), sent |-> clock[c]]
Reply(m, granted, token) == [to |-> "client", verb |-> m.verb, id |-> m.id, sent |-> m.sent,
                             granted |-> granted, token |-> token]
Send(c, m) == /\ client[c].requests < MostRequests
              /\ net' = net \cup {m}
After(c, changed) == client' = [client EXCEPT ![c] = [changed EXCEPT !.requests = @ + 1]]
Rest(m) == IF ClientOf(m) \in Quiet THEN net \ {m} ELSE net
Answers(m, reply) == net' = Rest(m) \cup {reply}
Takes(m) == net' = Rest(m)

-----------------------------------------------------------------------------
(* The clients. *)
Start(c) ==  \* acquire() begins, or repeats its request
  /\ \/ client[c].stage # "asking" /\ ~Holding(c) /\ client[c].number < MostHolds
     \/ client[c].stage = "asking" /\ clock[c] > client[c].sent
  /\ LET number == IF client[c].stage # "asking" THEN client[c].number + 1 ELSE client[c].number
     IN /\ After(c, [client[c] EXCEPT !.stage = "asking", !.number = number, !.sent = clock[c],
                                       !.at = now, !.checked = 0])
        /\ Send(c, [to |-> "backend", verb |-> "acquire", id |-> <<c, number>>,
                    sent |-> clock[c]])
  /\ UNCHANGED <<seen, time, backend, faults>>

GiveUp(c) ==  \* the wait is over: what the request may have left is released
  /\ client[c].stage = "asking"
  /\ After(c, [client[c] EXCEPT !.stage = "idle"])
  /\ Send(c, Request("release", c))
  /\ UNCHANGED <<seen, time, backend, faults>>

Check(c) ==  \* the watchdog renews
  /\ Holding(c) /\ Live(Its(c)) /\ clock[c] > client[c].checked
  /\ c \in Quiet => clock[c] - client[c].checked >= CheckEvery
  /\ After(c, [client[c] EXCEPT !.checked = clock[c]])
  /\ Send(c, Request("renew", c))
  /\ UNCHANGED <<seen, time, backend, faults>>

Release(c) ==
  /\ Holding(c)
  /\ UNCHANGED <<time, backend, faults>>
  /\ Call(NumberOf(IdOf(c)), 1, TRUE, Lost(Its(c)))
  /\ After(c, [client[c] EXCEPT !.stage = "releasing"])
  /\ Send(c, Request("release", c))

UsedMargin == IF Mistake = "no margin" THEN 0 ELSE Margin(Lease)
Counted(m) == IF Mistake = "deadline from the reply" THEN clock[ClientOf(m)] ELSE m.sent
EndOfLease(m) == Counted(m) + Lease - UsedMargin

Granted(m) ==  \* the reply to the last attempt, unless the lease has ended meanwhile
  LET c == ClientOf(m)
  IN /\ m.to = "client" /\ m.verb = "acquire"
     /\ client[c].stage = "asking" /\ m.id = IdOf(c) /\ m.sent = client[c].sent
     /\ UNCHANGED <<time, backend, faults>>
     /\ IF EndOfLease(m) > clock[c]
        THEN /\ Acquire(NumberOf(m.id), c, c, m.id, TypeOf(c), 1, m.token, EndOfLease(m), m.sent,
                        Lease, client[c].at)
             /\ UNCHANGED <<issued, line, served>>
             /\ client' = [client EXCEPT ![c].stage = "holding", ![c].checked = m.sent]
        ELSE UNCHANGED <<seen, client>>
     /\ Takes(m)

Checked(m) ==
  LET c == ClientOf(m)
      h == Its(c)
      end == EndOfLease(m)
      revives == Mistake = "late renewal revives"
  IN /\ m.to = "client" /\ m.verb = "renew" /\ Holding(c) /\ m.id = IdOf(c)
     /\ CASE m.granted /\ (Live(h) \/ revives) /\ end > h.deadline ->
               Move(h.n, end, m.sent, Lease, now)
          [] m.granted /\ Mistake = "shorter again" -> Move(h.n, end, m.sent, Lease, now)
          [] ~m.granted /\ Mistake # "gone is ignored" -> Word(h.n, "lost")
          [] OTHER -> UNCHANGED seen
     /\ Takes(m)
     /\ UNCHANGED <<time, client, backend, faults>>

Released(m) ==
  LET c == ClientOf(m)
      was == CHOOSE a \in asked : a.client = c
  IN /\ m.to = "client" /\ m.verb = "release"
     /\ client[c].stage = "releasing" /\ m.id = IdOf(c)
     /\ Told(c, 1, m.granted /\ (~was.lost \/ Mistake = "release lies"))
     /\ client' = [client EXCEPT ![c].stage = "idle"]
     /\ Takes(m)
     /\ UNCHANGED <<time, backend, faults>>

-----------------------------------------------------------------------------
(* The backend. *)
Unexpired == {s \in stored : s.until > now}
Has(id) == \E s \in Unexpired : s.id = id
Fits(id) ==
  LET others == {s \in Unexpired : s.id # id}
  IN CASE TypeOf(id[1]) = "PERMIT" ->
            Cardinality(others) < Permits + (IF Mistake = "one permit more" THEN 1 ELSE 0)
       [] TypeOf(id[1]) = "READ" -> \A s \in others : s.type = "READ"
       [] OTHER -> others = {}
ItsTurn(id) == CASE Kind # "FAIR" \/ Mistake = "out of turn" \/ queue = <<>> -> TRUE
                 [] OTHER -> Head(queue) = id
Without(id) == SelectSeq(queue, LAMBDA other : other # id)
Waits(id) == \E place \in 1..Len(queue) : queue[place] = id

Grants(m) ==
  LET old == {s \in stored : s.id = m.id}
      token == IF Has(m.id) THEN (CHOOSE s \in Unexpired : s.id = m.id).token ELSE counter + 1
  IN /\ IF Has(m.id) THEN TRUE ELSE Fits(m.id) /\ ItsTurn(m.id)
     /\ stored' = (Unexpired \ old) \cup {[id |-> m.id, type |-> TypeOf(m.id[1]),
                                           until |-> now + Lease, token |-> token]}
     /\ counter' = IF Has(m.id) THEN counter ELSE token
     /\ queue' = Without(m.id)
     /\ IF Has(m.id) \/ Kind # "FENCED" THEN UNCHANGED issued ELSE Issue(token, token)
     /\ IF Has(m.id) \/ Kind # "FAIR" THEN UNCHANGED <<line, served>> ELSE Serve(m.id)
     /\ Answers(m, Reply(m, TRUE, token))

Refuses(m) ==  \* busy: a client of FAIR gets a place in the queue
  /\ IF Has(m.id) THEN FALSE ELSE ~(Fits(m.id) /\ ItsTurn(m.id))
  /\ IF Kind = "FAIR" /\ ~Waits(m.id)
     THEN queue' = Append(queue, m.id) /\ Join(m.id)
     ELSE UNCHANGED <<queue, line, served>>
  /\ Takes(m)
  /\ UNCHANGED <<stored, counter, issued>>

Renews(m) ==
  /\ stored' = IF Has(m.id) THEN {IF s.id = m.id THEN [s EXCEPT !.until = now + Lease] ELSE s :
                                  s \in stored}
                            ELSE stored
  /\ Answers(m, Reply(m, Has(m.id), 0))
  /\ UNCHANGED <<counter, queue, issued, line, served>>

FreesIt(m) ==
  /\ stored' = {s \in stored : s.id # m.id}
  /\ queue' = Without(m.id)
  /\ IF Waits(m.id) THEN Leave(m.id) ELSE UNCHANGED <<line, served>>
  /\ Answers(m, Reply(m, Has(m.id), 0))
  /\ UNCHANGED <<counter, issued>>

Serves(m) ==
  /\ m.to = "backend"
  /\ \/ m.verb = "acquire" /\ (Grants(m) \/ Refuses(m))
     \/ m.verb = "renew" /\ Renews(m)
     \/ m.verb = "release" /\ FreesIt(m)
  /\ UNCHANGED <<holds, early, faultAt, asked, said, shown, time, client, faults>>

(* It loses its data, its clock jumps over every lease, or somebody releases by force. Its       *)
(* counter of tokens stays, or goes on from the time.                                            *)
HasAFault ==
  /\ faults < MostFaults
  /\ faults' = faults + 1
  /\ stored' = {} /\ queue' = <<>>
  /\ counter' = IF Mistake = "token used again" THEN 0 ELSE counter
  /\ UNCHANGED <<time, client, net>>
  /\ Fault({[n |-> h.n, by |-> now + CheckEvery + Drift] :
            h \in {k \in holds : k.client \in Quiet /\ Live(k)}})

-----------------------------------------------------------------------------
(* Time. Clocks of clients are slow by up to Drift. A quiet client has no message under way when *)
(* time passes, and checks in time.                                                              *)
Idle(c) == /\ \A m \in net : ClientOf(m) # c
           /\ ~(Holding(c) /\ Live(Its(c)) /\ clock[c] - client[c].checked >= CheckEvery)
Tick ==
  /\ now < EndOfTime
  /\ \A c \in Quiet : Idle(c)
  /\ now' = now + 1
  /\ \E clocks \in [Clients -> 0..EndOfTime] :
       /\ \A c \in Clients : clocks[c] \in {clock[c], clock[c] + 1} /\ clocks[c] >= now' - Drift
       /\ clock' = clocks
  /\ UNCHANGED <<seen, client, backend, net, faults>>

Next ==
  \/ Tick \/ HasAFault
  \/ \E c \in Clients : Start(c) \/ GiveUp(c) \/ Check(c) \/ Release(c)
  \/ \E m \in net : Granted(m) \/ Checked(m) \/ Released(m) \/ Serves(m)

Spec == Init /\ [][Next]_all

(* TLC does not go on from other states. *)
Bounded == counter <= MostGrants

THEOREM Spec => /\ [](/\ Promise1_Exclusion /\ Promise1_Permits
                      /\ Promise2_DeadlineCountsFromSent /\ Promise2_LostFromTheDeadlineOn
                      /\ Promise2_AnswerOfALostHoldIsFalse /\ Promise3_NoticedInTime)
                /\ Promise2_DeadlineNeverMovesBack /\ Promise2_DeadlineMovesWithReplies
                /\ Promise2_LostForEver /\ Promise4_TokensRise /\ Promise4_CallersSeeTokensRise
                /\ Fair_FirstComeFirstServed
=============================================================================
