// ---- The exercises: those of docs/start/exercises.md whose answer is a number that this page can show. The
// answers are asked from the machine, and the texts explain them.
const LATE = "num_ranks 2\nrank 0 {\ns: send 16384b to 1\n}\nrank 1 {\nc: calc 1000000\nr: recv 16384b from 0\nr requires c\n}\n";

// Neighbours exchange a word in each step. From a third on one computes 50% longer, and who waits for it lets others wait.
const WAVE = { P: 256, steps: 60, slow: 87 };
function waveGoal({ P, steps, slow } = WAVE) {
  const lines = [`num_ranks ${P}`];
  for (let id = 0; id < P; id++) {
    const sides = [id - 1, id + 1].filter((one) => one >= 0 && one < P);
    let n = 0;
    const add = (text) => { lines.push(`l${++n}: ${text}`, ...n > 1 ? [`l${n} requires l${n - 1}`] : []); };
    lines.push(`rank ${id} {`);
    for (let step = 0; step < steps; step++) {
      add(`calc ${id === slow && step >= steps / 3 ? 60 : 40}`);
      for (const side of sides) add(`send 8b to ${side}`);
      for (const side of sides.toReversed()) add(`recv 8b from ${side}`);
    }
    lines.push("}");
  }
  return lines.join("\n");
}

