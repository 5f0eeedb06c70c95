"use strict";
// The script of a timeline page, in several files, which are concatenated. Nothing is fetched. This file: the
// kinds of activities, and the state. It needs no page, so that a worker can paint too.

// The kinds by their numbers: name, another word that a search finds, and colour in the style.
const KINDS = [
  ["computation", "work", "work"], ["send overhead", "send o", "send"], ["receive overhead", "receive o", "receive"],
  ["wait for the gap", "g", "gap"], ["stall", "capacity", "stall"], ["port", "", "port"], ["idle", "", "paper"], ["barrier", "", "barrier"],
  ["call for a request", "post", "post"], ["wait for a request", "", "wait"],
  ["rendezvous overhead", "rendezvous", "rendezvous"], ["noise", "detour", "noise"],
];
const [WORK, SEND, RECEIVE, GAP, STALL, PORT, IDLE, BARRIER, POST, WAIT, RENDEZVOUS, NOISE] = KINDS.keys();
// STACK: the order of the kinds from the bottom of a row that is high enough to show shares.
const K = KINDS.length, STACK = [WORK, SEND, RECEIVE, RENDEZVOUS, POST, NOISE, BARRIER, WAIT, PORT, GAP, STALL];

const runs = [];
// The visible part: start, end, first row and number of rows.
const view = { from: 0, until: 1, top: 0, rows: 1 };
// The layout in CSS pixels; `scale` is the number of screen pixels in each, of which the style makes `zoom`, and `highest` the
// height of a row where there is room.
const place = { width: 0, height: 0, left: 0, scale: 1, zoom: 1, highest: 46, caption: 0, lane: 0, panels: [] };
// `coarse`: fewer pixels are drawn, because frames take too long.
const state = { order: "number", path: false, arrows: true, flight: true, mark: false, coarse: false, hits: null, chosen: null, hover: null, interval: null, drawn: [], tap: 0 };
let P = 1, end = 1, order = null, rowOf = null, dirty = 0, waiting = 0, colours = null;
