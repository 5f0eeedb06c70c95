"use strict";
// What the page of a timeline does, a file for each subject, one behind the other. Nothing is fetched. This one: the kinds of
// activities, and what is shown.

// The kinds by their numbers: what they are called here, what else finds them, and their colour in the style.
const KINDS = [
  ["computation", "work", "work"], ["send overhead", "send o", "send"], ["receive overhead", "receive o", "receive"],
  ["gap", "g", "gap"], ["stall", "capacity", "stall"], ["port", "", "port"], ["idle", "", "paper"], ["barrier", "", "barrier"],
  ["call for a request", "post", "post"], ["wait for a request", "", "wait"],
  ["rendezvous overhead", "rendezvous", "rendezvous"], ["noise", "detour", "noise"],
];
const [WORK, SEND, RECEIVE, GAP, STALL, PORT, IDLE, BARRIER, POST, WAIT, RENDEZVOUS, NOISE] = KINDS.keys();
// From the bottom of a row that is high enough to show shares.
const K = KINDS.length, STACK = [WORK, SEND, RECEIVE, RENDEZVOUS, POST, NOISE, BARRIER, WAIT, PORT, GAP, STALL];

const $ = (id) => document.getElementById(id);
const meta = JSON.parse($("meta").textContent), runs = [];
// The rows, what stands above them, and the strip below. A picture that is saved takes the place of the first two.
let base = $("base").getContext("2d", { alpha: false }), over = $("over").getContext("2d");
const map = $("map").getContext("2d");
// What is shown: from when until when, from which row on, how many rows.
const view = { from: 0, until: 1, top: 0, rows: 1 };
// Where, in pixels of the style, of which each is so many of the screen.
const place = { width: 0, height: 0, left: 0, scale: 1, caption: 0, panels: [] };
const state = { order: "number", path: false, arrows: true, flight: true, mark: false, hits: null, chosen: null, hover: null, interval: null, drawn: [] };
let P = 1, end = 1, order = null, rowOf = null, dirty = 0, waiting = 0, colours = null;

