/**
 * Runs in the sandbox before all scripts: an expression that takes the host's functions and returns the functions that
 * the host calls. The host does not depend on it being intact: everything that comes out is checked.
 */
export const PRELUDE: string = `(function (send, log, miss, returned, failed) {
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
  return typeof value === "string" || value === undefined ? stringify(value) : stringify(value, toPlain);
}
function toPlain(_, item) {
  if (item === null || typeof item !== "object") return typeof item === "bigint" ? item.toString() : item;
  if (item instanceof Map) return [...item];
  if (item instanceof Set) return [...item];
  if (item instanceof Error) return { name: item.name, message: item.message };
  return item;
}

/** The host counts requests too: the first one has the number one. */
function request(kind, name, value, args) {
  return new Promise((resolve, reject) => {
    send('{"kind":"' + kind + '"' + fieldText(name, value) + fieldText("args", args) + "}");
    waiting.set(++last, { resolve, reject });
  });
}
function fieldText(name, value) {
  const text = toText(value);
  return text === undefined ? "" : ',"' + name + '":' + text;
}

const IGNORED = new Set(["then", "toJSON", "catch", "finally", "inspect", "length", ...Object.getOwnPropertyNames(Object.prototype)]);
const MOST_WATCHED = 20000;
const ANYTHING = Object.create(Object.prototype);
/** Notes every field that is read from a result and occurs nowhere in it. */
class Watcher {
  constructor(value, label, depth) {
    this.value = value;
    this.label = label;
    this.depth = depth;
    this.known = undefined;
  }
  get(target, key, receiver) {
    if (typeof key === "string" && !IGNORED.has(key) && receiver !== null && typeof receiver === "object") {
      this.known ??= namesIn(this.value, this.depth);
      if (!this.known.has(key)) miss(this.label, key, stringify(keys(receiver).slice(0, 40)));
    }
    return Reflect.get(target, key, receiver);
  }
}
/** Objects of a result get a prototype that is watched. Nothing is nested deeper than the depth. */
function watch(value, label, depth) {
  const proxy = new Proxy(ANYTHING, new Watcher(value, label, depth));
  eachObject(value, depth, (item) => setPrototypeOf(item, proxy));
}
function namesIn(value, depth) {
  const names = new Set();
  eachObject(value, depth, (item) => { for (const key of keys(item)) names.add(key); });
  return names;
}
/** Visits the plain objects within a value, as many as may be watched. */
function eachObject(value, depth, visit) {
  let left = MOST_WATCHED;
  const enter = (item, depth) => {
    if (item === null || left-- <= 0) return;
    const isList = isArray(item);
    if (!isList) visit(item);
    if (depth <= 1) return;
    const parts = isList ? item : values(item);
    for (let at = 0; at < parts.length; at++) if (typeof parts[at] === "object") enter(parts[at], depth - 1);
  };
  if (typeof value === "object") enter(value, depth);
}

class Problem extends Error {
  constructor(given) {
    super(given.message);
    Object.assign(this, { code: given.code, next: given.next, details: given.details ?? {} });
  }
}
Object.defineProperty(Problem.prototype, "name", { value: "Problem", configurable: true, writable: true });
const problems = new WeakMap();

/** Takes [number, label, value, depth], or [number, null, text of the problem, depth]. */
function answer(text) {
  const given = parse(text);
  const number = given[0], label = given[1], value = given[2], depth = given[3];
  const call = waiting.get(number);
  if (!call) return;
  waiting.delete(number);
  if (label !== null) {
    // A promise looks whether its value has a then, which is a read of a field. It hands the value over later.
    call.resolve(value);
    if (label !== "") watch(value, label, depth);
    return;
  }
  const error = new Problem(parse(value));
  problems.set(error, value);
  call.reject(error);
}

function pathOf(segments) {
  const target = function () {};
  return new Proxy(target, {
    get: (_, key) => (typeof key !== "string" || key === "then" || key === "toJSON" ? undefined : pathOf([...segments, key])),
    apply: (_, __, args) => request("call", "address", segments.join("."), args[0]),
  });
}

Object.assign(globalThis, {
  params: null,
  tools: pathOf([]),
  call: (address, args) => request("call", "address", address, args),
  ask: (query) => request("ask", "query", query),
  help: (path) => request("help", "path", path),
  get: (address, args) => request("get", "address", address, args),
  sleep: (ms) => request("sleep", "ms", ms),
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
  const json = isError ? problems.get(error) : undefined;
  failed(stringify({ name: (isError && read(error, "name")) || "Error", message: message ?? "", stack: (isError && read(error, "stack")) || "", ...(json && { problem: json }) }));
}
function begin(params, time, ...seed) {
  globalThis.params = parse(params);
  now = time;
  [a, b, c, d] = seed;
}
function run(main) {
  main().then((value) => {
    let json;
    try { json = toText(value) ?? ""; } catch (error) { fail(error); return; }
    returned(json);
  }, fail);
}
return { begin, answer, run };
})`;
