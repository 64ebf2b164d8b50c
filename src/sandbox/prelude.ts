/**
 * Runs in the sandbox before the script. It is an expression: a function of the host's functions, which returns the
 * functions that the host calls. Nothing of the host depends on it being intact: whatever comes out is checked.
 */
export const PRELUDE: string = `(function (send, log, miss, finish, now, seed, paramsJson) {
"use strict";
const { parse, stringify } = JSON;
const waiting = new Map();
let last = 0;

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

let [a, b, c, d] = seed;
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
    if (typeof item === "bigint") return item.toString();
    if (item instanceof Map) return [...item];
    if (item instanceof Set) return [...item];
    if (item instanceof Error) return { name: item.name, message: item.message };
    return item;
  });
}

function request(kind, fields) {
  return new Promise((resolve, reject) => {
    const id = ++last;
    send(id, toText({ ...fields, kind }));
    waiting.set(id, { resolve, reject });
  });
}

const IGNORED = new Set(["then", "toJSON", "catch", "finally", "inspect", "length", ...Object.getOwnPropertyNames(Object.prototype)]);
const MOST_WATCHED = 20000;
/** Objects of a result get a prototype that notes every field that is read and occurs nowhere in the result. */
function watch(value, label) {
  const known = new Set();
  const proxy = new Proxy(Object.create(Object.prototype), {
    get(target, key, receiver) {
      if (typeof key === "string" && !IGNORED.has(key) && !known.has(key) && receiver !== null && typeof receiver === "object")
        miss(label, key, stringify(Object.keys(receiver).slice(0, 40)));
      return Reflect.get(target, key, receiver);
    },
  });
  const open = [value];
  let count = 0;
  while (open.length > 0 && count++ < MOST_WATCHED) {
    const item = open.pop();
    if (item === null || typeof item !== "object") continue;
    if (Array.isArray(item)) { for (const part of item) if (part !== null && typeof part === "object") open.push(part); continue; }
    for (const key of Object.keys(item)) { known.add(key); const part = item[key]; if (part !== null && typeof part === "object") open.push(part); }
    Object.setPrototypeOf(item, proxy);
  }
  return value;
}

class Problem extends Error {
  constructor(given) {
    super(given.message);
    Object.assign(this, { code: given.code, next: given.next, details: given.details ?? {} });
  }
}
Object.defineProperty(Problem.prototype, "name", { value: "Problem", configurable: true, writable: true });
const given = new WeakMap();

function answer(id, ok, json, label) {
  const call = waiting.get(id);
  if (!call) return;
  waiting.delete(id);
  if (ok) { call.resolve(label === "" ? parse(json) : watch(parse(json), label)); return; }
  const error = new Problem(parse(json));
  given.set(error, json);
  call.reject(error);
}

function pathOf(segments) {
  const target = function () {};
  return new Proxy(target, {
    get: (_, key) => (typeof key !== "string" || key === "then" || key === "toJSON" ? undefined : pathOf([...segments, key])),
    apply: (_, __, args) => request("call", { address: segments.join("."), args: args[0] }),
  });
}

Object.assign(globalThis, {
  params: parse(paramsJson),
  tools: pathOf([]),
  call: (address, args) => request("call", { address, args }),
  ask: (query) => request("ask", { query }),
  help: (path) => request("help", { path }),
  get: (address, args) => request("get", { address, args }),
  sleep: (ms) => request("sleep", { ms }),
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
function run(main) {
  main().then((value) => {
    let json;
    try { json = toText(value) ?? "null"; } catch (error) { fail(error); return; }
    finish(true, json);
  }, fail);
}
return { answer, run };
})`;
