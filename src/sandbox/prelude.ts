/**
 * Runs in the sandbox before all scripts. It is an expression: a function of the host's functions, which returns the
 * functions that the host calls. Nothing of the host depends on it being intact: whatever comes out is checked.
 */
export const PRELUDE: string = `(function (send, log, miss, finish) {
"use strict";
const { parse, stringify } = JSON;
const { keys, setPrototypeOf, values } = Object;
const { isArray } = Array;
const waiting = new Map();
let last = 0;
let now = 0;
let a = 0, b = 0, c = 0, d = 0;

const RealDate = Date;
function FixedDate(...args) {
  if (new.target === undefined) return new RealDate(now).toString();
  return Reflect.construct(RealDate, args.length === 0 ? [now] : args, new.target);
}
FixedDate.prototype = RealDate.prototype;
Object.defineProperty(RealDate.prototype, "constructor", { value: FixedDate, writable: true, configurable: true });
for (const name of ["parse", "UTC"]) Object.defineProperty(FixedDate, name, { value: RealDate[name], writable: true, configurable: true });
Object.defineProperty(FixedDate, "now", { value: () => now, writable: true, configurable: true });
Object.defineProperty(FixedDate, "name", { value: "Date" });
globalThis.Date = FixedDate;

Math.random = () => {
  const t = b << 9;
  let r = Math.imul(b, 5);
  r = Math.imul((r << 7) | (r >>> 25), 9);
  c ^= a; d ^= b; b ^= c; a ^= d; c ^= t;
  d = (d << 11) | (d >>> 21);
  return (r >>> 0) / 4294967296;
};
for (const name of ["performance", "WeakRef", "FinalizationRegistry", "SharedArrayBuffer", "DOMException"]) delete globalThis[name];

function toText(value) {
  return stringify(value, (_, item) => {
    if (item === null || typeof item !== "object") return typeof item === "bigint" ? item.toString() : item;
    if (item instanceof Map) return [...item];
    if (item instanceof Set) return [...item];
    if (item instanceof Error) return { name: item.name, message: item.message };
    return item;
  });
}

/** The host counts requests too: the first one has the number one. */
function request(fields) {
  return new Promise((resolve, reject) => {
    send(toText(fields) ?? "null");
    waiting.set(++last, { resolve, reject });
  });
}

const IGNORED = new Set(["then", "toJSON", "catch", "finally", "inspect", "length", ...Object.getOwnPropertyNames(Object.prototype)]);
const MOST_WATCHED = 20000;
/** Objects of a result get a prototype that notes every field that is read and occurs nowhere in the result. */
function watch(value, label) {
  let known;
  const proxy = new Proxy(Object.create(Object.prototype), {
    get(target, key, receiver) {
      if (typeof key === "string" && !IGNORED.has(key) && receiver !== null && typeof receiver === "object") {
        known ??= namesIn(value);
        if (!known.has(key)) miss(label, key, stringify(keys(receiver).slice(0, 40)));
      }
      return Reflect.get(target, key, receiver);
    },
  });
  eachObject(value, (item) => setPrototypeOf(item, proxy));
  return value;
}
function namesIn(value) {
  const names = new Set();
  eachObject(value, (item) => { for (const key of keys(item)) names.add(key); });
  return names;
}
/** Visits the plain objects within a value, as many as may be watched. */
function eachObject(value, visit) {
  const open = [value];
  let count = 0;
  while (open.length > 0 && count++ < MOST_WATCHED) {
    const item = open.pop();
    if (item === null || typeof item !== "object") continue;
    const isList = isArray(item);
    const parts = isList ? item : values(item);
    for (let at = 0; at < parts.length; at++) if (typeof parts[at] === "object") open.push(parts[at]);
    if (!isList) visit(item);
  }
}

class Problem extends Error {
  constructor(given) {
    super(given.message);
    Object.assign(this, { code: given.code, next: given.next, details: given.details ?? {} });
  }
}
Object.defineProperty(Problem.prototype, "name", { value: "Problem", configurable: true, writable: true });
const given = new WeakMap();

/** Takes [number, label, value], or [number, null, text of the problem]. */
function answer(text) {
  const [number, label, value] = parse(text);
  const call = waiting.get(number);
  if (!call) return;
  waiting.delete(number);
  if (label !== null) { call.resolve(label === "" ? value : watch(value, label)); return; }
  const error = new Problem(parse(value));
  given.set(error, value);
  call.reject(error);
}

function pathOf(segments) {
  const target = function () {};
  return new Proxy(target, {
    get: (_, key) => (typeof key !== "string" || key === "then" || key === "toJSON" ? undefined : pathOf([...segments, key])),
    apply: (_, __, args) => request({ kind: "call", address: segments.join("."), args: args[0] }),
  });
}

Object.assign(globalThis, {
  params: null,
  tools: pathOf([]),
  call: (address, args) => request({ kind: "call", address, args }),
  ask: (query) => request({ kind: "ask", query }),
  help: (path) => request({ kind: "help", path }),
  get: (address, args) => request({ kind: "get", address, args }),
  sleep: (ms) => request({ kind: "sleep", ms }),
  log: (...items) => log(items.map((item) => (typeof item === "string" ? item : describe(item))).join(" ")),
});
globalThis.console = { log: globalThis.log, info: globalThis.log, warn: globalThis.log, error: globalThis.log, debug: globalThis.log };

function describe(value) {
  try { return toText(value) ?? String(value); } catch { return "[a value that cannot be shown]"; }
}
function read(value, name) {
  try { const text = value[name]; return typeof text === "string" ? text : undefined; } catch { return undefined; }
}
function fail(error) {
  let isError = false;
  try { isError = error instanceof Error; } catch {}
  const message = isError ? read(error, "message") : describe(error);
  const json = isError ? given.get(error) : undefined;
  finish(false, stringify({ name: (isError && read(error, "name")) || "Error", message: message ?? "", stack: (isError && read(error, "stack")) || "", ...(json && { problem: json }) }));
}
function begin(params, time, ...seed) {
  globalThis.params = parse(params);
  now = time;
  [a, b, c, d] = seed;
}
function run(main) {
  main().then((value) => {
    let json;
    try { json = toText(value) ?? "null"; } catch (error) { fail(error); return; }
    finish(true, json);
  }, fail);
}
return { begin, answer, run };
})`;