// `asks`: for the time of the run, the time at which processor 0 is done, the number of stalls, the value of a slider from
// which on the first algorithm is as fast as the second, how many times as long the second one's busiest processor computes, or who
// computes the longest, which the picture shows.
const EXERCISES = [
  {
    id: "tree", title: "A tree for a broadcast", of: "broadcast", a: "optimal", values: { L: "6", o: "2", g: "4", P: "8" }, asks: "time",
    text: "Processor 0 has a datum for all 8. Each processor that has it can send it on. In the best tree, when does the last one have it?",
    hint: "A hop takes o + L + o = 10. Processor 0 can send at 0, 4, 8 and so on, since the gap g is 4. Whoever has the datum sends it too.",
    after: "Processor 0 sends at 0, 4, 8 and 12, so its children have the datum at 10, 14, 18 and 22. The first child sends on at 10 and 14: those have it at 20 and 24. The second one's child has it at 24 too. These are all 8.",
  },
  {
    id: "binomial", title: "Three hops", of: "broadcast", a: "binomial", values: { L: "6", o: "2", g: "4", P: "8" }, asks: "time",
    text: "In a binomial tree each processor that has the datum sends it in every round, so that 1, 2, 4 and then 8 have it. When does the last one of 8 have it?",
    hint: "The longest way has three hops, one after the other.",
    after: "Three hops of L + 2o = 10. A round could begin earlier than that for processor 0, which may send again after g, but the receivers cannot: this is why the best tree gives processor 0 more children.",
  },
  {
    id: "flat", title: "Alone", of: "broadcast", a: "flat", b: "optimal", values: { L: "6", o: "2", g: "4", P: "8" }, asks: "change", over: "L",
    text: "Processor 0 could also send all 7 messages itself. From which L on is that as good as any tree?",
    hint: "When does it start its last message? From when on could a child help?",
    after: "The seventh message starts at 6g = 24. A child can send from L + 2o on. So alone is best if 6g is at most L + 2o: from L = 20 on.",
  },
  {
    id: "sum", title: "A sum", of: "summation", a: "optimal", b: "", values: { L: "5", o: "2", g: "4", P: "8", size: "79" }, asks: "time",
    text: "8 processors add up 79 numbers, and an addition takes a cycle. The numbers may lie wherever it is best. One processor alone needs 78 cycles. When does one of the 8 have the sum?",
    hint: "Begin at the end. The last addition adds a sum that came from a child: it was sent L + 2o before. The receptions of a processor are g apart, and each takes it o away from its additions.",
    after: "28 cycles: this is figure 4 of LogP. The last addition, at 27, needs a sum that was received from 25 to 27, sent at 20, and known at 18. So a child has 18 cycles, its brothers have 4 less each. 8 processors are not 8 times as fast: 7 messages cost their receivers 7(o + 1) cycles, and who sends early is idle after that.",
  },
  {
    id: "hot-spot", title: "A hot spot", of: "hot-spot", a: "linear", values: { L: "6", o: "2", g: "4", P: "8" }, asks: "time",
    text: "Seven processors send a message to processor 0 at the same time. When has it received the last one?",
    hint: "There is a gap of g between two receives. When does the first one start?",
    after: "The first reception starts at o + L = 8, the others g after each other, at 12, 16, .. 32. The last one ends o later: L + 2o + 6g = 34.",
  },
  {
    id: "stalls", title: "Who has to wait", of: "hot-spot", a: "linear", values: { L: "6", o: "2", g: "4", P: "8" }, asks: "stalls",
    text: "The same seven messages to processor 0. How many of the sends stall, that is, wait until the network has room?",
    hint: "At most L/g messages, rounded up, may be under way to a processor.",
    after: "Two messages may be under way to processor 0. So two enter at 2, two when those arrive at 8, two at 14, and the last at 20: five stall. Only the senders lose time, in which they could have computed.",
  },
  {
    id: "capacity", title: "More capacity", of: "hot-spot", a: "linear", values: { L: "24", o: "2", g: "4", P: "8" }, asks: "stalls",
    text: "The same with L = 24. How many sends stall now?",
    hint: "How many messages may be under way to processor 0 now?",
    after: "The capacity is 24/4 = 6, so one stalls, until the first six arrive. But the time is still L + 2o + 6g: a receiver takes one message in each g, and is not faster if more of them wait before it.",
  },
  {
    id: "remap", title: "Everybody to everybody", of: "remap", a: "short-staggered", b: "", values: { L: "6", o: "1", g: "4", P: "16", size: "32" }, asks: "time",
    text: "Each of 16 processors has 4 messages for each other one. In the staggered order processor i begins with processor i + 1, so no two send to the same one at once. How long does it take?",
    hint: "How many messages does a processor send? There is one in each g.",
    after: "The last of 15 x 4 = 60 messages starts at 59g = 236, and takes L + 2o = 8: 244. Choose the naive order, in which all send first to processor 0, then to 1, and see who stalls.",
  },
  {
    id: "words", title: "A word for everybody", of: "remap", a: "short-staggered", b: "long-staggered", machine: "cs2-splitc", values: { P: "16", size: "4" }, asks: "time",
    text: "On the CS-2 each of 16 processors has a word of 4 bytes for each other one. The staggered order keeps them out of each other's way. How long does it take?",
    hint: "Each sends 15 messages, one in each g. What does the last one take then?",
    after: "The last of 15 messages starts at 14g = 198.8 us, and takes L + 2o = 12 us: 210.8 us. Long messages take as long, since they are the same messages. Now move the size to 1,024 bytes: short messages are 256 times as many, and a long one takes only G = 0.12 us for each further word.",
  },
  {
    id: "halves", title: "Halves are not best", of: "scatter", a: "binomial", b: "", values: { L: "30", o: "0", g: "10", G: "1", P: "1024", size: "1" }, asks: "time",
    text: "One of 1,024 processors has an item for each other. It sends half of the items to another processor, which hands them on in the same way, and keeps the other half. A message of k items takes (k\u22121)G + L. How long does it take?",
    hint: "How many hops are there, and how many items pass on the way of the last one?",
    after: "There are 10 hops of L. On the way of the last item 512 + 256 + .. + 1 = 1,023 items stream, less one of each message: 300 + 1,013 = 1,313. Choose the optimal tree beside it: the sender can go on after g, but the receiver only after L, so it should get fewer than half.",
  },
  {
    id: "late", title: "Who waits for whom", goal: LATE, machine: "myrinet", values: {}, asks: "sent",
    text: "On Myrinet with MPI a message of more than S = 16,383 bytes first asks its receiver, and waits for the reply (LogGPS). The receiver computes for 1 ms before it receives. About how long is the sender, P0, in its send of 16,384 bytes?",
    hint: "When can the receiver reply? Only then the data start: o and 16,384 O_s, 119 us in all.",
    after: "The sender waits until the receiver has computed and replied, and only then sends its data. With one byte less it would not ask: o + 16,383 O_s = 118.9 us, whatever the receiver does. These waits are the synchronization costs that LogGPS adds to LogGP.",
  },
  {
    id: "layout", title: "A layout for LU", of: "lu", a: "grid-cyclic", b: "grid-blocked", values: { L: "6", o: "2", g: "4", P: "4" }, asks: "work",
    text: "A grid of 2 by 2 processors decomposes a matrix of 24 rows and columns, and in step k each updates its part of those after k. Each has 12 rows and 12 columns: every second one, or 12 that lie together. How many times as long does the busiest one compute if they lie together?",
    hint: "What is left of the matrix after step 12, and who has it?",
    after: "Of every second row and column all have the same part of what is left, and the busiest one computes for 1,116.2 cycles. If they lie together, the last processor has all that is left after step 12, and the others have nothing to do: it computes for 2,075.4 cycles. With 256 rows and 16 processors it is 2.5 times as long.",
  },
  {
    id: "wave", title: "One is late", goal: waveGoal, values: { L: "6", o: "2", g: "4" }, asks: "who",
    text: "In each step 256 processors compute, and exchange a word with both neighbours. One of them becomes slower. Which? Point at the picture: it names what is there.",
    hint: "Who waits for it waits one step later than it, and lets the next one wait. Where do both edges of the white meet?",
    after: "Its neighbours wait for it in the same step, theirs one step later, and so on: a wave of waiting goes out from it, by one processor in each step. It itself waits for nobody.",
  },
];
